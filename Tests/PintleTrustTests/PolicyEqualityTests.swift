// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Equality of policies: connections and verdicts are shared by equal ones.
struct PolicyEqualityTests {
    @Test func `SEC-25 a policy keeps what it was made of, and differs from each that is made otherwise`() throws {
        let site = try Site()
        let (leaf, root) = (site.leaf.certificate, site.root.certificate)
        let policy = try SecurityPolicy(pinning: .certificate, certificates: [leaf, root], roots: site.roots)
        #expect(policy.pinning == .certificate && policy.certificates == [leaf, root] && policy.roots == site.roots)
        #expect(!policy.allowInvalidCertificates && policy.validatesDomainName)
        let others = [
            try SecurityPolicy(pinning: .publicKey, certificates: [leaf, root], roots: site.roots),
            try SecurityPolicy(pinning: .certificate, certificates: [leaf], roots: site.roots),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], allowInvalidCertificates: true, roots: site.roots),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], validatesDomainName: false, roots: site.roots),
            try SecurityPolicy(pinning: .certificate, certificates: [leaf, root]),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], roots: site.roots,
                extraRoots: [site.intermediate.certificate]),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], roots: site.roots, match: .leaf),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], roots: site.roots, allowsCommonName: true),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], roots: site.roots, minimumTLS: .tls13),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], roots: site.roots,
                pinExpiry: PinExpiry(at: site.pki.now)),
            try SecurityPolicy(
                pinning: .certificate, certificates: [leaf, root], roots: site.roots, stapling: .check),
            try SecurityPolicy(pinning: .certificate, certificates: [leaf, root], roots: site.roots, form: .strict),
        ]
        #expect(Set(others + [policy, policy]).count == others.count + 1)
    }
}
