// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// `unpinned_hosts`: https destinations that no trust policy names.
struct UnpinnedHostTests {
    private static let rule = "unpinned_hosts: deny, because no trust policy names it"

    private static let trust = """
        trust:
          named: {hosts: [a.example, "*.b.example:8443"]}
          routed: {}
        routes:
          - {name: one, match: {hosts: [r.example]}, trust: routed}
          - {name: up, match: {hosts: [u.example]}, upstream: "https://u.test"}
          - {name: plain, match: {hosts: [p.example]}, upstream: "http://p.test"}
        """

    private func tunnel(_ yaml: String, _ target: String) throws -> Decision {
        let authority = try #require(Authority(target, defaultPort: nil))
        return try policy(yaml).decideTunnel(
            RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/"))
    }

    @Test(arguments: [
        ("https://a.example/", false), ("https://x.b.example:8443/", false), ("https://x.b.example/", true),
        ("https://r.example/", false), ("https://c.example/", true), ("https://192.0.2.1/", true),
        // Nothing is verified over http.
        ("http://c.example/", false), ("https://p.example/", false),
        // The origin is the upstream.
        ("http://u.example/", true), ("https://u.example/", true),
    ])
    func `a request goes only where a policy names the host`(url: String, isDenied: Bool) throws {
        for mode in ["allow", "report", "deny"] {
            let decision = try policy("unpinned_hosts: \(mode)\n\(Self.trust)").decide(try query("GET", url))
            #expect(decision.destination.denial == (mode == "deny" && isDenied ? Self.rule : nil))
            let breach = "\(decision.authority) is reported by unpinned_hosts: report, because no trust policy names it"
            #expect(decision.reportedBreach == (mode == "report" && isDenied ? breach : nil))
        }
    }

    @Test(arguments: [
        ("a.example:443", false), ("x.b.example:8443", false), ("r.example:443", false), ("c.example:443", true),
        ("c.example:80", true), ("192.0.2.1:443", true),
    ])
    func `a tunnel leads only where a policy names the host`(target: String, isDenied: Bool) throws {
        let denied = try self.tunnel("unpinned_hosts: deny\n\(Self.trust)", target)
        #expect(denied.destination.denial == (isDenied ? Self.rule : nil))
        let reported = try self.tunnel("unpinned_hosts: report\n\(Self.trust)", target)
        #expect(reported.destination.denial == nil && (reported.reportedRule != nil) == isDenied)
    }

    @Test(arguments: [
        ("trust: {default: {}}", true),
        ("trust: {default: {pinning: public_key, pins: [\"\(Pins.one)\", \"\(Pins.two)\"]}}", false),
        ("trust: {default: {hosts: [c.example]}}", false),
    ])
    func `who is held to the pins of trust default is pinned`(trust: String, isDenied: Bool) throws {
        let decision = try policy("unpinned_hosts: deny\n\(trust)").decide(try query("GET", "https://c.example/"))
        #expect((decision.destination.denial != nil) == isDenied)
    }

    @Test(arguments: [
        ("destinations: {deny: [c.example]}", "destinations.deny[0] \"c.example\""),
        ("destinations: {connect_ports: [8443]}", "destinations.connect_ports [8443]"),
        ("routes: [{name: r, connect: deny}]", "routes[0] \"r\", connect: deny"),
        // The rule would need the host's address, which is not even looked up.
        ("destinations: {default: deny, allow: [\"192.0.2.0/24\"]}", Self.rule),
    ])
    func `the first rule that refuses is told`(rules: String, denial: String) throws {
        #expect(try self.tunnel("unpinned_hosts: deny\n\(rules)", "c.example:443").destination.denial == denial)
        let reported = try self.tunnel("unpinned_hosts: report\n\(rules)", "c.example:443")
        #expect(reported.reportedRule == nil || denial == Self.rule)
    }

    @Test func `enforcement of the top level changes nothing`() throws {
        let decision = try self.tunnel("enforcement: report\nunpinned_hosts: deny", "c.example:443")
        #expect(decision.destination.denial == Self.rule)
    }

    @Test func `explain says it`() throws {
        func lines(_ mode: String, _ request: String) throws -> [String] {
            let head = try RequestHead(spelled: [request], minorVersion: 1)
            return try Explanation(try policy("unpinned_hosts: \(mode)"), head).lines.map(\.description)
        }
        let reported =
            "destination  c.example:443 is reported by unpinned_hosts: report, because no trust policy names it"
        #expect(try lines("report", "GET https://c.example/").contains(reported))
        #expect(try lines("report", "CONNECT c.example:443").contains(reported))
        let denied = try lines("deny", "GET https://c.example/")
        #expect(denied.contains("destination  c.example:443 is denied by \(Self.rule)"), "\(denied)")
        #expect(denied.contains("tunnel       a CONNECT to c.example:443 is refused: it is denied by \(Self.rule)"))
        #expect(denied.last == "answer       403 destination-denied")
    }

    @Test func `check says what becomes of them`() throws {
        func findings(_ yaml: String) throws -> [String] {
            Lint(try policy(yaml), knowsPublicSuffixes: true).findings.map { "\($0.path): \($0.message)" }
        }
        let note = "unpinned_hosts: tunnels and https requests to hosts that no trust policy names are"
        #expect(try findings("unpinned_hosts: report") == ["\(note) reported"])
        #expect(
            try findings("unpinned_hosts: deny") == [
                "\(note) refused",
                "unpinned_hosts: is deny, and no trust policy names a host: every tunnel and https request is refused; "
                    + "give trust policies hosts, or write report",
            ])
        #expect(try findings("unpinned_hosts: deny\ntrust: {a: {hosts: [a.example]}}") == ["\(note) refused"])
        let upstream = try findings(
            "unpinned_hosts: deny\ntrust: {a: {hosts: [a.example]}}\nroutes: [{name: r, upstream: \"https://b.example\"}]"
        )
        #expect(
            upstream.last
                == "routes[0].upstream: b.example:443 is refused by \(Self.rule); requests of this route can only fail")
    }
}
