// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// What the two sides of a handshake agreed on.
package struct NegotiatedTLS: Sendable, Hashable {
    package let version: TLSVersion
    /// The suite by its IANA name, as `TLS_AES_128_GCM_SHA256`.
    package let cipher: String
    /// What the key exchange was calculated in, as `x25519`; nil where the server's RSA key took its place.
    package let group: String?
    /// How the server signed, as `RSA-PSS` or `ECDSA`; nil where it did not, or OpenSSL does not say.
    package let signature: String?
    /// The protocol that was chosen by ALPN.
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
