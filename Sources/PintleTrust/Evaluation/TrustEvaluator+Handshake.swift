// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension TrustEvaluator {
    /// Makes this policy decide every handshake of an `SSL_CTX`.
    ///
    /// For libcurl's `CURLOPT_SSL_CTX_FUNCTION`, which is called for every new context. libcurl must not check names
    /// itself (`SSL_VERIFYHOST` 0) but must heed the result (`SSL_VERIFYPEER` 1). A refusal ends the handshake, and
    /// renegotiation is off: a connection keeps the certificate that was judged.
    ///
    /// The context's own store counts for nothing, and the policy's anchors are never put there: libcurl fills the
    /// store of a context after this call too, and what it added to a shared one would be trusted by every connection.
    ///
    /// A handshake that resumes a session is not judged again, so session caches must not be shared between policies.
    ///
    /// - Parameters:
    ///   - sslContext: an `SSL_CTX *`; what it needs of this evaluator lives as long as it does.
    ///   - host: the destination's DNS name or IP address.
    ///   - report: called once per full handshake, on the thread that performs it, before the handshake goes on.
    package func install(on sslContext: OpaquePointer, host: String, report: @escaping (Verdict) -> Void) {
        OpenSSLErrors.clear()
        SSL_CTX_set_options(sslContext, pintle_ssl_op_no_renegotiation())
        // Without it a client goes on after a refusal, whatever the callback returns.
        SSL_CTX_set_verify(sslContext, SSL_VERIFY_PEER, nil)

        let judge = HandshakeJudge(evaluator: self, host: host, report: report)
        // With no judge to ask, the callback refuses: that is the state until one is in place.
        SSL_CTX_set_cert_verify_callback(sslContext, verifyCertificate, nil)
        let installed = HandshakeJudge.slot.keep(judge, in: sslContext)
        SSL_CTX_set_cert_verify_callback(sslContext, verifyCertificate, installed)
    }
}

/// What one `SSL_CTX` needs to judge its handshakes.
private final class HandshakeJudge {
    private let evaluator: TrustEvaluator
    private let host: String
    private let report: (Verdict) -> Void

    init(evaluator: TrustEvaluator, host: String, report: @escaping (Verdict) -> Void) {
        self.evaluator = evaluator
        self.host = host
        self.report = report
    }

    static let slot = ContextSlot()

    /// - Returns: whether the handshake may go on; the store context then says `X509_V_OK`.
    func judge(_ context: OpaquePointer) -> Bool {
        guard let leaf = X509_STORE_CTX_get0_cert(context) else { return false }
        let peer = PeerChain(leaf: X509View(pointer: leaf), untrusted: X509_STORE_CTX_get0_untrusted(context))
        // The level of this connection, which its owner may have raised.
        let level = X509_STORE_CTX_get0_param(context).map { X509_VERIFY_PARAM_get_auth_level($0) } ?? 1
        let ruling = self.evaluator.judge(peer, host: self.host, at: nil, level: level)
        // What the judging left in the queue must not pass for an error of the handshake.
        OpenSSLErrors.clear()
        X509_STORE_CTX_set_error(context, ruling.verifyError)
        self.report(ruling.verdict)
        return ruling.verdict.isTrusted
    }
}

/// A place in every `SSL_CTX` that owns one judge.
///
/// A context may outlive the transfer that it was made for, so it keeps its judge itself: OpenSSL calls `release` when
/// the last reference to the context goes.
private struct ContextSlot: Sendable {
    private let index = pintle_ssl_ctx_ex_new_index { _, pointer, _, _, _, _ in ContextSlot.release(pointer) }

    /// - Returns: the pointer for the callback, or nil when OpenSSL has no room for it.
    func keep(_ judge: HandshakeJudge, in context: OpaquePointer) -> UnsafeMutableRawPointer? {
        guard self.index >= 0 else { return nil }
        let previous = SSL_CTX_get_ex_data(context, self.index)
        // Balanced by `release`.
        let pointer = Unmanaged.passRetained(judge).toOpaque()
        guard SSL_CTX_set_ex_data(context, self.index, pointer) == 1 else {
            ContextSlot.release(pointer)
            return nil
        }
        ContextSlot.release(previous)
        return pointer
    }

    private static func release(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        Unmanaged<HandshakeJudge>.fromOpaque(pointer).release()
    }
}

/// Called by OpenSSL in place of `X509_verify_cert`; 1 lets the handshake go on.
private func verifyCertificate(context: OpaquePointer?, argument: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    guard let argument else {
        X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION)
        return 0
    }
    return Unmanaged<HandshakeJudge>.fromOpaque(argument).takeUnretainedValue().judge(context) ? 1 : 0
}
