// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// When a verdict of trust runs out.
struct VerdictEndTests {
    private let pki = TestPKI()
    private let root: TestIdentity

    init() throws { self.root = try self.pki.root(validity: .window(.seconds(-3600), .seconds(9000))) }

    private func leaf(_ seconds: Int) throws -> TestIdentity {
        try self.pki.leaf(
            dns: [Site.host], signedBy: self.root, validity: .window(.seconds(-3600), .seconds(seconds)))
    }

    @Test func `LOOK-20 a verdict runs out with the first certificate of its chain`() throws {
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        for (seconds, end) in [(100, 101), (9000, 9001), (20_000, 9001)] {
            let verdict = try policy.verdict(try self.leaf(seconds).chain, host: Site.host)
            let last = try #require(verdict.end)
            #expect(last == self.pki.now.advanced(by: .seconds(end)))
            // The last second still counts, as it does for the evaluation.
            let before = UnixTime(seconds: last.seconds - 1)
            #expect(try policy.verdict(try self.leaf(seconds).chain, host: Site.host, at: before).isTrusted)
            #expect(try !policy.verdict(try self.leaf(seconds).chain, host: Site.host, at: last).isTrusted)
        }
        #expect(try policy.verdict(try self.leaf(-1).chain, host: Site.host).end == nil)
    }

    @Test(arguments: PinExpiry.Action.allCases)
    func `LOOK-20 a verdict runs out with the pins that it was compared with`(action: PinExpiry.Action) throws {
        let leaf = try self.leaf(5000)
        for (pin, seconds, end) in [
            (leaf.pin, 40, 40), (leaf.pin, 7000, 5001), (leaf.pin, -40, 5001), (self.root.pin, 40, 40),
        ] {
            let policy = try SecurityPolicy(
                pinning: .publicKey, pins: [pin], roots: .only([self.root.certificate]),
                pinExpiry: PinExpiry(at: self.pki.now.advanced(by: .seconds(seconds)), action: action))
            let verdict = try policy.verdict(leaf.chain, host: Site.host, at: self.pki.now)
            #expect(verdict.isTrusted == (seconds > 0 || action != .fail))
            let expected = verdict.isTrusted ? self.pki.now.advanced(by: .seconds(end)) : nil
            #expect(verdict.end == expected)
        }
    }

    @Test func `LOOK-20 a verdict that waives dates has no end by them`() throws {
        let leaf = try self.leaf(-40)
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: [leaf.pin], allowInvalidCertificates: true,
            roots: .only([self.root.certificate]))
        let verdict = try policy.verdict(leaf.chain, host: Site.host)
        #expect(verdict.isTrusted && verdict.waived != nil && verdict.end == nil)
    }
}
