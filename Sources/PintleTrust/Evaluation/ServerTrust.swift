// SPDX-License-Identifier: Apache-2.0

/// A server that waits in its handshake for a decision.
public struct ServerTrust: Sendable {
    /// The DNS name or IP address that was asked for.
    public let host: String
    /// What the server sent, leaf first and unverified; never empty.
    public let chain: [Certificate]

    private let evaluator: TrustEvaluator
    private let level: CInt

    /// - Parameter level: the security level of the connection, which its owner may have raised.
    init(_ peer: PeerChain, host: String, evaluator: TrustEvaluator, level: CInt) {
        self.host = host
        self.chain = peer.certificates
        self.evaluator = evaluator
        self.level = level
    }

    /// What the session's policy says of this server at this moment.
    ///
    /// Each call verifies the chain anew. The answer decides nothing by itself; ``TrustDecision/evaluate`` lets the
    /// policy decide.
    public func evaluate() -> Verdict {
        self.evaluator.evaluateInHandshake(chain: self.chain, host: self.host, at: .now, level: self.level)
    }
}

/// A program's own answer to whether a server is to be believed.
public enum TrustDecision: Sendable, Hashable {
    /// The policy decides, as if nobody had been asked.
    case evaluate
    /// The server is believed, whatever the policy would say. Its key is proved; its name and its issuers are not.
    case accept
    /// The handshake ends here, whatever the policy would say; the reason ends up in the error's message.
    case refuse(String)
}
