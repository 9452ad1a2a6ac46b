// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The numbers of questions, which agree wherever they are shown.
struct AskCounterTests {
    private static let asking = "destinations: {default: deny, ask: [localhost]}"
    private static let ends = ["once", "run", "denied", "expired", "withdrawn"]

    /// Sends a request that waits, and returns its connection once `count` lines about questions are logged.
    private func hold(_ stage: AdminStage, lines count: Int) throws -> SocketStream {
        let client = try stage.pintle.connect()
        let authority = "localhost:\(stage.origin.port)"
        try client.send("GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        _ = try stage.pintle.waitForMessages("ask", count)
        return client
    }

    /// Checks that each place shows these numbers, by the names of ends and `waiting`. Others are zero.
    private func expect(_ expected: [String: Int], _ stage: AdminStage) throws {
        let text = try stage.ask("/metrics").text
        let metrics = text.split(separator: "\n").filter { $0.hasPrefix("pintle_questions") }.map(String.init)
        var samples = Self.ends.map { "pintle_questions_total{answer=\"\($0)\"} \(expected[$0] ?? 0)" }
        samples.append("pintle_questions_waiting \(expected["waiting"] ?? 0)")
        #expect(metrics == samples)
        let counters = try stage.ask("/api/activity").json["counters"] as? [String: Int] ?? [:]
        let logged = try stage.pintle.counters()
        for name in ["waiting"] + Self.ends {
            #expect(counters["questions_\(name)"] == expected[name] ?? 0, "\(name)")
            #expect(logged["questions_\(name)"] as? Int == expected[name], "\(name)")
        }
        #expect(try stage.questions().count == expected["waiting"] ?? 0)
        let reasons = try stage.pintle.waitForMessages("ask").compactMap { $0["reason"] as? String }
        #expect(reasons.count == Self.ends.compactMap { expected[$0] }.reduce(0, +), "\(reasons)")

        let environment = ["XDG_STATE_HOME": stage.folder.path, "PATH": "/usr/bin:/bin"]
        let status = try PintleProcess.run(["status"], environment: environment)
        let words = (["waiting"] + Self.ends).compactMap { name in expected[name].map { "\($0) \(name)" } }
        #expect(status.output.contains("questions: \(words.joined(separator: ", "))"), "\(status.lines)")
        let top = try PintleProcess.run(["top", "--once"], environment: environment)
        let open = expected["waiting"].map { ", \($0) open question" } ?? " of bodies held"
        #expect(top.output.contains { $0.hasSuffix(open) }, "\(top.lines)")
    }

    @Test func `metrics, endpoint, status, top and log count each question alike`() throws {
        let stage = try AdminStage(Self.asking)
        let allowed = try self.hold(stage, lines: 1)
        #expect(try stage.reply("allow", "once").status == 204)
        #expect(try allowed.readResponse().status == 200)
        let leaving = try self.hold(stage, lines: 3)
        leaving.reset()
        let lines = try stage.pintle.waitForMessages("ask", 4)
        #expect(lines.last?["reason"] as? String == "withdrawn: the last client that waited has left", "\(lines)")
        let denied = try self.hold(stage, lines: 5)
        #expect(try stage.reply("deny", "once").status == 204)
        #expect(try denied.readResponse().status == 403)
        let last = try self.hold(stage, lines: 7)
        try self.expect(["waiting": 1, "once": 1, "denied": 1, "withdrawn": 1], stage)
        #expect(try stage.reply("allow", "run").status == 204)
        #expect(try last.readResponse().status == 200)
        // Nothing is asked any more, and nothing counted.
        try last.send(get(stage.origin.port).replacingOccurrences(of: "127.0.0.1", with: "localhost"))
        #expect(try last.readResponse().status == 200)
        try self.expect(["once": 1, "run": 1, "denied": 1, "withdrawn": 1], stage)
        // A reload goes on counting.
        #expect(try stage.ask("/api/reload", "-X", "POST").status == 200)
        try self.expect(["once": 1, "run": 1, "denied": 1, "withdrawn": 1], stage)
    }

    @Test func `a question that nothing answers is counted when its time is over`() throws {
        let stage = try AdminStage("\(Self.asking)\nask: {timeout: 1s}")
        let client = try self.hold(stage, lines: 1)
        #expect(try client.readResponse().status == 403)
        _ = try stage.pintle.waitForMessages("ask", 2)
        try self.expect(["expired": 1], stage)
    }
}
