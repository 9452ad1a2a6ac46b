// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc

/// A certificate that is being built (RFC 5280 §4.1), until it is signed.
struct CertificateDraft: ~Copyable {
    private let pointer: OpaquePointer

    /// Begins a certificate of version 3, with a random serial number that cannot be guessed.
    ///
    /// - Parameters:
    ///   - commonName: the common name of the subject; nil for none.
    ///   - key: the key that the certificate is for.
    ///   - validity: the period from the first to the last moment.
    /// - Throws: `.library` if OpenSSL fails.
    init(
        commonName: String?, key: borrowing PrivateKey, validity: ClosedRange<UnixTime>
    ) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let pointer = X509_new() else { throw OpenSSLErrors.failure(of: "X509_new") }
        guard Self.fill(pointer, commonName, key.pointer, validity) else {
            X509_free(pointer)
            throw OpenSSLErrors.failure(of: "X509_set_pubkey")
        }
        self.pointer = pointer
    }

    private static func fill(
        _ draft: OpaquePointer, _ commonName: String?, _ key: OpaquePointer, _ validity: ClosedRange<UnixTime>
    ) -> Bool {
        // Not negative, not zero, and 126 random bits (§4.1.2.2 allows 20 bytes).
        let serial = withUnsafeBytes(of: UInt128.random(in: (1 << 126)..<(1 << 127)).bigEndian, Array.init)
        let number = BN_bin2bn(serial, CInt(serial.count), nil)
        defer { BN_free(number) }
        guard
            X509_set_version(draft, 2) == 1, BN_to_ASN1_INTEGER(number, X509_get_serialNumber(draft)) != nil,
            ASN1_TIME_set(X509_getm_notBefore(draft), time_t(validity.lowerBound.seconds)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(draft), time_t(validity.upperBound.seconds)) != nil,
            X509_set_pubkey(draft, key) == 1
        else { return false }
        guard let commonName else { return true }
        let text = Array(commonName.utf8)
        let name = X509_get_subject_name(draft)
        return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, text, CInt(text.count), -1, 0) == 1
    }

    deinit { X509_free(self.pointer) }

    /// Adds an extension.
    ///
    /// - Parameters:
    ///   - identifier: OpenSSL's number (NID) of the extension.
    ///   - value: the value in DER.
    func add(_ identifier: CInt, critical: Bool = false, _ value: [UInt8]) throws(TrustError) {
        let octets = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(octets) }
        guard ASN1_OCTET_STRING_set(octets, value, CInt(value.count)) == 1 else {
            throw OpenSSLErrors.failure(of: "ASN1_OCTET_STRING_set")
        }
        let made = X509_EXTENSION_create_by_NID(nil, identifier, critical ? 1 : 0, octets)
        defer { X509_EXTENSION_free(made) }
        guard let made, X509_add_ext(self.pointer, made, -1) == 1 else {
            throw OpenSSLErrors.failure(of: "X509_add_ext")
        }
    }

    /// Adds the subjectKeyIdentifier, which an issuer's certificate must have for verifiers that are strict about RFC 5280
    /// §4.2.1.2.
    ///
    /// - Returns: the identifier: the SHA-1 of the key's bits, which only serves as a name and secures nothing.
    func addKeyIdentifier() throws(TrustError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: CUnsignedInt = 0
        guard X509_pubkey_digest(self.pointer, EVP_sha1(), &digest, &count) == 1 else {
            throw OpenSSLErrors.failure(of: "X509_pubkey_digest")
        }
        let identifier = Array(digest.prefix(Int(count)))
        try self.add(NID_subject_key_identifier, DERWriter.octets(identifier))
        return identifier
    }

    /// Adds the identifier of the key that signs the certificate (RFC 5280 §4.2.1.1).
    func add(issuerKeyIdentifier identifier: [UInt8]) throws(TrustError) {
        try self.add(NID_authority_key_identifier, DERWriter.sequence(DERWriter.value(0x80, identifier)))
    }

    /// Signs the certificate, with SHA-256 if the key needs a digest.
    ///
    /// - Parameter issuer: an `X509_NAME`; nil if the certificate signs itself.
    /// - Returns: the certificate as an object, not as bytes: OpenSSL 3.0 takes longer to parse one than to sign it.
    consuming func signed(by key: borrowing PrivateKey, as issuer: OpaquePointer?) throws(TrustError) -> X509Handle {
        let name = issuer ?? X509_get_subject_name(self.pointer)
        let digest = Self.needsDigest(key) ? EVP_sha256() : nil
        guard X509_set_issuer_name(self.pointer, name) == 1, X509_sign(self.pointer, key.pointer, digest) > 0 else {
            throw OpenSSLErrors.failure(of: "X509_sign")
        }
        return X509Handle(sharing: self.pointer)
    }

    /// True if the key needs a digest; false for Ed25519 and similar ones, which digest by themselves.
    private static func needsDigest(_ key: borrowing PrivateKey) -> Bool {
        var name = [CChar](repeating: 0, count: 32)
        let isKnown = EVP_PKEY_get_default_digest_name(key.pointer, &name, name.count) > 0
        return !isKnown || name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)) != Array("UNDEF".utf8)
    }
}
