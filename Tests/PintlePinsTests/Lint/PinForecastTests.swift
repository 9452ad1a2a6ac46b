// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintlePolicy
import PintleTesting
import PintleTrust
import Testing

struct PinForecastTests {
    private let site: PinnedSite

    init() throws { self.site = try PinnedSite() }

    private func forecast(_ text: String) throws -> [PinForecast.Entry] {
        PinForecast(try self.site.policy(text), now: self.site.pki.now).entries
    }

    private func moment(_ days: Int) -> UnixTime { self.site.pki.now.advanced(by: .days(days) + .seconds(1)) }

    @Test func `a policy is good until its last known certificate ends, the soonest comes first`() throws {
        let early = try self.site.leaf("early", days: 10)
        try self.site.add(early, "early")
        try self.site.add(try self.site.leaf("late", days: 100), "late")
        let entries = try self.forecast(
            """
            trust:
              long: {hosts: [a.example, "*.b.example"], pinning: public_key, certificates: [early.pem, late.pem]}
              bare: {hosts: [c.example], pinning: public_key, pins: ["\(try pin(1))"]}
              short: {hosts: [d.example], pinning: certificate, certificates: [early.pem]}
              none: {hosts: [e.example]}
            """)
        #expect(entries.map(\.host) == ["d.example", "a.example", "*.b.example", "c.example"])
        #expect(entries.map(\.date) == [self.moment(10), self.moment(100), self.moment(100), nil])
        #expect(
            entries.map(\.reason) == [
                "the only known pinned certificate ends then: CN=early, until \(early.certificate.notAfter.day)",
                "the last known certificate with a pinned key ends then: CN=late, until \(self.site.pki.now.advanced(by: .days(100)).day)",
                "the last known certificate with a pinned key ends then: CN=late, until \(self.site.pki.now.advanced(by: .days(100)).day)",
                "no certificate is known for its pin, so no date can be told; name it under certificates",
            ])
    }

    @Test func `a digest has the date of a certificate with its key that is named anywhere, the longest`() throws {
        let leaf = try self.site.leaf("a", days: 10)
        try self.site.add(leaf, "a")
        try self.site.add(try self.site.leaf("a", days: 20, reusing: leaf), "renewed")
        try self.site.add(self.site.root, "root")
        let entries = try self.forecast(
            """
            trust:
              digest: {hosts: [a.example], pinning: public_key, pins: ["\(leaf.pin)", "\(try pin(1))"]}
              root: {hosts: [b.example], pinning: public_key, pins: ["\(self.site.root.pin)"], roots: [root.pem]}
              other: {hosts: [c.example], pinning: public_key, certificates: [a.pem, renewed.pem]}
            """)
        #expect(entries.map(\.host) == ["a.example", "c.example", "b.example"])
        #expect(entries.map(\.date) == [self.moment(20), self.moment(20), self.moment(3000)])
        #expect(entries[0].reason.hasSuffix("; no certificate is known for \(try pin(1)), which may match longer"))
        #expect(entries[0].pins.map(\.until) == [self.site.pki.now.advanced(by: .days(20)), nil])
        #expect(entries[1].pins.count == 1)
    }

    @Test func `the end of the set of pins counts where it comes first`() throws {
        try self.site.add(try self.site.leaf("a", days: 10), "a")
        let (early, late) = (self.site.pki.now.advanced(by: .days(5)), self.site.pki.now.advanced(by: .days(50)))
        let certificate = "pinning: public_key, certificates: [a.pem]"
        let entries = try self.forecast(
            """
            trust:
              set: {hosts: [a.example], \(certificate), expires: \(early)}
              certificate: {hosts: [b.example], \(certificate), expires: \(late)}
              bare: {hosts: [c.example], pinning: public_key, pins: ["\(try pin(1))"], expires: \(late), on_expiry: system}
            """)
        #expect(entries.map(\.policy) == ["set", "certificate", "bare"])
        #expect(entries.map(\.date) == [early, self.moment(10), late])
        #expect(entries[0].reason == "the pins of the policy expire then: nothing gets through")
        #expect(
            entries[2].reason
                == "the pins of the policy expire then: every valid chain gets through; no certificate is known for its pin, so "
                + "no date can be told; name it under certificates")
    }

    @Test func `what is past already is said to be`() throws {
        try self.site.add(try self.site.leaf("a", days: -3), "a")
        let entries = try self.forecast("trust: {p: {hosts: [a.example], pinning: public_key, certificates: [a.pem]}}")
        #expect(entries[0].date == self.moment(-3) && entries[0].reason.hasPrefix("already past: the only known"))
    }

    @Test func `policies without hosts are for those of their routes`() throws {
        let pins = "pins: [\"\(try pin(1))\", \"\(try pin(2))\"]"
        let entries = try self.forecast(
            """
            trust:
              default: {pinning: public_key, \(pins)}
              up: {pinning: public_key, \(pins)}
              idle: {pinning: public_key, \(pins)}
            routes:
              - {name: a, trust: up, upstream: "https://a.example:8443/x"}
              - {name: b, trust: up, match: {hosts: ["*.b.example"], schemes: [https]}}
              - {name: c, trust: up}
            """)
        #expect(
            entries.map { "\($0.policy) \($0.host)" } == [
                "default every other host", "up a.example:8443", "up *.b.example", "up every host of routes[2]",
                "idle no host",
            ])
    }
}
