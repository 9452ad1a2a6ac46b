// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A security policy prepared for use: its anchors are loaded once, and any number of threads may use it at once.
public final class TrustEvaluator: Sendable {
    /// The policy that is applied.
    public let policy: SecurityPolicy

    /// True if a valid chain that matches no pin is accepted, with the mismatch in the verdict.
    public let reportsOnly: Bool

    let anchors: AnchorStore
    /// The pinned certificates as the only anchors; nil except in certificate mode.
    let pinnedAnchors: AnchorStore?
    let revocation: RevocationRules?
    let nameRule: NameRule
    let pinRule: PinRule
    let configuredPins: [Pin]
    /// Refusals of handshakes in the last seconds.
    let refusals = NegativeVerdictCache()

    /// The security level of handshakes by default in this machine's OpenSSL, so that a verdict without a handshake is no
    /// laxer.
    static let defaultLevel: CInt = {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return 1 }
        defer { SSL_CTX_free(context) }
        return SSL_CTX_get_security_level(context)
    }()

    /// Loads the anchors of a policy; for system roots that takes some milliseconds of file reading.
    ///
    /// A machine without system roots is no error: every chain then has an unknown issuer and is refused.
    ///
    /// - Throws: `.unreadableCertificate` for an anchor whose encoding is not DER throughout.
    public convenience init(policy: SecurityPolicy, reportsOnly: Bool = false) throws(TrustError) {
        let anchors = try AnchorStore(roots: policy.roots, extraRoots: policy.extraRoots)
        try self.init(policy: policy, reportsOnly: reportsOnly, anchors: anchors)
    }

    /// - Parameter anchors: the policy's, or others in their place.
    init(policy: SecurityPolicy, reportsOnly: Bool, anchors: AnchorStore) throws(TrustError) {
        self.policy = policy
        self.reportsOnly = reportsOnly
        self.anchors = anchors
        self.pinnedAnchors = policy.pinning == .certificate ? try AnchorStore(anchors: policy.certificates) : nil
        self.nameRule = NameRule(allowsCommonName: policy.allowsCommonName)
        self.revocation = try RevocationRules(policy.revocationLists)
        self.pinRule = PinRule(policy)
        self.configuredPins = policy.configuredPins
    }

    /// Judges a chain without a connection.
    ///
    /// - Parameters:
    ///   - chain: the certificates, leaf first, as a server sends them; the order of the others does not matter.
    ///   - host: the DNS name or IP address that the leaf must be for; nil requires no name.
    ///   - moment: the moment at which the certificates must be valid. Default: now.
    public func evaluate(chain: [Certificate], host: String?, at moment: UnixTime = .now) -> Verdict {
        self.evaluate(chain: chain, host: host, at: moment, level: TrustEvaluator.defaultLevel)
    }

    /// - Parameters:
    ///   - level: OpenSSL's security level.
    ///   - budget: the limit of work for the path search.
    func evaluate(
        chain: [Certificate], host: String?, at moment: UnixTime, level: CInt, budget: SearchBudget = .offline
    ) -> Verdict {
        guard chain.count <= SearchBudget.mostCertificates else {
            return self.refusal(TrustEvaluator.tooManyCertificates(TrustEvaluator.name(of: host)), host, [])
        }
        let read = chain.prefix(1 + budget.certificates).map { try? PathCertificate($0) }
        // No other certificate may take the place of a leaf that cannot be read.
        guard let leaf = read.first else { return self.refusal(TrustEvaluator.missingCertificate(host), host, chain) }
        guard leaf != nil, let peer = PeerChain(read.compactMap { $0 }) else {
            return self.refusal(TrustEvaluator.unreadableLeaf(host), host, chain)
        }
        return self.judge(peer, host: host, at: moment, level: level, budget: budget).verdict
    }

    /// Judges certificates that were parsed before.
    func evaluate(_ certificates: [PathCertificate], host: String?, at moment: UnixTime) -> Verdict {
        guard let peer = PeerChain(certificates) else {
            return self.refusal(TrustEvaluator.missingCertificate(host), host, [])
        }
        return self.judge(peer, host: host, at: moment, level: TrustEvaluator.defaultLevel).verdict
    }

    private func refusal(_ error: TrustError, _ host: String?, _ chain: [Certificate]) -> Verdict {
        Verdict(
            outcome: .refused(error), host: host, chain: ChainEntry.entries(of: chain),
            configuredPins: self.configuredPins)
    }

    /// - Parameter subject: the peer, or the source of the certificates.
    static func tooManyCertificates(_ subject: String) -> TrustError {
        TrustError(
            rule: .pathTooComplex,
            message: "\(subject): more than \(SearchBudget.mostCertificates) certificates, which no handshake carries; "
                + "give only those that belong to the chain")
    }

    static func unreadableLeaf(_ host: String?) -> TrustError {
        TrustError(
            rule: .malformedExtension,
            message: "\(self.name(of: host)): the dates, the key or the encoding of its certificate cannot be read; "
                + "its owner has to renew it")
    }

    private static func missingCertificate(_ host: String?) -> TrustError {
        TrustError(
            problem: .missing,
            message: "\(self.name(of: host)): the server sent no certificate; check that it speaks TLS")
    }

    /// Returns the name of the peer in messages.
    static func name(of host: String?) -> String {
        host ?? "the peer"
    }
}

extension TrustEvaluator: Hashable {
    /// True if both are the same object: two evaluators of equal policies have separate memories of refusals.
    public static func == (left: TrustEvaluator, right: TrustEvaluator) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
