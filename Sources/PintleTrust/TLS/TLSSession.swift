// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A session of TLS that a client can resume.
package final class TLSSession {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { SSL_SESSION_free(self.pointer) }
}
