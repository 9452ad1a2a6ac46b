// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTesting
import Testing

@testable import pintle

/// Rules of other proxies with many lines. With quadratic work most of these would take minutes or hours.
struct LargeConversionTests {
    private func lines(_ count: Int, _ line: (Int) -> String) -> String {
        (0..<count).map { line($0) + "\n" }.joined()
    }

    // MARK: Squid

    @Test func `lines of a list below a rule count for the rule`() throws {
        let result = try squid(
            """
            acl bad dstdomain a.example
            http_access deny bad
            http_access allow localhost
            http_access deny all
            acl bad dstdomain b.example
            http_port 127.0.0.1:3128
            """)
        #expect(result.policy.fallback.text == "allow")
        #expect(result.policy.deny.map(\.text) == ["a.example", "b.example"])
        let unknown = try squid(
            "acl bad dst 192.0.2.1\nhttp_access deny bad\nhttp_access allow localhost\nhttp_access deny all\n"
                + "acl bad dst www.example.com\nhttp_port 127.0.0.1:3128")
        #expect(
            unknown.told == [
                "f:2: weaker: http_access deny is left out: bad (dst with a name, which Squid looks up once)"
            ])
    }

    @Test(.timeLimit(.minutes(15))) func `a list has a line for each of many names`() throws {
        let result = try squid(
            self.lines(60_000) { "acl bad dstdomain n\($0).example" }
                + "http_access deny bad\nhttp_access allow localhost\nhttp_access deny all\nhttp_port 127.0.0.1:3128")
        #expect(result.policy.deny.count == 60_000)
    }

    @Test(.timeLimit(.minutes(15))) func `a list has many networks`() throws {
        let networks = self.lines(60_000) { "acl us src 10.\($0 / 256).\($0 % 256).0/30" }
        let result = try squid("\(networks)http_access allow us\nhttp_access deny all\nhttp_port 127.0.0.1:3128")
        #expect(result.policy.clients.count == 60_000)
    }

    @Test(.timeLimit(.minutes(15))) func `more lists and rules than can be compared are refused`() {
        let lists = self.lines(20_000) { "acl n\($0) src 10.\($0 / 256).\($0 % 256).0/30\nhttp_access deny n\($0)" }
        #expect(
            throws: ConversionError(
                .incomplete, file: "squid.conf", line: nil,
                "nothing is written: its lists and their values make 800080002 pairs; at most 100000000 are compared")
        ) { try squid("\(lists)http_access allow all") }
        let sites =
            self.lines(200) { "acl s\($0) dstdomain s\($0).example" }
            + self.lines(200) { "acl c\($0) src 10.0.0.\($0)" }
        let rules = self.lines(10_000) { "http_access deny c\($0 % 200) s\($0 % 200)" }
        let error = #expect(throws: ConversionError.self) { try squid("\(sites)\(rules)http_access allow all") }
        #expect(error?.lines.first?.hasSuffix("at most 200000000 pairs of them are compared") == true)
    }

    @Test(.timeLimit(.minutes(15))) func `many listeners are read, and words of a remark are cut`() throws {
        let ports = self.lines(60_000) { "http_port 127.\($0 / 256).\($0 % 256).1:3128" }
        let result = try squid("\(ports)http_access allow localhost\nhttp_access deny all")
        #expect(result.policy.listen.count == 60_000)
        let methods = String(repeating: "PURGE ", count: 1000)
        let remarks = try squid(
            "acl m method \(methods)\n" + self.lines(1000) { _ in "http_access deny m" }
                + "http_access allow localhost\nhttp_access deny all\nhttp_port 127.0.0.1:3128"
        ).told
        #expect(remarks.count == 1000 && remarks.allSatisfy { $0.utf8.count < 250 })
    }

    // MARK: Smokescreen

    @Test(.timeLimit(.minutes(15))) func `a domain that many denials cover is told once`() throws {
        let denials = self.lines(60_000) { $0 % 2 == 0 ? "  - \"*.evil.example\"" : "  - n\($0).example" }
        let domains = self.lines(60_000) { "      - n\($0).evil.example" }
        let result = try smokescreen(
            "version: v1\nservices:\n  - name: a\n    action: open\n    allowed_domains:\n\(domains)global_deny_list:\n\(denials)",
            service: "a")
        #expect(result.remarks.count == 60_000)
        #expect(
            result.remarks.first?.text.hasPrefix("allowed_domains: n0.evil.example is denied by *.evil.example") == true
        )
        #expect(result.policy.deny.count == 60_000)
    }

    @Test(.timeLimit(.minutes(15))) func `denials are written only within what is allowed to everybody`() throws {
        let allowed = self.lines(60_000) { "  - \"*.n\($0).example\"" }
        let denied = self.lines(60_000) { "  - bad.n\($0 * 2).example" }
        let result = try smokescreen(
            "version: v1\nservices: []\ndefault: {action: enforce}\nglobal_allow_list:\n\(allowed)global_deny_list:\n\(denied)"
        )
        #expect(result.policy.deny.filter { $0.text.hasPrefix("bad.") }.count == 30_000)
    }

    @Test(.timeLimit(.minutes(15))) func `there are many services`() throws {
        let services = self.lines(60_000) { "  - {name: s\($0), action: enforce}" }
        #expect(try smokescreen("version: v1\nservices:\n\(services)", service: "s7").remarks.count == 1)
    }
}
