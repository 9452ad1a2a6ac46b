// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleWatch
import Testing

/// Responses that came under one configuration, judged by another one.
@Suite struct ResponseVerdictTests {
    private static let json = #"{"id": 1}"#

    /// Compares a request without route rules with one that has some.
    private func difference(
        _ new: String, from old: String = "response: {}", _ response: RecordedResponse?,
        to request: Fields = Fields()
    ) throws -> PlanComparison.Difference {
        let api =
            #"{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"responses": {"200": "#
            + #"{"description": "x", "content": {"application/json": {"schema": {"required": ["name"]}}}}}}}}}"#
        let texts = [
            "old.yaml": "version: 1\nroutes: [{name: r, \(old)}]\n",
            "new.yaml": "version: 1\nroutes: [{name: r, \(new)}]\n",
            "id.json": #"{"properties": {"id": {"type": "integer"}}}"#, "api.json": api,
        ]
        let surroundings = MemoryFiles.surroundings(texts)
        func load(_ file: String) throws -> Policy {
            try PolicyLoader.policy(yaml: Array((texts[file] ?? "").utf8), file: file, surroundings: surroundings)
        }
        let comparison = PlanComparison(
            from: try load("old.yaml"), to: try load("new.yaml"), surroundings: surroundings, hidingValues: true)
        let target = RequestTarget.absolute(
            scheme: .http, authority: Authority(host: "a.example", port: 80), path: "/a")
        let head = RequestHead(method: "GET", target: target, fields: request)
        return comparison.compare(PlanComparison.Request(head)) { response }
    }

    private func response(
        _ status: UInt16 = 200, _ body: String = Self.json, type: String = "application/json", redirects: Int = 0
    ) -> RecordedResponse {
        .received(
            ResponseHead(status: status, fields: ["Content-Type": type]), length: body.utf8.count,
            .whole(Array(body.utf8)), redirects: redirects)
    }

    private func unkept(_ status: UInt16 = 200, type: String = "application/json") -> RecordedResponse {
        .received(
            ResponseHead(status: status, fields: ["Content-Type": type]), length: 9, .unknown("it was not kept"),
            redirects: 0)
    }

    @Test(arguments: [
        ("response: {status: [2xx]}", 404, Self.json, "response-status: Request failed: not found (404)"),
        (
            "response: {content_types: [text/html]}", 200, Self.json,
            "response-content-type: Request failed: unacceptable content-type: application/json"
        ),
        (
            "response: {max_body: 5B}", 200, Self.json,
            "body-too-large: the body is longer than the 5 bytes that response.max_body allows"
        ),
        ("response: {body: json}", 200, "{", "response-body: "),
        ("response: {body: {json: {schema: id.json}}}", 200, #"{"id": "1"}"#, "response-body: "),
        ("contract: {file: api.json}", 200, Self.json, "response-body: "),
        ("contract: {file: api.json}", 201, Self.json, "response-status: "),
    ]) func `a response that breaks the other rules would be rejected`(
        rules: String, status: UInt16, body: String, violation: String
    ) throws {
        let found = try self.difference(rules, self.response(status, body))
        #expect(found.kinds.contains(.rejected) && !found.kinds.contains(.unknown), "\(found.kinds)")
        #expect(found.before.response?.outcome == .passes && found.after.response?.outcome == .rejected)
        let told = found.after.response?.violations ?? []
        #expect(told.count == 1 && told[0].hasPrefix(violation), "\(told)")
        let back = try self.difference("response: {}", from: rules, self.response(status, body))
        #expect(back.kinds.contains(.accepted), "\(back.kinds)")
    }

    @Test func `a response that keeps to the other rules is no difference of its own`() throws {
        for rules in [
            "response: {status: [2xx], body: json}", "response: {body: {json: {schema: id.json}}, max_body: 9B}",
        ] {
            let found = try self.difference(rules, self.response())
            #expect(found.kinds == [.response] && found.after.response?.outcome == .passes, "\(found)")
        }
    }

    @Test func `a violation that is only reported is less than one that is rejected`() throws {
        let (reports, rejects) = ("response: {status: [200], on_violation: report}", "response: {status: [200]}")
        let found = try self.difference(rejects, from: reports, self.response(404))
        #expect(found.kinds.contains(.rejected) && found.before.response?.outcome == .reported)
        #expect(try self.difference(reports, from: rejects, self.response(404)).kinds.contains(.accepted))
        #expect(try self.difference(reports, self.response(404)).kinds.contains(.rejected))
        #expect(try self.difference(reports, self.response()).kinds == [.response])
    }

    @Test func `the same rules for bodies are not judged, whatever else changes`() throws {
        let rules = "response: {body: json, headers: {set: {X-A: \"1\"}}}"
        let found = try self.difference(rules, from: "response: {body: json}", self.unkept())
        #expect(found.kinds == [.response] && found.before.response == nil && found.after.response == nil)
        #expect(try self.difference("response: {body: json}", nil).kinds == [.response])
    }

    @Test func `a body that is not known decides only if the head does not`() throws {
        let unknown = try self.difference("response: {body: json}", self.unkept())
        #expect(unknown.kinds == [.response, .unknown] && unknown.after.response?.reason == "it was not kept")
        #expect(try self.difference("response: {status: [2xx]}", self.unkept()).kinds == [.response])
        let failed = try self.difference("response: {status: [2xx], body: json}", self.unkept(500))
        #expect(failed.kinds == [.response, .rejected])
        let other = try self.difference("response: {status: [2xx]}", .unknown("no origin has sent it"))
        #expect(other.kinds == [.response, .unknown] && other.after.response?.reason == "no origin has sent it")
    }

    @Test func `a part of a document is not taken for the whole that would have been asked for`() throws {
        let part = self.response(206, #"{"id"#)
        let range: Fields = ["Range": "bytes=0-4"]
        let rejects = try self.difference("response: {body: json}", part, to: range)
        #expect(rejects.kinds.last == .unknown, "\(rejects.kinds)")
        #expect(
            try self.difference("response: {body: json, on_violation: report}", part, to: range).kinds == [.response])
    }

    @Test func `the answer after a redirect that is followed on one side alone cannot be told`() throws {
        let moved = self.response(302, "")
        let follows = "redirects: follow, response: {status: [200]}"
        #expect(try self.difference(follows, moved).kinds.last == .unknown)
        #expect(try self.difference(follows, self.response(redirects: 1)).kinds.last == .unknown)
        #expect(try self.difference(follows, self.response()).kinds == [.response])
        #expect(try self.difference(follows, from: "redirects: follow", moved).kinds.last == .rejected)
    }

    @Test func `a response that a simulation may replace cannot be told`() throws {
        let mocks = "mock: [{status: 200}], response: {status: [404]}"
        #expect(try self.difference(mocks, self.response()).after.response?.outcome == .unknown)
        let both = try self.difference(mocks, from: "mock: [{status: 200}]", self.response())
        #expect(both.after.response?.outcome == .rejected)
    }
}
