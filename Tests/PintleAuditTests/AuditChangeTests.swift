// SPDX-License-Identifier: Apache-2.0

import PintleAudit
import PintleTrust
import Testing

/// Changes between two audits.
@Suite struct AuditChangeTests {
    private func leaf(_ pin: String, _ digest: String, issuer: String = "CN=CA") -> KeyObservation.Leaf {
        KeyObservation.Leaf(
            pin: pin, digest: digest, serial: digest, subject: "CN=site", issuer: issuer,
            notBefore: UnixTime(seconds: 0), notAfter: UnixTime(seconds: 1_800_000_000))
    }

    private func seen(
        _ leaf: KeyObservation.Leaf?, keys: String = "rsa", verdict: String = "trusted", host: String = "a.test:443",
        address: String = "10.0.0.1"
    ) -> KeyObservation {
        KeyObservation(
            policy: "p", host: host, address: address, keys: leaf == nil ? "" : keys, verdict: verdict, leaf: leaf)
    }

    private func lines(_ old: [KeyObservation], _ new: [KeyObservation]) -> [String] {
        AuditChange.changes(from: old, to: new).map(\.line)
    }

    @Test func `nothing changes when only addresses do`() {
        let old = [self.seen(self.leaf("k1", "c1"))]
        let new = ["10.0.0.2", "10.0.0.3"].map { self.seen(self.leaf("k1", "c1"), address: $0) }
        #expect(self.lines(old, new) == [])
    }

    @Test func `a renewed certificate, a new key and a changed issuer are told apart`() {
        let old = [self.seen(self.leaf("k1", "c1"))]
        #expect(
            self.lines(old, [self.seen(self.leaf("k1", "c2"))]) == [
                "a.test:443 (p) RSA renewed-certificate: k1 is now in \"CN=site\" valid until 2027-01-15T08:00:00Z"
            ])
        #expect(
            self.lines(old, [self.seen(self.leaf("k2", "c2", issuer: "CN=New\u{1B}"), verdict: "pin-mismatch")]) == [
                "a.test:443 (p) RSA new-key: k1 → k2 in \"CN=site\" valid until 2027-01-15T08:00:00Z",
                "a.test:443 (p) RSA changed-issuer: \"CN=CA\" → \"CN=New\\u{1B}\"",
                "a.test:443 (p) new-verdict: trusted → pin-mismatch",
            ])
    }

    @Test func `kinds of keys come and go`() {
        let (rsa, ec) = (self.seen(self.leaf("k1", "c1")), self.seen(self.leaf("k2", "c2"), keys: "ecdsa"))
        #expect(
            self.lines([rsa], [rsa, ec]) == [
                "a.test:443 (p) ECDSA new-key: none → k2 in \"CN=site\" valid until 2027-01-15T08:00:00Z"
            ])
        #expect(
            self.lines([rsa, ec], [ec]) == [
                "a.test:443 (p) RSA key-gone: no certificate with such a key is shown any more"
            ])
    }

    @Test func `a server that cannot be reached has a new verdict and lost nothing`() {
        let old = [self.seen(self.leaf("k1", "c1"))]
        let new = [self.seen(nil, verdict: "unreachable")]
        #expect(self.lines(old, new) == ["a.test:443 (p) new-verdict: trusted → unreachable"])
        #expect(
            self.lines(new, old) == [
                "a.test:443 (p) RSA new-key: none → k1 in \"CN=site\" valid until 2027-01-15T08:00:00Z",
                "a.test:443 (p) new-verdict: unreachable → trusted",
            ])
    }

    @Test func `groups and CAA records that change are told, if both audits looked for them`() {
        let seen = [self.seen(self.leaf("k1", "c1"))]
        func fact(_ kind: HostFact.Kind, _ value: String, host: String = "a.test:443") -> HostFact {
            HostFact(policy: "p", host: host, kind: kind, value: value)
        }
        func lines(_ old: [HostFact], _ new: [HostFact]) -> [String] {
            AuditChange.changes(from: seen, old, to: seen, new).map(\.line)
        }
        let none = [fact(.postQuantum, "none"), fact(.caa, "a.test: any authority")]
        #expect(lines(none, none) == [] && lines([], none) == [] && lines(none, []) == [])
        #expect(
            lines(none, [fact(.postQuantum, "none"), fact(.postQuantum, "MLKEM768")]) == [
                "a.test:443 (p) changed-key-exchange: none → MLKEM768, none"
            ])
        #expect(
            lines(none, [fact(.caa, "a.test: ca.test by 0 issue \"ca.test\" at \u{1B}")]) == [
                "a.test:443 (p) changed-caa: a.test: any authority → a.test: ca.test by 0 issue \"ca.test\" at \\u{1B}"
            ])
        #expect(lines(none, [fact(.caa, "x", host: "b.test:443")]) == [])
    }

    @Test func `servers come and go`() {
        let old = [self.seen(self.leaf("k1", "c1"))]
        let new = [self.seen(self.leaf("k1", "c1"), host: "b.test:443")]
        #expect(
            self.lines(old, new) == [
                "a.test:443 (p) host-gone: it is no longer audited",
                "b.test:443 (p) new-host: it was not audited before; trusted",
            ])
    }
}
