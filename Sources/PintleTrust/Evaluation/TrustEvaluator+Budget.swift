// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Evaluation while an event loop waits: with the budget of a handshake, and with a memory of recent refusals.
extension TrustEvaluator {
    /// Judges a chain without a handshake, but with the limits of one.
    ///
    /// - Parameters:
    ///   - chain: the certificates, leaf first, as a server sends them; the order of the others does not matter.
    ///   - host: the DNS name or IP address that the leaf must be for; nil requires no name.
    ///   - moment: the moment at which the certificates must be valid. Default: now.
    package func evaluateInHandshake(chain: [Certificate], host: String?, at moment: UnixTime = .now) -> Verdict {
        self.evaluateInHandshake(chain: chain, host: host, at: moment, level: TrustEvaluator.defaultLevel)
    }

    /// - Parameter level: OpenSSL's security level.
    func evaluateInHandshake(chain: [Certificate], host: String?, at moment: UnixTime, level: CInt) -> Verdict {
        self.evaluate(chain: chain, host: host, at: moment, level: level, budget: .handshake)
    }

    func judgeInHandshake(_ peer: PeerChain, host: String, at moment: UnixTime, level: CInt) -> HandshakeDecision {
        self.judge(peer, host: host, at: moment, level: level, budget: .handshake)
    }

    /// Judges the certificates of a server. If they were refused in the last seconds, returns that refusal without reading
    /// them.
    func judgeInHandshake(
        leaf: X509View, others: [X509View], host: String, level: CInt, at moment: UnixTime = .now
    ) -> HandshakeDecision {
        var key: NegativeVerdictCache.Key?
        func theKey() -> NegativeVerdictCache.Key? {
            key =
                key
                ?? NegativeVerdictCache.Key(
                    host: host, level: level, chain: ([leaf] + others).map { $0.der ?? [] })
            return key
        }
        if !self.refusals.isEmpty, let known = theKey().flatMap({ self.refusals.refusal(of: $0, at: moment) }) {
            return known
        }
        let ruling =
            PeerChain(leaf: leaf, others: others)
            .map { self.judgeInHandshake($0, host: host, at: moment, level: level) }
            ?? self.unreadableLeaf(host: host)
        if !ruling.verdict.isTrusted, let key = theKey() { self.refusals.remember(ruling, of: key, at: moment) }
        return ruling
    }
}
