// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
internal import PintleSystem

/// The server's half of one TLS connection over a non-blocking socket.
///
/// The first calls of ``read(into:)`` shake hands. Used by one thread at a time. The process must ignore SIGPIPE.
package final class TLSServerConnection {
    /// What became of an attempt.
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
        case failed(TLSServerFailure)
    }

    /// Keeps what its callbacks use.
    private let context: TLSServerContext
    private let pointer: OpaquePointer
    private var failure: TLSServerFailure?
    /// How often OpenSSL may still look for bytes in the call under way.
    fileprivate var looks = 0
    /// OpenSSL goes on while there are records, and looks twice for each: one that is in order has 16 KiB, and a hostile one a
    /// byte. Whoever sends many of those goes on in the next turn.
    private static let mostLooks = 512
    /// An error takes a connection back into its handshake, as OpenSSL counts.
    private var wasEstablished = false

    /// - Parameter descriptor: stays its owner's, who closes it after this object's last use.
    /// - Throws: `.library` when memory is short.
    package init(_ context: TLSServerContext, descriptor: Int32) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let pointer = SSL_new(context.pointer) else { throw OpenSSLErrors.failure(of: "SSL_new") }
        guard SSL_set_fd(pointer, descriptor) == 1 else {
            SSL_free(pointer)
            throw OpenSSLErrors.failure(of: "SSL_set_fd")
        }
        SSL_set_accept_state(pointer)
        self.context = context
        self.pointer = pointer
        let input = SSL_get_rbio(pointer)
        BIO_set_callback_ex(input, countLook)
        // Both go with this object.
        BIO_set_callback_arg(
            input,
            UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque()).assumingMemoryBound(to: CChar.self))
    }

    deinit {
        SSL_free(self.pointer)
        OpenSSLErrors.clear()
    }

    /// Whether the handshake is complete.
    package var isEstablished: Bool { SSL_is_init_finished(self.pointer) == 1 }

    /// What the handshake agreed on; nil before its end.
    package var negotiated: NegotiatedTLS? { self.isEstablished ? NegotiatedTLS(self.pointer) : nil }

    /// Takes in what has come.
    package func read(into space: UnsafeMutableRawBufferPointer) -> Outcome {
        if let failure { return .failed(failure) }
        var count = 0
        OpenSSLErrors.clear()
        self.looks = Self.mostLooks
        let result = SSL_read_ex(self.pointer, space.baseAddress, space.count, &count)
        guard result == 1 else { return self.outcome(of: result) }
        self.wasEstablished = true
        return .bytes(count)
    }

    /// Sends the beginning of `bytes`, which are not empty. After `wantsRead` and `wantsWrite` it must be asked with the
    /// same bytes again, which may be elsewhere, and more behind them.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        if let failure { return .failed(failure) }
        var count = 0
        OpenSSLErrors.clear()
        self.looks = Self.mostLooks
        let result = SSL_write_ex(self.pointer, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .bytes(count) : self.outcome(of: result)
    }

    /// Tells the peer that nothing more comes (RFC 8446 §6.1). What it still sends can be read.
    ///
    /// - Returns: `end` when that is done, also where it cannot be said because there is no connection.
    package func finishOutput() -> Outcome {
        guard self.failure == nil, self.isEstablished else { return .end }
        OpenSSLErrors.clear()
        self.looks = Self.mostLooks
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
            return self.fail(.misbehaved(OpenSSLErrors.drain() ?? "OpenSSL gives no reason"))
        }
    }

    private func fail(_ reason: TLSServerFailure.Reason) -> Outcome {
        let failure = TLSServerFailure(reason: reason, isOfHandshake: !self.wasEstablished)
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
    let connection = Unmanaged<TLSServerConnection>.fromOpaque(owner).takeUnretainedValue()
    connection.looks -= 1
    guard connection.looks < 0 else { return Int(result) }
    BIO_set_flags(input, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    return -1
}

/// Why a TLS connection with a client came to nothing.
package struct TLSServerFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: Sendable, Hashable {
        /// The client said so.
        case alert(TLSAlert)
        /// The socket is broken; `errno`.
        case broken(Int32)
        /// The client broke the protocol, or nothing that it offers will do: OpenSSL's words.
        case misbehaved(String)
    }

    package let reason: Reason
    /// Whether there was no connection yet.
    package let isOfHandshake: Bool

    package init(reason: Reason, isOfHandshake: Bool) {
        self.reason = reason
        self.isOfHandshake = isOfHandshake
    }

    /// What happened, in one line.
    package var description: String {
        switch self.reason {
        case .alert(let alert): "the client ended it with the alert \(alert)"
        case .broken(let code): "the connection broke: \(SystemError(code))"
        case .misbehaved(let words): words
        }
    }
}
