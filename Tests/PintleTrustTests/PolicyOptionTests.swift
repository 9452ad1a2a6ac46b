// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Demands and permissions of a policy besides its pins.
struct PolicyOptionTests {
    private let site: Site

    init() throws {
        self.site = try Site()
    }

    // MARK: The end of the pins

    private func verdict(
        _ action: PinExpiry.Action, pins: [Pin], after: Duration, chain: [Certificate]? = nil,
        allowsInvalid: Bool = false
    ) throws -> Verdict {
        let end = self.site.pki.now
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: Set(pins), allowInvalidCertificates: allowsInvalid, roots: self.site.roots,
            pinExpiry: PinExpiry(at: end, action: action))
        return try policy.verdict(chain ?? self.site.chain, host: Site.host, at: end.advanced(by: after))
    }

    @Test func `until their end pins hold, whatever becomes of them then`() throws {
        let stranger = try Site("Stranger").root.pin
        for action in PinExpiry.Action.allCases {
            #expect(try self.verdict(action, pins: [self.site.leaf.pin], after: .seconds(-1)).isTrusted)
            let other = try self.verdict(action, pins: [stranger], after: .seconds(-1))
            #expect(other.error?.code == .pinMismatch)
        }
    }

    @Test func `expired pins refuse everybody, or only report, or are forgotten`() throws {
        let stranger = try Site("Stranger").root.pin
        let failed = try self.verdict(.fail, pins: [self.site.leaf.pin], after: .zero)
        #expect(failed.error?.code == .pinMismatch)
        #expect(
            failed.error?.message
                == "\(Site.host): the pins of its trust policy expired on \(self.site.pki.now), so no key is pinned any "
                + "longer; check that they are still right and set expires anew")
        let reported = try self.verdict(.report, pins: [stranger], after: .zero)
        #expect(reported.isTrusted && reported.reported?.code == .pinMismatch)
        #expect(try self.verdict(.report, pins: [self.site.leaf.pin], after: .zero).reported == nil)
        let forgotten = try self.verdict(.system, pins: [stranger], after: .zero)
        #expect(forgotten.isTrusted && forgotten.reported == nil && forgotten.matchedPin == nil)
    }

    @Test func `what pins made good is bad again without them`() throws {
        let lone = try self.site.pki.selfSigned(dns: [Site.host])
        for (action, isTrusted) in [(PinExpiry.Action.report, true), (.system, false), (.fail, false)] {
            let verdict = try self.verdict(
                action, pins: [lone.pin], after: .zero, chain: lone.chain, allowsInvalid: true)
            #expect(verdict.isTrusted == isTrusted, "\(action)")
            let stranger = try self.site.pki.selfSigned(dns: [Site.host])
            let other = try self.verdict(
                action, pins: [lone.pin], after: .zero, chain: stranger.chain, allowsInvalid: true)
            #expect(!other.isTrusted, "\(action)")
        }
    }

    // MARK: Names and versions

    @Test func `a common name counts where a policy allows it and there are no other names`() throws {
        let policy = try SecurityPolicy(pinning: .none, roots: self.site.roots, allowsCommonName: true)
        let bare = try self.site.pki.leaf(Site.host, signedBy: self.site.intermediate)
        #expect(try policy.verdict(bare.chain, host: Site.host).isTrusted)
        #expect(try policy.verdict(bare.chain, host: "other.test").error?.rule == .hostName)
        #expect(try self.site.policy().verdict(bare.chain, host: Site.host).error?.rule == .hostName)
        let named = try self.site.pki.leaf(Site.host, dns: ["other.test"], signedBy: self.site.intermediate)
        #expect(try policy.verdict(named.chain, host: Site.host).error?.rule == .hostName)
        let address = try self.site.pki.leaf("192.0.2.7", signedBy: self.site.intermediate)
        #expect(try policy.verdict(address.chain, host: "192.0.2.7").isTrusted)
    }

    @Test func `a common name that counts is under name constraints`() throws {
        let policy = try SecurityPolicy(pinning: .none, roots: self.site.roots, allowsCommonName: true)
        let local = try self.site.pki.intermediate(
            "local", signedBy: self.site.root, constraints: .init(permittedDNS: ["corp.test"]))
        for (host, rule) in [("a.corp.test", nil), ("bank.test", .nameConstraint)] as [(String, Rule?)] {
            let leaf = try self.site.pki.leaf(host, signedBy: local)
            #expect(try policy.verdict(leaf.chain, host: host).error?.rule == rule, "\(host)")
        }
    }

    @Test func `a handshake agrees on no older version than the policy's`() throws {
        for (version, isTrusted) in [(TLSVersion?.none, true), (.tls12, true), (.tls13, false)] {
            let policy = try SecurityPolicy(pinning: .none, roots: self.site.roots, minimumTLS: version)
            let client = try MemoryHandshake.ClientContext()
            client.limitToTLS12()
            try TrustEvaluator(policy: policy).install(on: client.pointer, host: Site.host) { _ in }
            #expect(try client.connect(server: self.site.leaf).succeeded == isTrusted)
        }
    }

    @Test func `options that would do nothing are refused`() throws {
        let list = try self.site.pki.revocationList(.init(), of: self.site.root)
        let expiry = PinExpiry(at: self.site.pki.now)
        let attempts: [() throws -> SecurityPolicy] = [
            { try SecurityPolicy(pinning: .none, pinExpiry: expiry) },
            { try SecurityPolicy(pinning: .none, validatesDomainName: false, allowsCommonName: true) },
            {
                try SecurityPolicy(
                    pinning: .publicKey, pins: [self.site.leaf.pin], allowInvalidCertificates: true,
                    revocationLists: [list])
            },
        ]
        for attempt in attempts {
            #expect(#expect(throws: TrustError.self) { try attempt() }?.code == .contradiction)
        }
    }
}
