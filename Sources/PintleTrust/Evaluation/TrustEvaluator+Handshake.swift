// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension TrustEvaluator {
    /// The most bytes of certificates that a server may send; more ends the handshake. Java's clients accept as many, and
    /// chains in public use have a third of that at most. OpenSSL's own limit is 100 KiB.
    private static let longestChain = 32 << 10

    /// Makes this policy decide every handshake of an `SSL_CTX`.
    ///
    /// A refusal ends the handshake, and renegotiation is off: a connection keeps the certificate that was judged. The
    /// context's own store is ignored, and the policy's anchors are never added to it: certificates that any code added to
    /// a shared store would be trusted by every connection.
    ///
    /// A handshake that resumes a session is not judged again and has the identity of the first, so session caches must not
    /// be shared between policies, decisions or identities. A session is not resumed after its verdict has expired.
    ///
    /// All closures are called on the thread that performs the handshake, which waits for their results.
    ///
    /// - Parameters:
    ///   - sslContext: an `SSL_CTX *`; the parts of this evaluator that it needs live as long as it does.
    ///   - host: the destination's DNS name or IP address.
    ///   - report: called once per full handshake, before the handshake continues; called again if a stapled status is
    ///     refused.
    ///   - decide: the program's own decision, asked before the policy; it is final. Default: the policy decides.
    ///   - identity: called exactly if the server asks for a certificate; nil sends none, not even one that
    ///     ``ClientIdentity/install(on:)`` gave the context. Default: the context's identity, if it has one.
    package func install(
        on sslContext: OpaquePointer, host: String, report: @escaping (Verdict) -> Void,
        decide: ((ServerTrust) -> TrustDecision)? = nil,
        identity: ((ClientCertificateRequest) -> ClientIdentity?)? = nil
    ) {
        OpenSSLErrors.clear()
        SSL_CTX_set_options(sslContext, pintle_ssl_op_no_renegotiation())
        // Without it a client continues after a refusal, whatever the callback returns.
        SSL_CTX_set_verify(sslContext, SSL_VERIFY_PEER, nil)
        // OpenSSL decodes every certificate, and its key, before it calls the callback: a tenth of a millisecond each.
        pintle_ssl_ctx_limit_certificates(sslContext, TrustEvaluator.longestChain)
        if let version = self.policy.minimumTLS {
            pintle_ssl_ctx_set_oldest_version(sslContext, version.openSSLNumber)
        }

        let judge = HandshakeJudge(
            evaluator: self, host: host, report: report, decide: decide, identity: identity)
        judge.preside(over: sslContext)
    }
}
