// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The settings that the two sides of a handshake agreed on.
package struct NegotiatedTLS: Sendable, Hashable {
    package let version: TLSVersion
    /// The IANA name of the cipher suite, for example `TLS_AES_128_GCM_SHA256`.
    package let cipher: String
    /// The group of the key exchange, for example `x25519`; nil if the server's RSA key was used instead.
    package let group: String?
    /// The kind of the server's signature, for example `RSA-PSS` or `ECDSA`; nil if it did not sign, or OpenSSL does not
    /// say.
    package let signature: String?
    /// The protocol that was chosen by ALPN; nil if none was.
    package let applicationProtocol: String?

    /// - Parameter connection: an `SSL *` whose handshake is complete.
    init?(_ connection: OpaquePointer) {
        guard let version = TLSVersion(openSSLNumber: SSL_version(connection)),
            let cipher = SSL_get_current_cipher(connection)
        else { return nil }
        self.version = version
        self.cipher = SSL_CIPHER_standard_name(cipher).map { String(cString: $0) } ?? ""
        let group = pintle_ssl_negotiated_group(connection)
        self.group = group > 0 ? SSL_group_to_name(connection, group).map { String(cString: $0) } : nil
        var kind: CInt = 0
        self.signature = SSL_get_peer_signature_type_nid(connection, &kind) == 1 ? Self.name(ofSignature: kind) : nil
        var chosen: UnsafePointer<UInt8>?
        var length: CUnsignedInt = 0
        SSL_get0_alpn_selected(connection, &chosen, &length)
        self.applicationProtocol = chosen.map {
            String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self)
        }
    }

    private static func name(ofSignature kind: CInt) -> String? {
        switch kind {
        case NID_rsaEncryption: "RSA"
        case NID_rsassaPss: "RSA-PSS"
        case NID_X9_62_id_ecPublicKey: "ECDSA"
        case NID_ED25519: "Ed25519"
        case NID_ED448: "Ed448"
        default: OBJ_nid2sn(kind).map { String(cString: $0) }
        }
    }
}
