// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
internal import PintleSystem

/// One half of a TLS connection: a server's or a client's, over a non-blocking socket or inside of another connection.
///
/// The first calls shake hands. Used by one thread at a time. The process must ignore SIGPIPE.
package final class TLSConnection {
    /// The outcome of an attempt.
    package enum Outcome: Sendable, Hashable {
        /// So many bytes were moved, at least one.
        case bytes(Int)
        /// The peer has sent everything.
        case end
        /// Nothing can be moved before the socket can be read from.
        case wantsRead
        /// Nothing can be moved before the socket can be written to.
        case wantsWrite
        /// Nothing can be moved before there is an identity to show (``IdentityChoice/later``).
        case wantsIdentity
        /// The connection cannot be used any more.
        case failed(TLSFailure)
    }

    /// Keeps what its callbacks use: a server's context.
    private let context: TLSServerContext?
    /// The connection that carries this one; nil where a socket does.
    private let outer: TLSConnection?
    private let pointer: OpaquePointer
    private var failure: TLSFailure?
    /// The number of times that OpenSSL may still look for bytes in the call under way.
    fileprivate var looks = 0
    /// OpenSSL goes on while there are records, and looks twice for each: one that is in order has 16 KiB, and a hostile one a
    /// byte. Whoever sends many of those goes on in the next turn.
    private static let mostLooks = 512
    /// An error takes a connection back into its handshake, as OpenSSL counts.
    private var wasEstablished = false
    /// Chooses a server's identity in the handshake; nil where it is the context's.
    fileprivate private(set) var choose: ((_ serverName: String?) -> IdentityChoice)?
    /// The socket's, while bytes that were read before wait in a BIO of their own.
    private var laterInput: OpaquePointer?

    /// Begins as a server.
    ///
    /// - Parameter descriptor: stays its owner's, who closes it after this object's last use.
    /// - Throws: `.library` when memory is short.
    package convenience init(_ context: TLSServerContext, descriptor: Int32) throws(TrustError) {
        try self.init(of: context.pointer, keeping: context, over: .socket(descriptor))
        SSL_set_accept_state(self.pointer)
    }

    /// Says what a server shows a client that has said whom it wants.
    package enum IdentityChoice {
        case identity(ClientIdentity)
        /// There is none yet: the connection tells so (``Outcome/wantsIdentity``), and asks again in its next call.
        case later
        /// The client wants a server that is not here; it is told so by an alert, unrecognized_name (RFC 6066 §3).
        case refused
    }

    /// Begins as a server that chooses its identity by the name that the client asks for.
    ///
    /// - Parameters:
    ///   - early: bytes of the client that were read before.
    ///   - choose: asked during the handshake, once or several times, with the name in the ClientHello; nil where there is
    ///     none.
    /// - Throws: `.library` when memory is short.
    package convenience init(
        _ context: TLSServerContext, over carrier: Carrier, behind early: [UInt8],
        choosing choose: @escaping (_ serverName: String?) -> IdentityChoice
    ) throws(TrustError) {
        try self.init(of: context.pointer, keeping: context, over: carrier)
        SSL_set_accept_state(self.pointer)
        self.choose = choose
        // It goes with this object.
        let argument = Unmanaged.passUnretained(self).toOpaque()
        guard pintle_ssl_set_app_data(self.pointer, argument) == 1 else {
            throw OpenSSLErrors.failure(of: "SSL_set_app_data")
        }
        SSL_set_cert_cb(self.pointer, chooseIdentity, argument)
        guard !early.isEmpty else { return }
        guard let waiting = BIO_new(BIO_s_mem()), BIO_write(waiting, early, CInt(clamping: early.count)) == early.count
        else { throw OpenSSLErrors.failure(of: "BIO_new") }
        pintle_bio_mem_is_endless(waiting)
        let input = SSL_get_rbio(self.pointer)
        BIO_up_ref(input)
        self.laterInput = input
        SSL_set0_rbio(self.pointer, waiting)
    }

    /// Begins as a client under a policy, which decides the handshake (`TrustEvaluator.install`).
    ///
    /// - Parameters:
    ///   - host: the name or address that the server must prove, and that it is asked for where it is a name.
    ///   - protocols: what may be spoken, as ALPN names it (RFC 7301), the best first.
    ///   - session: of an earlier connection to the same host under the same policy.
    ///   - report: told of the verdict, once per full handshake; of a stapled status that is refused, too.
    ///   - decide: the program's own decision, asked before the policy. Default: the policy decides.
    ///   - identity: called where the server asks for a certificate. Default: it gets none.
    /// - Throws: `.library` when OpenSSL cannot make the offer.
    package convenience init(
        to host: String, protocols: [String], under evaluator: TrustEvaluator, over carrier: Carrier,
        resuming session: TLSSession?, report: @escaping (Verdict) -> Void,
        decide: ((ServerTrust) -> TrustDecision)? = nil,
        identity: ((ClientCertificateRequest) -> ClientIdentity?)? = nil
    ) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw OpenSSLErrors.failure(of: "SSL_CTX_new") }
        // The connection holds a reference of its own.
        defer { SSL_CTX_free(context) }
        pintle_ssl_ctx_prepare_client(context)
        // Before the policy, which may demand more.
        try HandshakeOffer(protocols: protocols).apply(to: context)
        evaluator.install(on: context, host: host, report: report, decide: decide, identity: identity)
        try self.init(of: context, keeping: nil, over: carrier)
        // RFC 6066 §3: an address is no server name, and a name has no trailing dot.
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if IPAddress(host: name) == nil { pintle_ssl_set_server_name(self.pointer, name) }
        if let session { SSL_set_session(self.pointer, session.pointer) }
        SSL_set_connect_state(self.pointer)
    }

    private init(
        of context: OpaquePointer, keeping owner: TLSServerContext?, over carrier: Carrier
    ) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let pointer = SSL_new(context) else { throw OpenSSLErrors.failure(of: "SSL_new") }
        self.context = owner
        self.pointer = pointer
        switch carrier {
        case .socket(let descriptor):
            self.outer = nil
            guard SSL_set_fd(pointer, descriptor) == 1 else { throw OpenSSLErrors.failure(of: "SSL_set_fd") }
            let input = SSL_get_rbio(pointer)
            BIO_set_callback_ex(input, countLook)
            // Both go with this object.
            BIO_set_callback_arg(
                input,
                UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque()).assumingMemoryBound(to: CChar.self))
        case .stream(let outer):
            self.outer = outer
            guard let bio = BIO_new(BIO_f_ssl()) else { throw OpenSSLErrors.failure(of: "BIO_new") }
            pintle_bio_set_ssl(bio, outer.pointer)
            SSL_set_bio(pointer, bio, bio)
        }
    }

    deinit {
        BIO_free(self.laterInput)
        // A connection that was not ended in TLS takes its session with it, as OpenSSL sees it; RFC 8446 §6.1 does not.
        if self.failure == nil { SSL_set_shutdown(self.pointer, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(self.pointer)
        OpenSSLErrors.clear()
    }

    /// Carries the records of a connection.
    package enum Carrier {
        /// A connected, non-blocking descriptor, which stays its owner's.
        case socket(Int32)
        /// Another connection, which is established.
        case stream(TLSConnection)
    }

    /// True where the handshake is complete.
    package var isEstablished: Bool { SSL_is_init_finished(self.pointer) == 1 }

    /// What the handshake agreed on; nil before its end.
    package var negotiated: NegotiatedTLS? { self.isEstablished ? NegotiatedTLS(self.pointer) : nil }

    /// Tells whether the verdict that the connection, or the session that it resumed, began with holds at a moment
    /// (``Verdict/end``). Only of a client.
    package func isTrusted(at moment: UnixTime) -> Bool { VerdictEnd.holds(on: self.pointer, at: moment) }

    /// The name that the client has asked for in its handshake (RFC 6066 §3); nil where it has named none. Only of a server.
    package var serverName: String? { PintleTrust.serverName(of: self.pointer) }

    /// The session, for connections that come later; nil where the server has not said how to resume it.
    package var session: TLSSession? {
        guard let pointer = SSL_get1_session(self.pointer) else { return nil }
        let session = TLSSession(pointer)
        return SSL_SESSION_is_resumable(pointer) == 1 ? session : nil
    }

    /// True where a session was resumed, and nothing judged.
    package var isResumed: Bool { SSL_session_reused(self.pointer) == 1 }

    /// Shakes hands as far as that is possible.
    ///
    /// - Returns: `end` when the handshake is complete.
    package func shakeHands() -> Outcome {
        if let failure { return .failed(failure) }
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_do_handshake(self.pointer)
        guard result == 1 else { return self.outcome(of: result) }
        self.wasEstablished = true
        return .end
    }

    /// Shows what has come, and leaves it to be read.
    package func peek(into space: UnsafeMutableRawBufferPointer) -> Outcome {
        if let failure { return .failed(failure) }
        var count = 0
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_peek_ex(self.pointer, space.baseAddress, space.count, &count)
        return result == 1 ? .bytes(count) : self.outcome(of: result)
    }

    /// True where as much is taken from the socket at once as has come, up to ``aheadCapacity``, and not one record after
    /// another with two system calls for each. Records that were read ahead wait here, where no descriptor tells of them.
    package var readsAhead = false {
        didSet {
            guard self.readsAhead != oldValue else { return }
            SSL_set_read_ahead(self.pointer, self.readsAhead ? 1 : 0)
            SSL_set_default_read_buffer_len(self.pointer, self.readsAhead ? Self.aheadCapacity : 0)
        }
    }

    /// In bytes. OpenSSL has such a buffer only while there is something in it (`SSL_MODE_RELEASE_BUFFERS`).
    private static let aheadCapacity = 128 * 1024

    /// True where bytes wait that were taken from the socket, whatever they are.
    package var hasWaiting: Bool { SSL_has_pending(self.pointer) == 1 }

    private func allowLooks() {
        self.looks = Self.mostLooks
        self.outer?.allowLooks()
    }

    /// Takes in what has come.
    package func read(into space: UnsafeMutableRawBufferPointer) -> Outcome {
        if let failure { return .failed(failure) }
        var count = 0
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_read_ex(self.pointer, space.baseAddress, space.count, &count)
        guard result == 1 else { return self.outcome(of: result) }
        self.wasEstablished = true
        return .bytes(count)
    }

    /// Takes in one record after another, as long as there is room for a whole one. Behind one that is short nothing is
    /// looked for: often that was all, and looking would be a system call for each message.
    ///
    /// - Returns: the number of bytes; and `bytes` where there may be more, otherwise why there are not, also behind some.
    package func fill(_ space: UnsafeMutableRawBufferPointer) -> (count: Int, outcome: Outcome) {
        if let failure { return (0, .failed(failure)) }
        var filled = 0
        while space.count - filled >= Self.fullRecord {
            var count = 0
            OpenSSLErrors.clear()
            self.allowLooks()
            let result = SSL_read_ex(
                self.pointer, space.baseAddress?.advanced(by: filled), space.count - filled, &count)
            guard result == 1 else { return (filled, self.outcome(of: result)) }
            self.wasEstablished = true
            filled += count
            if count < Self.fullRecord { break }
        }
        return (filled, .bytes(filled))
    }

    /// The most bytes in a record (RFC 8446 §5.1).
    private static let fullRecord = 16 * 1024

    /// Sends the beginning of `bytes`, which are not empty. After `wantsRead` and `wantsWrite` it must be asked with the
    /// same bytes again, which may be elsewhere, and more behind them.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        if let failure { return .failed(failure) }
        var count = 0
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_write_ex(self.pointer, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .bytes(count) }
        let outcome = self.outcome(of: result)
        // A peer that takes no more may have said why before.
        if case .failed(let failure) = outcome, case .broken = failure.reason { self.failure = nil }
        return outcome
    }

    /// Tells the peer that nothing more comes (RFC 8446 §6.1). What it still sends can be read.
    ///
    /// - Returns: `end` when that is done, also where it cannot be said because there is no connection.
    package func finishOutput() -> Outcome {
        guard self.failure == nil, self.isEstablished else { return .end }
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_shutdown(self.pointer)
        guard result < 0, SSL_get_error(self.pointer, result) == SSL_ERROR_WANT_WRITE else {
            OpenSSLErrors.clear()
            return .end
        }
        return .wantsWrite
    }

    private func outcome(of result: CInt) -> Outcome {
        let code = errno
        let error = SSL_get_error(self.pointer, result)
        if error != SSL_ERROR_SSL, error != SSL_ERROR_SYSCALL { self.wasEstablished = self.isEstablished }
        switch error {
        case SSL_ERROR_WANT_READ:
            self.readOnFromSocket()
            return .wantsRead
        case SSL_ERROR_WANT_X509_LOOKUP: return .wantsIdentity
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .end
        case SSL_ERROR_SYSCALL: return self.fail(.broken(code))
        default:
            let alert = ERR_GET_REASON(ERR_peek_error()) - pintle_alert_reason_offset()
            if (1...255).contains(alert) { return self.fail(.alert(TLSAlert(code: UInt8(alert)))) }
            if ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING { return self.fail(.cutOff) }
            return self.fail(.misbehaved(OpenSSLErrors.drain() ?? "OpenSSL gives no reason"))
        }
    }

    /// The bytes that were read before are used up, so that the rest comes from the socket. Epoll tells of it, as of any.
    private func readOnFromSocket() {
        guard let laterInput else { return }
        self.laterInput = nil
        SSL_set0_rbio(self.pointer, laterInput)
    }

    private func fail(_ reason: TLSFailure.Reason) -> Outcome {
        let failure = TLSFailure(reason: reason, isOfHandshake: !self.wasEstablished, isOfServer: self.context == nil)
        OpenSSLErrors.clear()
        self.failure = failure
        return .failed(failure)
    }
}

/// OpenSSL's `cert_cb` (SSL_CTX_set_cert_cb(3)): 1 goes on, 0 fails, and -1 waits.
private func chooseIdentity(connection: OpaquePointer?, argument: UnsafeMutableRawPointer?) -> CInt {
    guard let connection, let argument else { return 0 }
    let owner = Unmanaged<TLSConnection>.fromOpaque(argument).takeUnretainedValue()
    switch owner.choose?(serverName(of: connection)) {
    case .identity(let identity)?: return identity.isInstalled(onConnection: connection) ? 1 : 0
    case .later?: return -1
    case .refused?, nil: return 0
    }
}

/// OpenSSL's callback for the server name. Called before `cert_cb`, it can say with which alert a handshake ends.
func judgeServerName(
    connection: OpaquePointer?, alert: UnsafeMutablePointer<CInt>?, argument: UnsafeMutableRawPointer?
) -> CInt {
    guard let connection, let data = pintle_ssl_app_data(connection) else { return SSL_TLSEXT_ERR_OK }
    let owner = Unmanaged<TLSConnection>.fromOpaque(data).takeUnretainedValue()
    guard case .refused? = owner.choose?(serverName(of: connection)) else { return SSL_TLSEXT_ERR_OK }
    alert?.pointee = SSL_AD_UNRECOGNIZED_NAME
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

private func serverName(of connection: OpaquePointer) -> String? {
    SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
}

/// Says that there are no bytes for now, when OpenSSL has looked for them often enough (BIO_set_callback_ex(3)).
private func countLook(
    input: OpaquePointer?, operation: CInt, argument: UnsafePointer<CChar>?, length: Int, number: CInt, long: Int,
    result: CInt, processed: UnsafeMutablePointer<Int>?
) -> Int {
    guard operation == BIO_CB_READ, let owner = BIO_get_callback_arg(input) else { return Int(result) }
    let connection = Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue()
    connection.looks -= 1
    guard connection.looks < 0 else { return Int(result) }
    BIO_set_flags(input, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    return -1
}
