// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Judging while a loop waits: with the budget of a handshake, and with a memory for what was refused a moment ago.
extension TrustEvaluator {
    /// Judges a chain as a handshake would, without one.
    ///
    /// - Parameters:
    ///   - chain: leaf first, as a server sends it; the order of the others does not matter.
    ///   - host: DNS name or IP address that the leaf must be for; nil asks for no name.
    ///   - moment: when the certificates must be valid. Default: now.
    package func evaluateInHandshake(chain: [Certificate], host: String?, at moment: UnixTime = .now) -> Verdict {
        self.evaluateInHandshake(chain: chain, host: host, at: moment, level: TrustEvaluator.defaultLevel)
    }

    /// - Parameter level: OpenSSL's security level.
    func evaluateInHandshake(chain: [Certificate], host: String?, at moment: UnixTime, level: CInt) -> Verdict {
        self.evaluate(chain: chain, host: host, at: moment, level: level, budget: .handshake)
    }

    func judgeInHandshake(_ peer: PeerChain, host: String, at moment: UnixTime, level: CInt) -> Ruling {
        self.judge(peer, host: host, at: moment, level: level, budget: .handshake)
    }

    /// Judges what a server has sent, unless the same was refused a moment ago: then it is not even read.
    func judgeInHandshake(
        leaf: X509View, others: [X509View], host: String, level: CInt, at moment: UnixTime = .now
    ) -> Ruling {
        var key: RefusalMemory.Key?
        func theKey() -> RefusalMemory.Key? {
            key =
                key
                ?? RefusalMemory.Key(
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
