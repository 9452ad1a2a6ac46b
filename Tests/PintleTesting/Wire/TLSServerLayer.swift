// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import PintleTrust

/// The settings of a TLS server, prepared once: it secures any number of streams (``SocketStream/secure(as:)``), on any
/// thread.
package final class TLSServerSide: @unchecked Sendable {
    // Why @unchecked holds: the context is prepared in `init` and never changed, and OpenSSL guards what it caches in it.
    private let context: MemoryHandshake.ServerContext
    fileprivate var pointer: OpaquePointer { self.context.pointer }

    /// - Parameters:
    ///   - speaksHTTP2: true if `h2` is chosen for clients that offer it (RFC 7301); otherwise no protocol is chosen.
    ///   - speaksTLS13: false for TLS 1.2 at most, which has renegotiation.
    package init(_ identity: TestIdentity, speaksHTTP2: Bool = false, speaksTLS13: Bool = true) throws {
        self.context = try MemoryHandshake.ServerContext(
            identity, leaf: identity.certificate.der, sending: identity.chain)
        if !speaksTLS13 { pintle_ssl_ctx_set_newest_version(self.context.pointer, TLS1_2_VERSION) }
        guard speaksHTTP2 else { return }
        SSL_CTX_set_alpn_select_cb(
            self.context.pointer,
            { _, chosen, length, offered, count, _ in
                // Each name follows its length.
                var place = 0
                while let offered, place + 2 < Int(count) {
                    if offered[place] == 2, offered[place + 1] == UInt8(ascii: "h"),
                        offered[place + 2] == UInt8(ascii: "2")
                    {
                        chosen?.pointee = offered + place + 1
                        length?.pointee = 2
                        return SSL_TLSEXT_ERR_OK
                    }
                    place += Int(offered[place]) + 1
                }
                return SSL_TLSEXT_ERR_NOACK
            }, nil)
    }
}

/// The server's end of TLS, from bytes to bytes. It does not transport them itself, so one layer can lie within another.
final class TLSServerLayer: @unchecked Sendable {
    // Why @unchecked holds: it is used under the lock of its stream's layers.
    private let side: TLSServerSide
    private let pointer: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer

    init(_ side: TLSServerSide) throws {
        guard let pointer = SSL_new(side.pointer) else { throw TestPKIError("SSL_new") }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(pointer)
            throw TestPKIError("BIO_new")
        }
        // From here on the connection owns both.
        SSL_set_bio(pointer, input, output)
        SSL_set_accept_state(pointer)
        (self.side, self.pointer, self.input, self.output) = (side, pointer, input, output)
    }

    deinit { SSL_free(self.pointer) }

    var isEstablished: Bool { SSL_is_init_finished(self.pointer) == 1 }

    /// Takes received bytes, and returns the content in them.
    func open(_ bytes: [UInt8]) -> [UInt8] {
        ERR_clear_error()
        BIO_write(self.input, bytes, CInt(bytes.count))
        return Self.drain { SSL_read(self.pointer, $0, $1) }
    }

    /// Returns the bytes to send for `bytes`, after those that are to be sent in any case: handshake messages and alerts.
    func seal(_ bytes: [UInt8]) -> [UInt8] {
        ERR_clear_error()
        if !bytes.isEmpty { SSL_write(self.pointer, bytes, CInt(bytes.count)) }
        return self.takeOutput()
    }

    /// Asks the client for another handshake (RFC 5246 §7.4.1.1), in the bytes that are sent next.
    func renegotiate() {
        ERR_clear_error()
        SSL_renegotiate(self.pointer)
        SSL_do_handshake(self.pointer)
    }

    /// Returns the alert that no more will be sent.
    func farewell() -> [UInt8] {
        ERR_clear_error()
        if self.isEstablished { SSL_shutdown(self.pointer) }
        return self.takeOutput()
    }

    private func takeOutput() -> [UInt8] { Self.drain { BIO_read(self.output, $0, $1) } }

    private static func drain(_ read: (UnsafeMutableRawPointer, CInt) -> CInt) -> [UInt8] {
        var all: [UInt8] = []
        var space = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = space.withUnsafeMutableBytes { space in
                space.baseAddress.map { read($0, CInt(space.count)) } ?? 0
            }
            guard count > 0 else { return all }
            all += space[..<Int(count)]
        }
    }
}
