// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust

/// A site with a whole chain, in a world whose only trusted root is its own.
struct Site {
    static let host = "api.example.test"

    let pki = TestPKI()
    let root: TestIdentity
    let intermediate: TestIdentity
    let leaf: TestIdentity

    init(_ name: String = "Site", host: String = Site.host) throws {
        self.root = try self.pki.root("\(name) Root")
        self.intermediate = try self.pki.intermediate("\(name) Intermediate", signedBy: self.root)
        self.leaf = try self.pki.leaf("\(name) Leaf", dns: [host], signedBy: self.intermediate)
    }

    /// Stands in for the system's roots: only this site's root is publicly trusted.
    var roots: SecurityPolicy.Roots { .only([self.root.certificate]) }
    var chain: [Certificate] { self.leaf.chain }

    /// A policy of the default kind, over this site's root.
    func policy(validatesDomainName: Bool = true) throws -> SecurityPolicy {
        try SecurityPolicy(pinning: .none, validatesDomainName: validatesDomainName, roots: self.roots)
    }

    /// A policy that pins certificates in either mode, over this site's root.
    func policy(
        _ mode: SecurityPolicy.PinningMode, pinning certificates: [Certificate], allowInvalid: Bool = false,
        validatesDomainName: Bool = true, match: SecurityPolicy.Match = .any
    ) throws -> SecurityPolicy {
        try SecurityPolicy(
            pinning: mode, certificates: certificates, allowInvalidCertificates: allowInvalid,
            validatesDomainName: validatesDomainName, roots: self.roots, match: match)
    }

    /// The pin sets of SEC-04, each of which must let the site in.
    var acceptedPins: [(String, [Certificate])] {
        get throws {
            let stranger = try self.pki.selfSigned("stranger", dns: ["foobar.example"])
            return [
                ("leaf", [self.leaf.certificate]),
                ("intermediate", [self.intermediate.certificate]),
                ("root", [self.root.certificate]),
                ("whole chain", self.leaf.fullChain),
                ("leaf and a stranger", [self.leaf.certificate, stranger.certificate]),
            ]
        }
    }
}

extension SecurityPolicy {
    /// Returns the policy's verdict on a chain.
    func verdict(_ chain: [Certificate], host: String?, at moment: UnixTime = .now) throws -> Verdict {
        try TrustEvaluator(policy: self).evaluate(chain: chain, host: host, at: moment)
    }
}
