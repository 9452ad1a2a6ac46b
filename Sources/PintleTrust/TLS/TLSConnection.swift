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

    /// Begins as a server.
    ///
    /// - Parameter descriptor: stays its owner's, who closes it after this object's last use.
    /// - Throws: `.library` when memory is short.
    package convenience init(_ context: TLSServerContext, descriptor: Int32) throws(TrustError) {
        try self.init(of: context.pointer, keeping: context, over: .socket(descriptor))
        SSL_set_accept_state(self.pointer)
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
        case SSL_ERROR_WANT_READ: return .wantsRead
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

    private func fail(_ reason: TLSFailure.Reason) -> Outcome {
        let failure = TLSFailure(reason: reason, isOfHandshake: !self.wasEstablished, isOfServer: self.context == nil)
        OpenSSLErrors.clear()
        self.failure = failure
        return .failed(failure)
    }
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

/// Tells why a TLS connection came to nothing.
package struct TLSFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: Sendable, Hashable {
        /// The peer said so.
        case alert(TLSAlert)
        /// The peer has ended the connection without saying that it sends no more.
        case cutOff
        /// The socket is broken; `errno`.
        case broken(Int32)
        /// The peer broke the protocol, or nothing that it offers will do: OpenSSL's words.
        case misbehaved(String)
    }

    package let reason: Reason
    /// True where there was no connection yet.
    package let isOfHandshake: Bool
    /// True where the peer is a server.
    package let isOfServer: Bool

    package init(reason: Reason, isOfHandshake: Bool, isOfServer: Bool = false) {
        self.reason = reason
        self.isOfHandshake = isOfHandshake
        self.isOfServer = isOfServer
    }

    /// What happened, in one line.
    package var description: String {
        let peer = self.isOfServer ? "the server" : "the client"
        return switch self.reason {
        case .alert(let alert): "\(peer) ended it with the alert \(alert)"
        case .cutOff: "\(peer) cut it off"
        case .broken(let code): "the connection broke: \(SystemError(code))"
        case .misbehaved(let words): words
        }
    }
}

/// A session of TLS that a client can resume.
package final class TLSSession {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { SSL_SESSION_free(self.pointer) }
}
