// SPDX-License-Identifier: Apache-2.0

/// A server that waits in its handshake for the program's decision.
public struct ServerTrust: Sendable {
    /// The DNS name or IP address that the client connects to.
    public let host: String
    /// The certificates that the server sent, leaf first and unverified; never empty.
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

    /// Returns the verdict of the session's policy on this server at this moment.
    ///
    /// Each call verifies the chain anew. The verdict decides nothing by itself; ``TrustDecision/evaluate`` lets the policy
    /// decide.
    public func evaluate() -> Verdict {
        self.evaluator.evaluateInHandshake(chain: self.chain, host: self.host, at: .now, level: self.level)
    }
}

/// A program's own decision to trust a server or not.
public enum TrustDecision: Sendable, Hashable {
    /// The policy decides, as if the program had not been asked.
    case evaluate
    /// The server is trusted, whatever the policy's verdict would be. Its key is proved; its name and its issuers are not.
    case accept
    /// The handshake ends, whatever the policy's verdict would be; the reason becomes a part of the error's message.
    case refuse(String)
}
