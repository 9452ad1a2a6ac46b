// SPDX-License-Identifier: Apache-2.0

/// A certificate that is trusted without an issuer.
struct Anchor {
    let certificate: PathCertificate
}

/// The anchors of a policy, found by name. Filled once and never changed.
struct AnchorStore: Sendable {
    private let given: [DistinguishedName: [PathCertificate]]
    private let system: SystemRoots?

    /// Takes the anchors of a policy's `roots` and `extraRoots`.
    init(roots: SecurityPolicy.Roots, extraRoots: [Certificate]) throws(TrustError) {
        switch roots {
        case .system:
            self.given = try AnchorStore.indexed(extraRoots)
            self.system = SystemRoots.current()
        case .only(let anchors):
            self.given = try AnchorStore.indexed((anchors + extraRoots).withoutDuplicates())
            self.system = nil
        }
    }

    /// Takes these anchors and no others.
    init(anchors: [Certificate]) throws(TrustError) {
        self.given = try AnchorStore.indexed(anchors)
        self.system = nil
    }

    /// Takes these anchors, which were parsed before, and no others.
    init(_ anchors: [PathCertificate]) {
        self.given = Dictionary(grouping: anchors) { $0.facts.subject.name }
        self.system = nil
    }

    private static func indexed(_ anchors: [Certificate]) throws(TrustError) -> [DistinguishedName: [PathCertificate]] {
        var index: [DistinguishedName: [PathCertificate]] = [:]
        for anchor in anchors {
            let certificate = try PathCertificate(anchor)
            index[certificate.facts.subject.name, default: []].append(certificate)
        }
        return index
    }

    /// Returns the anchors of that name, each once.
    func anchors(named name: DistinguishedName) -> [Anchor] {
        let given = self.given[name] ?? []
        let known = self.system?.roots(named: name) ?? []
        return given.map(Anchor.init(certificate:))
            + known.filter { root in !given.contains { $0.certificate == root.certificate.certificate } }
    }

    /// Returns the anchor that equals a certificate byte for byte.
    func anchor(equalTo certificate: PathCertificate) -> Anchor? {
        self.anchors(named: certificate.facts.subject.name).first {
            $0.certificate.certificate == certificate.certificate
        }
    }
}
