// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Many requests over many connections while the origin dies and comes back.
@Suite(.tags(.load), .serialized) struct RestartTests {
    /// The outcomes of the requests.
    struct Tally: Sendable {
        var finished = 0
        var right = 0
        var problems: [String: Int] = [:]
        /// Descriptions of events that must not happen.
        var wrong: [String] = []
        var threads = 0
    }

    /// The problems that a dying or missing origin may lead to.
    static let expected: Set<String> = ["connect-failure", "upstream-protocol"]

    /// Makes a share of the requests on one client connection, and opens a new one if it breaks.
    private static func work(port: Int, origin: Int, requests: Range<Int>, _ tally: Watched<Tally>) {
        var client: SocketStream?
        for number in requests {
            let name = number % 50
            do {
                let connection = try client ?? SocketStream(port: port)
                client = connection
                try connection.send(get(origin, "/files/\(name)"))
                let answer = try connection.readResponse()
                if answer["Connection"] == "close" { client = nil }
                Self.judge(answer, name, tally)
            } catch {
                // An answer that had begun when the origin died is cut: the connection must break, and does.
                client = nil
                tally.change {
                    if "\(error)".contains("too early") || "\(error)".contains("ended the connection") {
                        $0.problems["cut", default: 0] += 1
                    } else {
                        $0.wrong.append("\(error)")
                    }
                }
            }
            tally.change { $0.finished += 1 }
        }
    }

    private static func body(_ name: Int) -> [UInt8] { Array("\(name):".utf8) + pattern(1024 + name) }

    private static func judge(_ answer: Message, _ name: Int, _ tally: Watched<Tally>) {
        tally.change { tally in
            if answer.status == 200 {
                if answer.body == Self.body(name) {
                    tally.right += 1
                } else {
                    tally.wrong.append("a wrong body for \(name)")
                }
                return
            }
            let json = (try? JSONSerialization.jsonObject(with: Data(answer.body))) as? [String: any Sendable]
            let problem = (json?["type"] as? String)?.split(separator: ":").last.map(String.init) ?? "none"
            tally.problems[problem, default: 0] += 1
            if !Self.expected.contains(problem) { tally.wrong.append("\(answer.head.startLine) \(problem)") }
        }
    }

    @Test func `10,000 requests over 64 connections survive an origin that is killed and restarted`() throws {
        let (total, clients) = (10_000, 64)
        let origin = try NginxOrigin()
        for name in 0..<50 { try origin.serve(Self.body(name), as: "\(name)") }
        let pintle = try PintleProcess("", log: "{format: json, exchanges: off}")
        // Some requests before, so that descriptors which each loop opens once exist before they are counted.
        for _ in 0..<32 { #expect(try pintle.serves("http://127.0.0.1:\(origin.httpPort)/files/1")) }
        let before = try pintle.openDescriptors()
        let tally = Watched(Tally())
        for number in 0..<clients {
            let share = (total * number / clients)..<(total * (number + 1) / clients)
            let (port, target) = (pintle.port, origin.httpPort)
            Thread.detachNewThread {
                Self.work(port: port, origin: target, requests: share, tally)
                tally.change { $0.threads += 1 }
            }
        }
        try tally.wait(for: "a third of the requests") { $0.finished >= total / 3 }
        origin.stop()
        _ = try tally.wait(for: "requests to fail") { $0.problems["connect-failure", default: 0] >= 100 }
        try origin.start()
        let end = try tally.wait(for: "all requests", seconds: 900) { $0.threads == clients }
        #expect(end.finished == total && end.wrong.isEmpty, "\(end.wrong.prefix(5))")
        #expect(end.right + end.problems.values.reduce(0, +) == total)
        #expect(end.right > total / 2)

        #expect(try pintle.serves("http://127.0.0.1:\(origin.httpPort)/files/1"))
        let counters = try pintle.counters()
        #expect(counters["active"] as? Int == 0, "\(counters)")
        // A request that finds a kept connection dead drops it: the test asks until none is left.
        origin.stop()
        try Patience.wait(for: "\(before) descriptors") {
            _ = try pintle.ask(get(origin.httpPort, "/files/1", fields: "Connection: close\r\n"))
            return try pintle.openDescriptors() <= before
        }
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(3))")
    }

    @Test func `descriptors are back where they started when clients and origins are gone`() throws {
        let pintle = try PintleProcess("engine: {threads: 1}")
        let first = try RawOrigin(answering: response("done", fields: "Connection: close\r\n"))
        #expect(try pintle.ask(get(first.port)).text == "done")
        // The first tunnel allocates what all tunnels share.
        let opener = try pintle.connect()
        try opener.send("CONNECT 127.0.0.1:\(first.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try opener.readHead().status == 200)
        opener.close()
        try pintle.waitForExchanges(2)
        let before = try pintle.openDescriptors()
        for _ in 0..<20 {
            let client = try pintle.connect()
            try client.send(get(first.port))
            #expect(try client.readResponse().text == "done")
            let tunnel = try pintle.connect()
            try tunnel.send("CONNECT 127.0.0.1:\(first.port) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try tunnel.readHead().status == 200)
            let refused = try pintle.connect()
            try refused.send("rubbish\r\n\r\n")
            #expect(try refused.readResponse().status == 400)
        }
        // The clients above are closed; a request on a fresh connection comes after all of that.
        try pintle.waitForExchanges(62)
        var after = try pintle.openDescriptors()
        for _ in 0..<200 where after > before {
            _ = try pintle.ask(get(first.port))
            after = try pintle.openDescriptors()
        }
        #expect(after <= before, "\(before) before, \(after) after")
    }
}
