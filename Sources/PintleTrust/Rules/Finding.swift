// SPDX-License-Identifier: Apache-2.0

/// A rule that a certificate breaks at its place in a path.
struct Finding {
    let rule: Rule
    let certificate: PathCertificate?

    init(_ rule: Rule, _ certificate: PathCertificate?) {
        self.rule = rule
        self.certificate = certificate
    }
}

/// A way from a leaf upwards: the leaf first, an anchor last once it is complete.
struct Path {
    private(set) var certificates: [PathCertificate]
    /// Set once the path has arrived.
    var anchor: Anchor?

    init(_ leaf: PathCertificate) {
        self.certificates = [leaf]
    }

    /// The certificate that still needs an issuer.
    var top: PathCertificate { self.certificates[self.certificates.count - 1] }
    var leaf: PathCertificate { self.certificates[0] }
    /// Authorities between the leaf and the top, the top included.
    var authorities: ArraySlice<PathCertificate> { self.certificates.dropFirst() }

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

/// What one search may spend, so that no chain, however hostile, keeps anybody waiting for long.
struct WorkBudget {
    /// Signatures, those of slow keys counted more than once (`PublicKeyFacts.cost`).
    var signatures = 256
    /// Certificates looked at as somebody's issuer.
    var steps = 8192
    /// Names compared with constraints of their form.
    var comparisons = 1 << 18
    /// Certificates beside the leaf that are read at all; those behind them are no part of any path. A chain given to
    /// `pintle verify` has 2000 at most.
    var certificates = 2000

    /// For `pintle verify` and what else has nobody waiting: a few seconds.
    static let offline = WorkBudget()
    /// For handshakes, which hold up everything else on their loop: some milliseconds. Honest chains need four signatures,
    /// a dozen steps and a few hundred comparisons.
    static let handshake = WorkBudget(signatures: 32, steps: 1024, comparisons: 1 << 13, certificates: 64)

    /// How many certificates a chain may have, far above what a handshake can carry.
    static let mostCertificates = 2000

    var isExhausted: Bool { self.signatures <= 0 || self.steps <= 0 || self.comparisons <= 0 }
}
