// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The evaluator and closures with which one `SSL_CTX` judges its handshakes and answers a server that asks for a
/// certificate.
final class HandshakeJudge {
    private let evaluator: TrustEvaluator
    private let host: String
    private let report: (Verdict) -> Void
    private let decide: ((ServerTrust) -> TrustDecision)?
    private let identity: ((ClientCertificateRequest) -> ClientIdentity?)?
    /// The verdict on the last handshake's chain, for the check of its stapled status, which follows on the same thread.
    private var pending: Verdict?

    private static let slot = ContextSlot()

    init(
        evaluator: TrustEvaluator, host: String, report: @escaping (Verdict) -> Void,
        decide: ((ServerTrust) -> TrustDecision)?, identity: ((ClientCertificateRequest) -> ClientIdentity?)?
    ) {
        self.evaluator = evaluator
        self.host = host
        self.report = report
        self.decide = decide
        self.identity = identity
    }

    /// Makes OpenSSL ask this judge, which replaces an earlier one of the context.
    func preside(over sslContext: OpaquePointer) {
        // Without a judge the callback refuses; this is the state until one is in place.
        SSL_CTX_set_cert_verify_callback(sslContext, verifyCertificate, nil)
        let installed = HandshakeJudge.slot.keep(self, in: sslContext)
        SSL_CTX_set_cert_verify_callback(sslContext, verifyCertificate, installed)
        if self.evaluator.policy.stapling != .off { pintle_ssl_ctx_request_status(sslContext, checkStapledStatus) }
        VerdictEnd.limitResumption(in: sslContext)
        SSL_CTX_set_cert_cb(sslContext, self.identity == nil ? nil : chooseCertificate, nil)
        // With TLS 1.3 a server may ask after the handshake, for instance for some of its paths, if the client has
        // announced that it may (RFC 8446 §4.6.2). A client without a certificate gains nothing from that.
        SSL_CTX_set_post_handshake_auth(sslContext, self.identity == nil ? 0 : 1)
    }

    /// Returns the judge of the context that a connection was made from.
    ///
    /// Looked up at each call: a connection keeps a copy of this callback's argument, which would dangle after a second
    /// judge has replaced the first. The argument of the verify callback is read from the context each time.
    fileprivate static func presiding(over connection: OpaquePointer) -> HandshakeJudge? {
        SSL_get_SSL_CTX(connection).flatMap { self.slot.judge(of: $0) }
    }

    /// - Returns: true if the handshake may continue; the store context then has `X509_V_OK`.
    fileprivate func judge(_ context: OpaquePointer) -> Bool {
        guard let leaf = X509_STORE_CTX_get0_cert(context) else { return false }
        let view = X509View(pointer: leaf)
        // The security level of this connection, which its owner may have raised.
        let level = X509_STORE_CTX_get0_param(context).map { X509_VERIFY_PARAM_get_auth_level($0) } ?? 1
        let others = PeerChain.sent(beside: view, in: X509_STORE_CTX_get0_untrusted(context))
        let ruling = self.ruling(on: view, others, level: level)
        // Errors that the evaluation left in the queue must not be taken for errors of the handshake.
        OpenSSLErrors.clear()
        X509_STORE_CTX_set_error(context, ruling.verifyError)
        self.pending = ruling.verdict
        if ruling.verdict.isTrusted,
            let connection = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx())
        {
            VerdictEnd.note(ruling.verdict.end, on: OpaquePointer(connection))
        }
        self.report(ruling.verdict)
        return ruling.verdict.isTrusted
    }

    private func ruling(on leaf: X509View, _ others: [X509View], level: CInt) -> HandshakeDecision {
        guard let decide = self.decide else {
            return self.evaluator.judgeInHandshake(leaf: leaf, others: others, host: self.host, level: level)
        }
        guard let peer = PeerChain(leaf: leaf, others: others) else {
            return self.evaluator.unreadableLeaf(host: self.host)
        }
        let trust = ServerTrust(peer, host: self.host, evaluator: self.evaluator, level: level)
        switch decide(trust) {
        case .evaluate: return self.evaluator.judgeInHandshake(peer, host: self.host, at: .now, level: level)
        case .accept: return self.evaluator.acceptance(of: trust)
        case .refuse(let reason): return self.evaluator.refusal(of: trust, reason: reason)
        }
    }

    /// Judges the status that the server stapled to its certificate, or the lack of one.
    ///
    /// It follows the verdict on the certificate, so a refusal here replaces a verdict that was reported before.
    ///
    /// - Returns: true if the handshake may continue.
    fileprivate func acceptsStatus(on connection: OpaquePointer) -> Bool {
        // No status is needed if the program decided itself, or if the chain is a single certificate.
        guard let verdict = self.pending, !verdict.decidedByHook, verdict.chainOrigin == .verified,
            verdict.chain.count > 1
        else { return true }
        defer { OpenSSLErrors.clear() }
        let status = StapledStatus(
            onConnection: connection, leaf: verdict.chain[0].certificate, issuer: verdict.chain[1].certificate)
        guard let rule = status.breach(under: self.evaluator.policy.stapling) else {
            if case .good(let end?) = status { VerdictEnd.shorten(to: end, on: connection) }
            return true
        }
        let refusal = self.evaluator.refusal(of: verdict, by: rule)
        SSL_set_verify_result(connection, Int(rule.verifyError))
        self.report(refusal)
        return false
    }

    /// Gives a connection the identity to show to its server, or none.
    ///
    /// - Returns: true if the handshake may continue. If not, OpenSSL's reason stays in the queue, where the code that
    ///   performs the handshake can read it.
    fileprivate func present(on connection: OpaquePointer) -> Bool {
        let request = ClientCertificateRequest(host: self.host, connection: connection)
        guard let identity = self.identity?(request) else {
            // The closure's answer is final: an identity of the context is not sent instead.
            SSL_certs_clear(connection)
            // Errors that the closure left in the queue must not be taken for errors of the handshake.
            OpenSSLErrors.clear()
            return true
        }
        return identity.isInstalled(onConnection: connection)
    }
}

/// A place in every `SSL_CTX` that owns one judge.
///
/// A context may outlive the transfer that it was made for, so it owns its judge: OpenSSL calls `release` with the last
/// reference to the context.
private struct ContextSlot: Sendable {
    private let index = pintle_ssl_ctx_ex_new_index { _, pointer, _, _, _, _ in ContextSlot.release(pointer) }

    /// - Returns: the pointer for the callback, or nil if OpenSSL has no room for it.
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

    func judge(of context: OpaquePointer) -> HandshakeJudge? {
        guard self.index >= 0, let pointer = SSL_CTX_get_ex_data(context, self.index) else { return nil }
        return Unmanaged<HandshakeJudge>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static func release(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        Unmanaged<HandshakeJudge>.fromOpaque(pointer).release()
    }
}

/// Called by OpenSSL in place of `X509_verify_cert`; 1 lets the handshake continue.
private func verifyCertificate(context: OpaquePointer?, argument: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    guard let argument else {
        X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION)
        return 0
    }
    return Unmanaged<HandshakeJudge>.fromOpaque(argument).takeUnretainedValue().judge(context) ? 1 : 0
}

/// Called by OpenSSL when a server asks for a certificate; 1 lets the handshake continue, with or without one.
private func chooseCertificate(connection: OpaquePointer?, argument: UnsafeMutableRawPointer?) -> CInt {
    guard let connection, let judge = HandshakeJudge.presiding(over: connection) else { return 0 }
    return judge.present(on: connection) ? 1 : 0
}

/// Called by OpenSSL when the server has sent its certificate's status, or could have; 1 lets the handshake continue.
private func checkStapledStatus(connection: OpaquePointer?, argument: UnsafeMutableRawPointer?) -> CInt {
    guard let connection, let judge = HandshakeJudge.presiding(over: connection) else { return 0 }
    // A resumed handshake has no certificate, and so no status.
    guard SSL_session_reused(connection) == 0 else { return 1 }
    return judge.acceptsStatus(on: connection) ? 1 : 0
}
