// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A server's wish, during a handshake, to know who the client is (RFC 8446 §4.3.2).
public struct ClientCertificateRequest: Sendable, Hashable {
    /// The DNS name or IP address that was asked for.
    public let host: String
    /// The authorities whose certificates the server says it accepts, in its order, as `CN=Staff,O=Example` (RFC 4514).
    /// Empty when it names none, as servers may.
    public let authorities: [String]

    init(host: String, connection: OpaquePointer) {
        let names = SSL_get0_peer_CA_list(connection)
        self.host = host
        self.authorities = (0..<max(0, pintle_x509_name_stack_count(names))).map { index in
            X509View.text(of: pintle_x509_name_stack_value(names, index))
        }
    }
}
