// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
internal import PintleSystem

/// One end of a TLS connection: a server's or a client's, over a non-blocking socket or inside another TLS connection.
///
/// The first calls perform the handshake. Used by one thread at a time. The process must ignore SIGPIPE.
package final class TLSConnection {
    /// The outcome of one call.
    package enum Outcome: Sendable, Hashable {
        /// This number of bytes was moved, at least one.
        case bytes(Int)
        /// The peer will send no more.
        case end
        /// The call can continue when the socket is readable.
        case wantsRead
        /// The call can continue when the socket is writable.
        case wantsWrite
        /// The call can continue when there is an identity to show (``IdentityChoice/later``).
        case wantsIdentity
        /// The connection can no longer be used.
        case failed(TLSFailure)
    }

    /// The server's context, kept alive for its callbacks.
    private let context: TLSServerContext?
    /// The connection that carries this one; nil if a socket does.
    private let outer: TLSConnection?
    private let pointer: OpaquePointer
    private var failure: TLSFailure?
    /// The number of times that OpenSSL may still read from the socket in this call.
    fileprivate var looks = 0
    /// The limit of reads from the socket in one call. OpenSSL continues while there are records, and reads twice for each:
    /// a normal one has 16 KiB, a hostile one a single byte. A peer that sends many of those has to wait for the next turn.
    private static let mostLooks = 512
    /// True if the handshake was complete before an error. OpenSSL's own state returns to the handshake after one.
    private var wasEstablished = false
    /// Chooses a server's identity in the handshake; nil if it is the context's.
    fileprivate private(set) var choose: ((_ serverName: String?) -> IdentityChoice)?
    /// The BIO of the socket, while bytes that were read earlier wait in a BIO of their own.
    private var laterInput: OpaquePointer?

    /// Begins as a server.
    ///
    /// - Parameter descriptor: the socket; its owner closes it after this object's last use.
    /// - Throws: `.library` if memory is short.
    package convenience init(_ context: TLSServerContext, descriptor: Int32) throws(TrustError) {
        try self.init(of: context.pointer, keeping: context, over: .socket(descriptor))
        SSL_set_accept_state(self.pointer)
    }

    /// The choice of a server's identity for a client that has named the server it wants.
    package enum IdentityChoice {
        case identity(ClientIdentity)
        /// There is no identity yet: the call ends with ``Outcome/wantsIdentity``, and the next call asks again.
        case later
        /// The server does not have this name; the client gets the alert unrecognized_name (RFC 6066 §3).
        case refused
    }

    /// Begins as a server that chooses its identity by the name that the client asks for.
    ///
    /// - Parameters:
    ///   - early: bytes of the client that were read before.
    ///   - choose: called during the handshake, once or several times, with the name in the ClientHello; nil if it has
    ///     none.
    /// - Throws: `.library` if memory is short.
    package convenience init(
        _ context: TLSServerContext, over carrier: Carrier, behind early: [UInt8],
        choosing choose: @escaping (_ serverName: String?) -> IdentityChoice
    ) throws(TrustError) {
        try self.init(of: context.pointer, keeping: context, over: carrier)
        SSL_set_accept_state(self.pointer)
        self.choose = choose
        // Valid as long as the connection, since both end with this object.
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
    ///   - host: the name or address that the server must prove; a name is also sent to it.
    ///   - protocols: the protocols to offer, by their ALPN names (RFC 7301), the best first.
    ///   - session: a session of an earlier connection to this host under this policy.
    ///   - report: called with the verdict once per full handshake, and again if a stapled status is refused.
    ///   - decide: the program's own decision, asked before the policy. Default: the policy decides.
    ///   - identity: called if the server asks for a certificate. Default: none is sent.
    /// - Throws: `.library` if OpenSSL cannot make the offer.
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
        // Before the policy is installed, since it may demand more.
        try HandshakeOffer(protocols: protocols).apply(to: context)
        evaluator.install(on: context, host: host, report: report, decide: decide, identity: identity)
        try self.init(of: context, keeping: nil, over: carrier)
        // RFC 6066 §3: an address is no server name, and a name has no trailing dot.
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if IPAddressName(host: name) == nil { pintle_ssl_set_server_name(self.pointer, name) }
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
            // Both end with this object.
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
        // Marks the connection as ended in TLS. Otherwise OpenSSL discards its session too, which RFC 8446 §6.1 does not
        // demand.
        if self.failure == nil { SSL_set_shutdown(self.pointer, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(self.pointer)
        OpenSSLErrors.clear()
    }

    /// The carrier of a connection's records.
    package enum Carrier {
        /// A connected, non-blocking descriptor, which its owner closes.
        case socket(Int32)
        /// Another TLS connection, which is established.
        case stream(TLSConnection)
    }

    /// True if the handshake is complete.
    package var isEstablished: Bool { SSL_is_init_finished(self.pointer) == 1 }

    /// The settings that the handshake agreed on; nil before its end.
    package var negotiated: NegotiatedTLS? { self.isEstablished ? NegotiatedTLS(self.pointer) : nil }

    /// True if the verdict that the connection, or the session that it resumed, began with holds at a moment
    /// (``Verdict/end``). Only for clients.
    package func isTrusted(at moment: UnixTime) -> Bool { VerdictEnd.holds(on: self.pointer, at: moment) }

    /// The name that the client asked for in its handshake (RFC 6066 §3); nil if it named none. Only for servers.
    package var serverName: String? { PintleTrust.serverName(of: self.pointer) }

    /// The session, for later connections; nil if the server has not said how to resume it.
    package var session: TLSSession? {
        guard let pointer = SSL_get1_session(self.pointer) else { return nil }
        let session = TLSSession(pointer)
        return SSL_SESSION_is_resumable(pointer) == 1 ? session : nil
    }

    /// True if a session was resumed, in which case no certificate was judged.
    package var isResumed: Bool { SSL_session_reused(self.pointer) == 1 }

    /// Continues the handshake as far as possible.
    ///
    /// - Returns: `end` if the handshake is complete.
    package func shakeHands() -> Outcome {
        if let failure { return .failed(failure) }
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_do_handshake(self.pointer)
        guard result == 1 else { return self.outcome(of: result) }
        self.wasEstablished = true
        return .end
    }

    /// Copies bytes that have been received, and leaves them to be read.
    package func peek(into space: UnsafeMutableRawBufferPointer) -> Outcome {
        if let failure { return .failed(failure) }
        var count = 0
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_peek_ex(self.pointer, space.baseAddress, space.count, &count)
        return result == 1 ? .bytes(count) : self.outcome(of: result)
    }

    /// True to read all received bytes from the socket at once, up to ``aheadCapacity``, instead of record after record
    /// with two system calls for each. Records that were read ahead wait here, where epoll does not report them.
    package var readsAhead = false {
        didSet {
            guard self.readsAhead != oldValue else { return }
            SSL_set_read_ahead(self.pointer, self.readsAhead ? 1 : 0)
            SSL_set_default_read_buffer_len(self.pointer, self.readsAhead ? Self.aheadCapacity : 0)
        }
    }

    /// Size in bytes. OpenSSL has such a buffer only while it is not empty (`SSL_MODE_RELEASE_BUFFERS`).
    private static let aheadCapacity = 128 * 1024

    /// True if bytes wait that were read from the socket, of any kind.
    package var hasWaiting: Bool { SSL_has_pending(self.pointer) == 1 }

    private func allowLooks() {
        self.looks = Self.mostLooks
        self.outer?.allowLooks()
    }

    /// Reads bytes that have been received.
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

    /// Reads records as long as there is room for a whole one. Stops after a record that is not full: often it was the last
    /// one, and to try again would cost a system call for each message.
    ///
    /// - Returns: the number of bytes; and `bytes` if there may be more, otherwise the reason why not, perhaps after some
    ///   bytes.
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

    /// Sends the beginning of `bytes`, which must not be empty. After `wantsRead` or `wantsWrite`, the next call must pass
    /// these bytes again; they may be at another address, and more may follow them.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        if let failure { return .failed(failure) }
        var count = 0
        OpenSSLErrors.clear()
        self.allowLooks()
        let result = SSL_write_ex(self.pointer, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .bytes(count) }
        let outcome = self.outcome(of: result)
        // A peer that closed may have sent its reason before, so reading stays possible.
        if case .failed(let failure) = outcome, case .broken = failure.reason { self.failure = nil }
        return outcome
    }

    /// Tells the peer that no more bytes follow (RFC 8446 §6.1). Bytes that it still sends can be read.
    ///
    /// - Returns: `end` if that is done, or if it cannot be sent because there is no connection.
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
            if (1...255).contains(alert) { return self.fail(self.reason(for: TLSAlert(code: UInt8(alert)))) }
            if ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING { return self.fail(.cutOff) }
            return self.fail(.misbehaved(OpenSSLErrors.drain() ?? "OpenSSL gives no reason"))
        }
    }

    /// Up to TLS 1.2 a server sends handshake_failure on an open connection only if it wanted another handshake: a client that refuses
    /// one answers with a warning, which OpenSSL's servers, such as Apache, take for the end (RFC 5246 §7.2.2, no_renegotiation).
    private func reason(for alert: TLSAlert) -> TLSFailure.Reason {
        let isOnOpenConnection = self.wasEstablished && SSL_version(self.pointer) < TLSVersion.tls13.openSSLNumber
        return self.context == nil && isOnOpenConnection && alert == .handshakeFailure
            ? .wantedRenegotiation : .alert(alert)
    }

    /// Switches to the socket after the early bytes are used up. Epoll reports it as usual.
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

/// OpenSSL's `cert_cb` (SSL_CTX_set_cert_cb(3)): 1 continues, 0 fails, and -1 waits.
private func chooseIdentity(connection: OpaquePointer?, argument: UnsafeMutableRawPointer?) -> CInt {
    guard let connection, let argument else { return 0 }
    let owner = Unmanaged<TLSConnection>.fromOpaque(argument).takeUnretainedValue()
    switch owner.choose?(serverName(of: connection)) {
    case .identity(let identity)?: return identity.isInstalled(onConnection: connection) ? 1 : 0
    case .later?: return -1
    case .refused?, nil: return 0
    }
}

/// OpenSSL's callback for the server name. It is called before `cert_cb`, and can choose the alert that ends a handshake.
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

/// Tells OpenSSL that there are no bytes for now, once it has read often enough in this call (BIO_set_callback_ex(3)).
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
