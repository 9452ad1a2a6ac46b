// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The offer of a client in its hello, which decides the certificate that a server with several ones answers with.
package struct HandshakeOffer: Sendable, Hashable {
    /// The kinds of keys that the server's certificate may have.
    package enum Keys: String, Sendable, Hashable, CaseIterable {
        /// All kinds that OpenSSL offers.
        case any
        /// RSA, with PSS and PKCS #1 signatures.
        case rsa
        /// Elliptic curves: ECDSA, and EdDSA, which shares its cipher suites in TLS 1.2 (RFC 8422 §2.1).
        case ecdsa
    }

    /// The versions that are offered. Default: TLS 1.2 and 1.3.
    package var versions: ClosedRange<TLSVersion>
    /// The kinds of keys that are offered. Default: any.
    package var keys: Keys
    /// Protocols to offer by ALPN (RFC 7301), 1 to 255 bytes each; empty offers none. Default: none.
    package var protocols: [String]

    package init(
        versions: ClosedRange<TLSVersion> = .tls12 ... .tls13, keys: Keys = .any, protocols: [String] = []
    ) {
        self.versions = versions
        self.keys = keys
        self.protocols = protocols
    }

    /// Puts the offer into an `SSL_CTX *`.
    ///
    /// - Throws: `.library` if this machine's OpenSSL cannot make the offer.
    func apply(to context: OpaquePointer) throws(TrustError) {
        OpenSSLErrors.clear()
        // OpenSSL accepts the versions that RFC 8996 forbids only at security level 0, which allows everything. The demands
        // on certificates are the evaluator's, which never goes that low.
        let isForbidden = self.versions.lowerBound < .tls12
        if isForbidden { SSL_CTX_set_security_level(context, 0) }
        guard pintle_ssl_ctx_set_oldest_version(context, self.versions.lowerBound.openSSLNumber) == 1,
            pintle_ssl_ctx_set_newest_version(context, self.versions.upperBound.openSSLNumber) == 1
        else { throw OpenSSLErrors.failure(of: "SSL_CTX_set_min_proto_version") }
        try Self.preferShortKeys(in: context)
        if let ciphers = self.ciphers(withForbidden: isForbidden) {
            guard SSL_CTX_set_cipher_list(context, ciphers) == 1 else {
                throw OpenSSLErrors.failure(of: "SSL_CTX_set_cipher_list")
            }
        }
        if let algorithms = self.signatureAlgorithms {
            guard pintle_ssl_ctx_set_signature_algorithms(context, algorithms) == 1 else {
                throw OpenSSLErrors.failure(of: "SSL_CTX_set1_sigalgs_list")
            }
        }
        let names = self.protocols.flatMap { [UInt8(clamping: $0.utf8.count)] + $0.utf8 }
        guard names.isEmpty || SSL_CTX_set_alpn_protos(context, names, CUnsignedInt(names.count)) == 0 else {
            throw OpenSSLErrors.failure(of: "SSL_CTX_set_alpn_protos")
        }
    }

    /// Puts AES with keys of 128 bits first for TLS 1.3, as browsers do: it cannot be broken either, and takes 10 rounds
    /// instead of 14. Suites that the system's configuration does not allow stay out.
    private static func preferShortKeys(in context: OpaquePointer) throws(TrustError) {
        var suites: [String] = []
        for index in 0..<pintle_ssl_ctx_cipher_count(context) {
            let suite = pintle_ssl_ctx_cipher(context, index)
            guard String(cString: SSL_CIPHER_get_version(suite)) == "TLSv1.3" else { break }
            suites.append(String(cString: SSL_CIPHER_get_name(suite)))
        }
        guard let place = suites.firstIndex(of: "TLS_AES_128_GCM_SHA256"), place > 0 else { return }
        suites.insert(suites.remove(at: place), at: 0)
        guard SSL_CTX_set_ciphersuites(context, suites.joined(separator: ":")) == 1 else {
            throw OpenSSLErrors.failure(of: "SSL_CTX_set_ciphersuites")
        }
    }

    /// Returns the cipher suites for TLS 1.2 and older, in which the suite decides the kind of key that signs; nil for
    /// OpenSSL's own.
    private func ciphers(withForbidden isForbidden: Bool) -> String? {
        let level = isForbidden ? ":@SECLEVEL=0" : ""
        switch self.keys {
        case .any: return isForbidden ? "DEFAULT\(level)" : nil
        case .rsa: return "aRSA:!eNULL:!SRP:!PSK\(level)"
        case .ecdsa: return "aECDSA:!eNULL:!SRP:!PSK\(level)"
        }
    }

    private var signatureAlgorithms: String? {
        switch self.keys {
        case .any: nil
        case .rsa:
            "rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:rsa_pkcs1_sha256:rsa_pkcs1_sha384:"
                + "rsa_pkcs1_sha512:rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512"
        case .ecdsa: "ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:ecdsa_secp521r1_sha512:ed25519:ed448"
        }
    }
}
