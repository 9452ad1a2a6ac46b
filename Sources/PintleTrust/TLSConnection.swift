// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// What an established TLS connection says of itself.
package enum TLSConnection {
    /// Its protocol version, such as `TLSv1.3`.
    ///
    /// - Parameter ssl: an `SSL *` whose handshake is complete.
    package static func version(of ssl: OpaquePointer) -> String { String(cString: SSL_get_version(ssl)) }

    /// Whether a newest version was set for connections of a context; without one it is the library's.
    ///
    /// - Parameter sslContext: an `SSL_CTX *`.
    package static func isLimited(_ sslContext: OpaquePointer) -> Bool {
        pintle_ssl_ctx_newest_version(sslContext) != 0
    }
}
