// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// What an established TLS connection says of itself.
package enum TLSConnection {
    /// Its protocol version, such as `TLSv1.3`.
    ///
    /// - Parameter ssl: an `SSL *` whose handshake is complete.
    package static func version(of ssl: OpaquePointer) -> String { String(cString: SSL_get_version(ssl)) }
}
