// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// What an established TLS connection says of itself, and what it is told past who made it.
package enum TLSConnection {
    /// Its protocol version, such as `TLSv1.3`.
    ///
    /// - Parameter ssl: an `SSL *` whose handshake is complete.
    package static func version(of ssl: OpaquePointer) -> String { String(cString: SSL_get_version(ssl)) }

    /// Whether HTTP/2 was agreed on.
    package static func speaksHTTP2(_ ssl: OpaquePointer) -> Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
    }

    /// Whether the verdict that the connection, or the session that it resumed, began with holds at a moment
    /// (``Verdict/end``).
    package static func isTrusted(_ ssl: OpaquePointer, at moment: UnixTime) -> Bool {
        VerdictEnd.holds(on: ssl, at: moment)
    }

    /// Whether bytes were received and deciphered that nobody has read.
    package static func hasUnread(_ ssl: OpaquePointer) -> Bool { SSL_pending(ssl) > 0 }

    /// Whether a newest version was set for connections of a context; without one it is the library's.
    ///
    /// - Parameter sslContext: an `SSL_CTX *`.
    package static func isLimited(_ sslContext: OpaquePointer) -> Bool {
        pintle_ssl_ctx_newest_version(sslContext) != 0
    }

    /// Lets connections of an `SSL_CTX` take a record at a time, from wherever the rest lies by then.
    package static func allowPartialWrites(in sslContext: OpaquePointer) {
        let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(sslContext, SSL_CTRL_MODE, Int(mode), nil)
    }

    /// Sends close_notify (RFC 8446 §6.1); reading goes on.
    ///
    /// The alert is written to the socket itself, past the BIO of the connection's owner, which may be used by the owner
    /// only. Nothing else is written after it.
    ///
    /// - Parameter socket: what the `SSL *` writes its records to, with nothing between.
    package static func finishSending(_ ssl: OpaquePointer, on socket: Int32) {
        guard let bio = BIO_new_socket(socket, BIO_NOCLOSE) else { return }
        OpenSSLErrors.clear()
        SSL_set0_wbio(ssl, bio)
        // What does not fit into the socket's buffer is lost; the end of the connection follows it in any case.
        SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }
}
