// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintlePolicy
import PintleTesting
import PintleTrust
import Testing

struct PinLintTests {
    private let site: PinnedSite

    init() throws { self.site = try PinnedSite() }

    /// Each finding as `line:column: id place: the message up to its first comma or colon`.
    private func findings(_ text: String) throws -> [String] {
        PinLint(try self.site.policy(text), now: self.site.pki.now).findings.map {
            "\($0.position): \($0.rule.rawValue) \($0.path)"
        }
    }

    private func messages(_ text: String) throws -> [String] {
        PinLint(try self.site.policy(text), now: self.site.pki.now).findings.map(\.message)
    }

    @Test func `sound pins have no findings`() throws {
        try self.site.add(try self.site.leaf("a.example", days: 90), "a")
        let pins = "[\"\(try pin(1))\", \"\(try pin(2))\"]"
        let text = """
            trust:
              default: {}
              pinned: {hosts: [a.example, "*.a.example"], pinning: public_key, pins: \(pins)}
              known: {hosts: [b.example], pinning: public_key, pins: ["\(try pin(1))"], certificates: [a.pem]}
              routed: {pinning: public_key, pins: \(pins)}
            routes: [{name: r, trust: routed, upstream: "https://c.example"}]
            """
        #expect(try self.findings(text) == [])
    }

    @Test func `a single key has no backup, whether as a digest, as a certificate or as both`() throws {
        let leaf = try self.site.leaf("a.example", days: 90)
        try self.site.add(leaf, "a")
        let text = """
            trust:
              digest: {hosts: [a.example], pinning: public_key, pins: ["\(try pin(1))"]}
              both: {hosts: [b.example], pinning: public_key, pins: ["\(leaf.pin)"], certificates: [a.pem]}
              whole: {hosts: [c.example], pinning: certificate, certificates: [a.pem]}
            """
        #expect(
            try self.findings(text) == [
                "3:3: PINTLE0201 trust.digest", "4:3: PINTLE0201 trust.both", "5:3: PINTLE0201 trust.whole",
            ])
        #expect(
            try self.messages(text)[0]
                == "has a single key: when it is lost or replaced nothing gets through; add the pin of a backup key that is "
                + "kept elsewhere")
    }

    @Test func `a server's certificate that is renewed often is no good pin, an authority's is`() throws {
        try self.site.add(try self.site.leaf("a.example", days: 60, since: -30), "short")
        try self.site.add(try self.site.leaf("b.example", days: 60, since: -60), "long")
        let authority = try self.site.pki.intermediate(
            signedBy: self.site.root, validity: .window(.days(-1), .days(50)))
        try self.site.add(authority, "authority")
        let text =
            "trust: {p: {hosts: [a.example], pinning: public_key, certificates: [short.pem, long.pem, authority.pem]}}"
        #expect(try self.findings(text) == ["2:69: PINTLE0202 trust.p.certificates[0]"])
        #expect(
            try self.messages(text) == [
                "CN=a.example, until \(self.site.pki.now.advanced(by: .days(60)).day), is a server's own and valid for 90 days: "
                    + "its renewal has another key unless the renewing program is told to keep it; pin a key that is kept, "
                    + "or the authority's"
            ])
    }

    @Test func `two certificates with one key are no backup, and one named twice counts once`() throws {
        let leaf = try self.site.leaf("a.example", days: 90)
        try self.site.add(leaf, "a")
        try self.site.add(try self.site.leaf("a.example", days: 200, reusing: leaf), "renewed")
        try self.site.add(leaf, "copy")
        let text = """
            trust:
              p:
                hosts: [a.example]
                pinning: public_key
                certificates:
                - a.pem
                - renewed.pem
                - copy.pem
                pins: ["\(try pin(1))"]
            """
        #expect(
            try self.findings(text) == [
                "8:7: PINTLE0204 trust.p.certificates[1]", "9:7: PINTLE0204 trust.p.certificates[2]",
            ])
    }

    @Test func `certificates that are over, or soon will be, are pointed out`() throws {
        try self.site.add(try self.site.leaf("a.example", days: -1), "over")
        try self.site.add(try self.site.leaf("b.example", days: 29), "soon")
        try self.site.add(try self.site.leaf("c.example", days: 31), "later")
        for mode in ["public_key", "certificate"] {
            let text =
                "trust:\n  p: {hosts: [a.example], pinning: \(mode),\n    certificates: [over.pem, soon.pem, later.pem]}"
            #expect(
                try self.findings(text) == [
                    "4:20: PINTLE0205 trust.p.certificates[0]", "4:30: PINTLE0206 trust.p.certificates[1]",
                ])
        }
    }

    @Test func `pins that have expired, or soon will, are pointed out with what comes of it`() throws {
        let pins = "hosts: [a.example], pinning: public_key, pins: [\"\(try pin(1))\", \"\(try pin(2))\"]"
        func policy(_ name: String, _ days: Int, _ more: String = "") -> String {
            let end = self.site.pki.now.advanced(by: .days(days))
            let own = pins.replacing("a.example", with: "\(name).example")
            return "  \(name): {\(own), expires: \(end)\(more)}"
        }
        let text = [
            "trust:", policy("over", -1, ", on_expiry: report"), policy("soon", 29), policy("later", 31),
            policy("early", 31, ", warn_before_expiry: 60d, on_expiry: system"),
        ].joined(separator: "\n")
        #expect(
            try self.findings(text) == [
                "3:3: PINTLE0207 trust.over", "4:3: PINTLE0208 trust.soon", "6:3: PINTLE0208 trust.early",
            ])
        let days = [-1, 29, 31].map { self.site.pki.now.advanced(by: .days($0)).day }
        #expect(
            try self.messages(text) == [
                "the pins expired on \(days[0]): other keys are only reported; look them over and set expires anew",
                "the pins expire on \(days[1]), and then nothing gets through; look them over and set expires anew",
                "the pins expire on \(days[2]), and then every valid chain gets through; look them over and set expires anew",
            ])
    }

    @Test func `weak keys are found in certificates, and behind the digests of their keys`() throws {
        let weak = try self.site.pki.leaf(
            "weak", signedBy: self.site.root, validity: .window(.days(-200), .days(200)), key: .rsa(bits: 1024))
        try self.site.add(weak, "weak")
        try self.site.add(try self.site.leaf("a.example", days: 90), "a")
        let text = """
            trust:
              p: {hosts: [a.example], pinning: public_key, certificates: [weak.pem, a.pem], pins: ["\(weak.pin)"]}
              q: {hosts: [b.example], pinning: public_key, pins: ["\(try pin(1))", "\(weak.pin)"]}
            """
        let findings = try self.findings(text)
        #expect(findings.count == 2 && findings[0] == "3:63: PINTLE0209 trust.p.certificates[0]")
        #expect(findings.last?.hasSuffix("PINTLE0209 trust.q.pins[1]") == true)
        #expect(try self.messages(text)[0].contains("an RSA key of 1024 bits, where 2048 are the least"))
    }

    @Test func `a policy that nothing uses is pointed out, pinned or not`() throws {
        let text = """
            trust:
              plain: {roots: system}
              pinned: {pinning: public_key, pins: ["\(try pin(1))", "\(try pin(2))"]}
            """
        #expect(try self.findings(text) == ["3:3: PINTLE0210 trust.plain", "4:3: PINTLE0210 trust.pinned"])
    }

    @Test func `a host under two policies is pointed out, with the one that holds`() throws {
        let text = """
            trust:
              first: {hosts: [api.pay.example, "*.wide.example", "10.1.0.0/16"]}
              second: {hosts: ["*.pay.example", "a.wide.example", "10.0.0.0/8", "other.example:443"]}
              third: {hosts: [other.example]}
            """
        #expect(
            try self.findings(text) == [
                "3:19: PINTLE0211 trust.first.hosts[0]", "3:54: PINTLE0211 trust.first.hosts[2]",
                "4:37: PINTLE0211 trust.second.hosts[1]", "4:69: PINTLE0211 trust.second.hosts[3]",
            ])
        #expect(
            try self.messages(text)[0]
                == "\"api.pay.example\" is under trust.second too, as \"*.pay.example\"; trust.first comes first and holds"
        )
        #expect(
            try self.messages(text)[2]
                == "\"a.wide.example\" is under trust.first too, as \"*.wide.example\"; trust.first comes first and holds, so "
                + "this pattern is never used; put trust.second first")
    }

    @Test func `a route that holds its upstream to another policy than the rest is pointed out`() throws {
        let text = """
            trust:
              usual: {hosts: ["*.example"]}
              special: {pinning: public_key, pins: ["\(try pin(1))", "\(try pin(2))"]}
            routes:
              - {name: same, trust: usual, upstream: "https://a.example"}
              - {name: other, trust: special, upstream: "https://a.example"}
              - {name: elsewhere, trust: special, upstream: "https://a.test"}
            """
        #expect(try self.findings(text) == ["7:26: PINTLE0211 routes[1].trust"])
    }

    @Test func `ids and names of rules are distinct, and in the order of the ids`() {
        let ids = PinLintRule.allCases.map(\.rawValue)
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /PINTLE02\d\d/) != nil })
        #expect(Set(PinLintRule.allCases.map(\.name)).count == ids.count)
    }
}
