// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A TLS session that a client can resume.
package final class TLSSession {
    let pointer: OpaquePointer

    /// Takes over a reference to the session.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { SSL_SESSION_free(self.pointer) }
}
