// SPDX-License-Identifier: Apache-2.0

/// A rule that a certificate breaks at its place in a path.
struct RuleFinding {
    let rule: Rule
    let certificate: PathCertificate?

    init(_ rule: Rule, _ certificate: PathCertificate?) {
        self.rule = rule
        self.certificate = certificate
    }
}

/// A path from a leaf upwards: the leaf first, and once it is complete, an anchor last.
struct Path {
    private(set) var certificates: [PathCertificate]
    /// The anchor that the path ends at; nil as long as it is incomplete.
    var anchor: Anchor?

    init(_ leaf: PathCertificate) {
        self.certificates = [leaf]
    }

    /// The last certificate of the path, which still needs an issuer.
    var top: PathCertificate { self.certificates[self.certificates.count - 1] }
    var leaf: PathCertificate { self.certificates[0] }
    /// The authorities above the leaf, up to and including the top.
    var authorities: ArraySlice<PathCertificate> { self.certificates.dropFirst() }

    /// The first moment at which one of the certificates has expired. The last second of a certificate still counts as
    /// valid.
    var end: UnixTime? {
        self.certificates.map(\.certificate.notAfter).min().map { $0.advanced(by: .seconds(1)) }
    }

    func contains(_ certificate: PathCertificate) -> Bool {
        self.certificates.contains { $0.isSameEntity(as: certificate) }
    }

    mutating func append(_ certificate: PathCertificate) {
        self.certificates.append(certificate)
    }

    mutating func removeLast() {
        self.certificates.removeLast()
    }
}

/// The work that one search may cost, so that even a hostile chain is judged quickly.
struct SearchBudget {
    /// Signature checks; those with slow keys count more than once (`PublicKeyFacts.cost`).
    var signatures = 256
    /// Certificates that are tried as an issuer.
    var steps = 8192
    /// Comparisons of names with constraints of their form.
    var comparisons = 1 << 18
    /// Certificates beside the leaf that are read at all; further ones are part of no path. A chain for `pintle verify` has
    /// 2000 at most.
    var certificates = 2000

    /// For `pintle verify` and other uses that may take a few seconds.
    static let offline = SearchBudget()
    /// For handshakes, which block everything else on their event loop: some milliseconds. Honest chains need four
    /// signatures, a dozen steps and a few hundred comparisons.
    static let handshake = SearchBudget(signatures: 32, steps: 1024, comparisons: 1 << 13, certificates: 32)

    /// The most certificates that a chain may have, far above the number that a handshake can carry.
    static let mostCertificates = 2000

    var isExhausted: Bool { self.signatures <= 0 || self.steps <= 0 || self.comparisons <= 0 }
}
