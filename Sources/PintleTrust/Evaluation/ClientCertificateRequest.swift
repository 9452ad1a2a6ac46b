// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A server's request, during a handshake, for a certificate of the client (RFC 8446 §4.3.2).
public struct ClientCertificateRequest: Sendable, Hashable {
    /// The DNS name or IP address that the client connects to.
    public let host: String
    /// The authorities whose certificates the server accepts, in its order, each in the form `CN=Staff,O=Example` (RFC
    /// 4514). Empty if it names none, as servers may.
    public let authorities: [String]

    init(host: String, connection: OpaquePointer) {
        let names = SSL_get0_peer_CA_list(connection)
        self.host = host
        self.authorities = (0..<max(0, pintle_x509_name_stack_count(names))).map { index in
            X509View.text(of: pintle_x509_name_stack_value(names, index))
        }
    }
}
