// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleAdmin
import PintleTesting
import Testing

/// The events of `/api/events`, held to the lists that the reference is made of.
struct LiveEventTests {
    private typealias Object = PintleProcess.Object

    @Test func `the data of live events has the members of the reference, and no other`() throws {
        let stage = try AdminStage("destinations: {default: deny, ask: [localhost]}\ncapture: {bodies: 1KiB}")
        let events = try ChildProcess(
            "/usr/bin/curl",
            ["-s", "-N", "-H", "Authorization: Bearer \(stage.token)", "\(stage.address)/api/events"])
        _ = try events.waitForLine("the counters") { $0 == "event: activity" }
        try stage.pass("/")
        _ = try events.waitForLine("the exchange") { $0 == "event: exchange" }
        let client = try stage.pintle.connect()
        let host = "localhost:\(stage.origin.port)"
        try client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        _ = try events.waitForLine("the question") { $0 == "event: questions" }
        let settings = "\(stage.folder.path)/pintle.yaml"
        let text = try String(contentsOfFile: settings, encoding: .utf8)
        try (text + "\n# changed\n").write(toFile: settings, atomically: true, encoding: .utf8)
        #expect(try stage.ask("/api/reload", "-X", "POST").status == 200)
        _ = try events.waitForLine("the configuration") { $0 == "event: configuration" }
        // Another event shows that the data of the last one has come, too.
        client.reset()
        _ = try events.waitForLines(2, "its end") { $0 == "event: questions" }
        events.signal(SIGKILL)
        try events.waitForExit()

        let data = Self.data(of: events.output)
        #expect(Set(data.map(\.event)).isSubset(of: StreamEvent.allCases.map(\.rawValue)))
        // The process of a client may be found later.
        let optional: Set<String> = [StreamEvent.Question.process.path, StreamEvent.Question.pid.path]
        for event in StreamEvent.allCases where event != .lost {
            let written = Set(data.filter { $0.event == event.rawValue }.flatMap { Self.paths(in: $0.data) })
            #expect(written.subtracting(event.members) == [], "\(event)")
            // Most fields of an exchange do not apply to all of them.
            if event == .exchange { continue }
            #expect(Set(event.members).subtracting(written).subtracting(optional) == [], "\(event)")
        }
    }

    /// The events with their data, in their order.
    private static func data(of lines: [String]) -> [(event: String, data: Object)] {
        zip(lines, lines.dropFirst()).compactMap { line, next in
            guard line.hasPrefix("event: "), next.hasPrefix("data: ") else { return nil }
            let document = try? JSONSerialization.jsonObject(with: Data(next.dropFirst(6).utf8))
            return (String(line.dropFirst(7)), document as? Object ?? [:])
        }
    }

    /// The paths of all members. Counters have a page of their own.
    private static func paths(in object: Object, below prefix: String = "") -> [String] {
        object.flatMap { name, value -> [String] in
            let path = prefix + name
            if let list = value as? [Object] { return list.flatMap { Self.paths(in: $0, below: "\(path)[].") } }
            guard path == "kept" || path == "bodies", let inner = value as? Object else { return [path] }
            return [path] + Self.paths(in: inner, below: "\(path).")
        }
    }
}
