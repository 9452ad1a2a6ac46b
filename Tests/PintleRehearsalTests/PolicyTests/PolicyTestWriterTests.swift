// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleRehearsal
import Testing

/// Tests that are written from recorded exchanges.
struct PolicyTestWriterTests {
    private static let policy = """
        clients: {allow: ["127.0.0.0/8", "10.0.0.0/8"]}
        destinations: {deny: ["*.ads.example"]}
        trust: {payments: {hosts: [api.pay.example]}}
        routes:
          - name: staging
            match: {hosts: [api.pay.example], headers: {X-Env: "stag*"}}
          - name: api
            match: {hosts: [api.pay.example]}
          - name: gateway
            match: {hosts: ["localhost:8080"]}
            upstream: "http://127.0.0.1:9000/"
        """

    private func write(_ lines: String...) throws -> String {
        var writer = PolicyTestWriter(try PolicyTestStage(policy: Self.policy).runner().policy)
        var reader = TrafficReader()
        let bytes = Array(lines.map { "\($0)\n" }.joined().utf8)
        bytes.withUnsafeBytes { reader.feed($0) { writer.add($0) } }
        reader.finish { writer.add($0) }
        return writer.text(of: "exchanges.log", reader.summary)
    }

    @Test func `written tests pass with the same configuration`() throws {
        let denial = "destinations.deny[0] \\\"*.ads.example\\\""
        let text = try self.write(
            #"{"id":"a","client":"127.0.0.1:4","mode":"forward","method":"GET","url":"http://x.ads.example/?q=***&n=","rule":"\#(denial)","decision":"deny"}"#,
            #"{"id":"b","client":"10.0.0.1:4","mode":"forward","method":"POST","url":"https://api.pay.example/c","route":"api","trust":"payments","rule":"destinations.default","decision":"allow"}"#,
            #"{"id":"b","client":"10.0.0.1:5","mode":"forward","method":"POST","url":"https://api.pay.example/c","route":"api","trust":"payments","rule":"destinations.default","decision":"allow"}"#,
            #"{"id":"c","client":"127.0.0.1:4","mode":"tunnel","method":"CONNECT","url":"null.example:443","rule":"destinations.default","decision":"allow"}"#,
            #"{"id":"d","client":"127.0.0.1:4","mode":"gateway","method":"GET","url":"/x","host":"localhost:8080","route":"gateway","rule":"destinations.default","decision":"reject"}"#,
            #"{"id":"e","client":"unix:","mode":"intercept","method":"GET","url":"https://a.example/b","route":null,"rule":"destinations.default","decision":"allow"}"#,
            #"{"id":"f","client":"127.0.0.1:4","mode":"intercept","method":"GET","url":"http://a.example:81/","rule":"destinations.default","decision":"allow"}"#
        )
        let stage = PolicyTestStage(policy: Self.policy, tests: text)
        #expect(try stage.differences() == [])
        #expect(
            try stage.read().map(\.name) == [
                "GET http://x.ads.example/?n=", "POST https://api.pay.example/c", "CONNECT null.example:443",
                "GET http://localhost:8080/x", "GET https://a.example/b", "GET http://a.example:81/",
            ])
        #expect(text.contains("expect: {decision: deny, rule: \"destinations.deny[0]\", route: absent}"))
        #expect(text.contains("expect: {decision: allow, rule: \"destinations.default\", route: api, trust: payments}"))
        #expect(text.contains("# masked values of the query are left out\n- name: \"GET http://x.ads.example/?n=\""))
        #expect(text.contains("# the record says reject, which the origin or its response may have decided"))
    }

    @Test func `a decision that has changed since is told in a comment, on one line`() throws {
        let text = try self.write(
            #"{"id":"a","client":"127.0.0.1:4","mode":"forward","method":"GET","url":"http://x.ads.example/","route":"old\n- name: x","rule":"destinations.default","decision":"allow"}"#,
            "no exchange")
        #expect(text.contains("# decision: the record says allow, this configuration deny\n"))
        #expect(text.contains("# route: the record says old\\u000a- name: x, this configuration absent\n"), "\(text)")
        #expect(text.contains("# 1 part could not be read; the first is line 2: "))
        #expect(try PolicyTestStage(policy: Self.policy, tests: text).differences() == [])
    }

    @Test func `an archive gives the fields that routes look at`() throws {
        let text = try self.write(
            #"""
            {"log": {"version": "1.2", "creator": {"name": "Chromium", "version": "1"}, "entries": [
              {"startedDateTime": "2026-11-28T12:00:00Z", "request": {"method": "GET", "url": "https://api.pay.example/?t=1",
               "headers": [{"name": "X-Env", "value": "staging"}, {"name": "Accept", "value": "*/*"}]},
               "response": {"status": 200, "headers": []}}]}}
            """#)
        #expect(text.contains("headers: {\"X-Env\": staging}") || text.contains("headers: {X-Env: staging}"), "\(text)")
        #expect(text.contains("route: staging"), "\(text)")
        #expect(try PolicyTestStage(policy: Self.policy, tests: text).differences() == [])
    }

    @Test func `characters that YAML would take for the end of a line are escaped`() throws {
        let text = try self.write(
            #"""
            {"log": {"version": "1.2", "creator": {"name": "Chromium", "version": "1"}, "entries": [
              {"startedDateTime": "2026-11-28T12:00:00Z", "request": {"method": "GET", "url": "https://api.pay.example/",
               "headers": [{"name": "X-Env", "value": "stag\u2028\ud83d\ude00"}]}, "response": {"status": 200, "headers": []}}]}}
            """#)
        #expect(text.contains("\"stag\\u2028\u{1F600}\""), "\(text)")
        #expect(try PolicyTestStage(policy: Self.policy, tests: text).differences() == [])
    }
}
