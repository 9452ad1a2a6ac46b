// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A security policy made ready: its anchors are loaded once, and any number of threads may ask it.
public final class TrustEvaluator: Sendable {
    /// The policy that is carried out.
    public let policy: SecurityPolicy

    /// Whether a valid chain that matches no pin is accepted, with the mismatch in the verdict.
    public let reportsOnly: Bool

    let anchors: TrustStore
    /// The pinned certificates as the only anchors; nil outside of certificate mode.
    let pinnedAnchors: TrustStore?
    let pinRule: PinRule
    let configuredPins: [Pin]

    /// What a handshake of this machine's OpenSSL demands by default, so that a verdict without one is no laxer.
    private static let defaultLevel: CInt = {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return 1 }
        defer { SSL_CTX_free(context) }
        return SSL_CTX_get_security_level(context)
    }()

    /// Loads the anchors of a policy; for system roots that is some milliseconds of file reading.
    ///
    /// A machine without system roots is no error: every chain is then refused as of unknown issuer.
    ///
    /// - Throws: `.library` when OpenSSL cannot hold the anchors.
    public init(policy: SecurityPolicy, reportsOnly: Bool = false) throws(TrustError) {
        self.policy = policy
        self.reportsOnly = reportsOnly
        self.anchors = try TrustStore(roots: policy.roots, extraRoots: policy.extraRoots)
        self.pinnedAnchors = policy.pinning == .certificate ? try TrustStore(anchors: policy.certificates) : nil
        self.pinRule = PinRule(policy)
        self.configuredPins = policy.configuredPins
    }

    /// Judges a chain without a connection.
    ///
    /// - Parameters:
    ///   - chain: leaf first, as a server sends it; the order of the others does not matter.
    ///   - host: DNS name or IP address that the leaf must be for; nil asks for no name.
    ///   - moment: when the certificates must be valid. Default: now.
    public func evaluate(chain: [Certificate], host: String?, at moment: UnixTime = .now) -> Verdict {
        self.evaluate(chain: chain, host: host, at: moment, level: TrustEvaluator.defaultLevel)
    }

    /// - Parameter level: OpenSSL's security level.
    func evaluate(chain: [Certificate], host: String?, at moment: UnixTime, level: CInt) -> Verdict {
        do throws(TrustError) {
            var offline = try OfflineChain()
            for certificate in chain { try offline.append(certificate) }
            return try offline.read { (peer) throws(TrustError) in
                guard let peer else { throw TrustEvaluator.missingCertificate(host) }
                return self.judge(peer, host: host, at: moment, level: level).verdict
            }
        } catch {
            return Verdict(
                outcome: .refused(error), host: host, chain: ChainEntry.entries(of: chain),
                configuredPins: self.configuredPins)
        }
    }

    private static func missingCertificate(_ host: String?) -> TrustError {
        TrustError(
            problem: .missing,
            message: "\(self.name(of: host)): the server sent no certificate; check that it speaks TLS")
    }

    /// What messages call the peer.
    static func name(of host: String?) -> String {
        host ?? "the peer"
    }
}
