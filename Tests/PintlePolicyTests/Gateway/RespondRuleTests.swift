// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintlePolicy

/// `respond`: routes that answer themselves.
struct RespondRuleTests {
    private func step(_ yaml: String, _ request: String...) throws -> RequestPlan.Step {
        RequestPlan(try RequestHead(spelled: request), .none, by: try policy(yaml)).step
    }

    private static let up = "{name: up, match: {paths: [\"/healthz\"]}, respond: {json: {up: true}}}"

    @Test func `a route answers, in either form of a request`() throws {
        for lines in [["GET /healthz", "Host: localhost"], ["GET http://a.test/healthz"]] {
            let step = RequestPlan(
                try RequestHead(spelled: lines), .none, by: try policy("routes: [\(Self.up)]")
            ).step
            guard case .respond(let answer) = step else {
                Issue.record("\(lines): \(step)")
                continue
            }
            #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == #"{"up":true}"#)
            #expect(answer.fields == ["Content-Type": "application/json"] && answer.note == nil)
        }
    }

    @Test func `a page of another name cannot read what a route without hosts answers`() throws {
        guard case .refuse(let problem) = try self.step("routes: [\(Self.up)]", "GET /healthz", "Host: evil.test")
        else {
            Issue.record("answered")
            return
        }
        #expect(problem.detail.contains("it names no hosts, and evil.test is no name of this proxy"))
    }

    @Test(arguments: [
        "destinations: {default: deny}", "destinations: {deny: [a.test]}", "destinations: {default: ask}",
        "destinations: {ports: [443]}", "unpinned_hosts: deny",
    ])
    func `rules about destinations do not apply, because nothing is sent anywhere`(rules: String) throws {
        guard case .respond = try self.step("\(rules)\nroutes: [\(Self.up)]", "GET https://a.test/healthz") else {
            Issue.record("\(rules)")
            return
        }
    }

    @Test func `an answer needs no permission for simulations`() throws {
        _ = try policy("listen: [\"0.0.0.0:3128\"]\nsimulation: {allow: off}\nroutes: [\(Self.up)]")
    }

    @Test func `explain says that the route answers, and by which rule`() throws {
        let explained = try Explanation(
            try policy("routes: [\(Self.up)]"), try RequestHead(spelled: ["GET /healthz", "Host: localhost"]))
        #expect(
            explained.lines.map(\.description) == [
                "clients      may be in 127.0.0.0/8, ::1/128",
                "route        routes[0] \"up\" at 2:10: every method every host /healthz",
                "answer       200, by respond",
            ])
    }

    @Test func `a comparison sees another answer`() throws {
        let texts = [
            "respond: {status: 200}", "respond: {status: 404}", "respond: {status: 200}, cors: {origins: \"*\"}",
        ]
        let meanings = try texts.map { text in
            let policy = try policy("routes: [{name: a, \(text)}]")
            return PolicyMeaning(policy, surroundings: surroundings()).routes[0]
        }
        #expect(meanings[0].response != meanings[1].response && meanings[0].response != meanings[2].response)
    }
}
