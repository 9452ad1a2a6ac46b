// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import PintleTrust

/// The contents of a certificate to be minted.
struct MintRequest {
    struct Extension {
        enum Kind {
            case basicConstraints, keyUsage, extendedKeyUsage, subjectAltName, subjectKeyIdentifier
            case authorityKeyIdentifier, nameConstraints
            /// Any other extension, by OpenSSL's name or by its object identifier, such as `1.2.3.4`.
            case named(String)
        }

        let kind: Kind
        /// The syntax is that of OpenSSL's x509v3_config(5).
        let value: String

        init(_ kind: Kind, _ value: String) {
            self.kind = kind
            self.value = value
        }

        fileprivate var name: String {
            let number: CInt? = self.number
            guard let number, let name = OBJ_nid2sn(number) else {
                if case .named(let name) = self.kind { return name }
                return ""
            }
            return String(cString: name)
        }

        private var number: CInt? {
            switch self.kind {
            case .named: nil
            case .basicConstraints: NID_basic_constraints
            case .keyUsage: NID_key_usage
            case .extendedKeyUsage: NID_ext_key_usage
            case .subjectAltName: NID_subject_alt_name
            case .subjectKeyIdentifier: NID_subject_key_identifier
            case .authorityKeyIdentifier: NID_authority_key_identifier
            case .nameConstraints: NID_name_constraints
            }
        }
    }

    let commonName: String?
    let validity: TestPKI.Validity
    let extensions: [Extension]
    /// 1, 2 or 3.
    var version = 3
    /// Hexadecimal, with a sign if negative; nil makes one up.
    var serial: String?
    /// OpenSSL's name of the digest that is signed.
    var digest = "SHA256"
    /// True if a certificate that is not self-signed names its signer's key.
    var namesIssuerKey = true
    /// The attributes before the common name.
    var nameParts: [CertificateRecipe.NamePart] = []
    /// A SubjectPublicKeyInfo in DER in place of the key's own.
    var certifiedKey: [UInt8]?

    /// - Parameter signer: the identity that signs; nil for a self-signed certificate.
    func certificate(
        key: TestKey, signer: TestIdentity?, from: UnixTime, to: UnixTime
    ) throws -> Certificate {
        ERR_clear_error()
        guard let draft = X509_new() else { throw TestPKIError("X509_new") }
        defer { X509_free(draft) }
        let issuer = try signer.map { try Self.parse($0.certificate.der) }
        defer { X509_free(issuer) }

        X509_set_version(draft, self.version - 1)
        try self.number(draft)
        ASN1_TIME_set(X509_getm_notBefore(draft), time_t(from.seconds))
        ASN1_TIME_set(X509_getm_notAfter(draft), time_t(to.seconds))
        try self.nameSubject(of: draft)
        X509_set_issuer_name(draft, X509_get_subject_name(issuer ?? draft))
        try self.certify(key, in: draft)

        for item in self.extensions { try Self.add(item, to: draft, issuer: issuer ?? draft) }
        if let issuer, self.namesIssuerKey, X509_get0_subject_key_id(issuer) != nil {
            try Self.add(Extension(.authorityKeyIdentifier, "keyid"), to: draft, issuer: issuer)
        }

        let signingKey = try signer.map(TestKey.init(of:)) ?? key
        let digest = signingKey.needsDigest ? EVP_get_digestbyname(self.digest) : nil
        let isSigned = withExtendedLifetime(signingKey) { X509_sign(draft, signingKey.pointer, digest) > 0 }
        guard isSigned else { throw TestPKIError("X509_sign") }
        return try Certificate(der: try Self.encode(draft))
    }

    private func certify(_ key: TestKey, in draft: OpaquePointer) throws {
        guard let certifiedKey else {
            X509_set_pubkey(draft, key.pointer)
            return
        }
        // Set without a check, since bytes that are no key must be certifiable, too.
        let parsed = certifiedKey.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509_PUBKEY(nil, &cursor, bytes.count)
        }
        defer { X509_PUBKEY_free(parsed) }
        guard let parsed, pintle_x509_pubkey_copy(X509_get_X509_PUBKEY(draft), parsed) == 1 else {
            throw TestPKIError("X509_PUBKEY_set0_param")
        }
        // The failed attempt to decode the key is no error of the minting.
        ERR_clear_error()
    }

    private func number(_ draft: OpaquePointer) throws {
        guard let serial = self.serial else {
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(draft), UInt64.random(in: 1...UInt64(Int64.max)))
            return
        }
        var number: OpaquePointer?
        guard BN_hex2bn(&number, serial) > 0 else { throw TestPKIError("BN_hex2bn") }
        defer { BN_free(number) }
        guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(draft)) != nil else {
            throw TestPKIError("BN_to_ASN1_INTEGER")
        }
    }

    private func nameSubject(of draft: OpaquePointer) throws {
        for part in self.nameParts {
            let bytes = part.bytes
            guard
                X509_NAME_add_entry_by_txt(
                    X509_get_subject_name(draft), part.attribute, part.form.tag, bytes, CInt(bytes.count), -1, 0) == 1
            else { throw TestPKIError("X509_NAME_add_entry_by_txt(\(part.attribute))") }
        }
        guard let commonName = self.commonName else { return }
        let text = Array(commonName.utf8)
        guard
            X509_NAME_add_entry_by_NID(
                X509_get_subject_name(draft), NID_commonName, MBSTRING_UTF8, text, CInt(text.count), -1, 0) == 1
        else { throw TestPKIError("X509_NAME_add_entry_by_NID") }
    }

    private static func add(_ item: Extension, to draft: OpaquePointer, issuer: OpaquePointer?) throws {
        var context = X509V3_CTX()
        pintle_x509v3_set_context(&context, issuer, draft)
        guard let made = X509V3_EXT_conf(nil, &context, item.name, item.value) else {
            throw TestPKIError("X509V3_EXT_conf(\(item.name) = \(item.value))")
        }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(draft, made, -1) == 1 else { throw TestPKIError("X509_add_ext") }
    }

    /// The caller frees the result.
    static func parse(_ der: [UInt8]) throws -> OpaquePointer {
        let parsed = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509(nil, &cursor, bytes.count)
        }
        guard let parsed else { throw TestPKIError("d2i_X509") }
        return parsed
    }

    static func encode(_ draft: OpaquePointer) throws -> [UInt8] {
        var buffer: UnsafeMutablePointer<UInt8>?
        let length = i2d_X509(draft, &buffer)
        guard length > 0, let buffer else { throw TestPKIError("i2d_X509") }
        defer { pintle_openssl_free(buffer) }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
    }
}
