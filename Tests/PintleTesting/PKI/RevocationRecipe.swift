// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
package import PintleTrust

/// All details of a revocation list; begins as a current one that revokes no certificate.
package struct RevocationRecipe: Sendable {
    package var revoked: [Certificate] = []
    package var validity: TestPKI.Validity = .current
    /// The digest that the authority signs, by OpenSSL's name.
    package var digest = "SHA256"
    /// An extension of each entry, in the syntax of `extensions`; nil for none.
    package var entryExtension: (name: String, value: String)?
    /// Extensions by OpenSSL's names or by object identifiers; begins with the list's number.
    package var extensions: [(name: String, value: String)] = [("2.5.29.20", "DER:020107")]

    package init(revoking revoked: [Certificate] = []) {
        self.revoked = revoked
    }
}

extension TestPKI {
    /// Mints a list of an authority.
    ///
    /// - Parameter key: the identity whose key signs the list; the authority by default.
    package func revocationList(
        _ recipe: RevocationRecipe, of authority: TestIdentity, signedWith key: TestIdentity? = nil
    ) throws -> RevocationList {
        ERR_clear_error()
        guard let draft = X509_CRL_new() else { throw TestPKIError("X509_CRL_new") }
        defer { X509_CRL_free(draft) }
        let issuer = try MintRequest.parse(authority.certificate.der)
        defer { X509_free(issuer) }
        X509_CRL_set_version(draft, 1)
        X509_CRL_set_issuer_name(draft, X509_get_subject_name(issuer))
        let (from, to) = self.window(of: recipe.validity)
        try Self.with(from) { X509_CRL_set1_lastUpdate(draft, $0) }
        try Self.with(to) { X509_CRL_set1_nextUpdate(draft, $0) }
        for certificate in recipe.revoked {
            let parsed = try MintRequest.parse(certificate.der)
            defer { X509_free(parsed) }
            // The list owns the entry once it is added.
            guard let entry = X509_REVOKED_new() else { throw TestPKIError("X509_REVOKED_new") }
            X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(parsed))
            try Self.with(from) { X509_REVOKED_set_revocationDate(entry, $0) }
            if let item = recipe.entryExtension {
                guard let made = X509V3_EXT_conf(nil, nil, item.name, item.value) else {
                    throw TestPKIError("X509V3_EXT_conf(\(item.name))")
                }
                defer { X509_EXTENSION_free(made) }
                guard X509_REVOKED_add_ext(entry, made, -1) == 1 else { throw TestPKIError("X509_REVOKED_add_ext") }
            }
            guard X509_CRL_add0_revoked(draft, entry) == 1 else { throw TestPKIError("X509_CRL_add0_revoked") }
        }
        for item in recipe.extensions {
            guard let made = X509V3_EXT_conf(nil, nil, item.name, item.value) else {
                throw TestPKIError("X509V3_EXT_conf(\(item.name))")
            }
            defer { X509_EXTENSION_free(made) }
            X509_CRL_add_ext(draft, made, -1)
        }
        X509_CRL_sort(draft)
        let signer = try TestKey(of: key ?? authority)
        let digest = EVP_get_digestbyname(recipe.digest)
        let isSigned = withExtendedLifetime(signer) { X509_CRL_sign(draft, signer.pointer, digest) > 0 }
        guard isSigned else { throw TestPKIError("X509_CRL_sign") }
        var buffer: UnsafeMutablePointer<UInt8>?
        let length = i2d_X509_CRL(draft, &buffer)
        guard length > 0, let buffer else { throw TestPKIError("i2d_X509_CRL") }
        defer { pintle_openssl_free(buffer) }
        return try RevocationList(
            der: Array(UnsafeBufferPointer(start: buffer, count: Int(length))), file: "minted list")
    }

    private static func with(_ moment: UnixTime, _ body: (UnsafeMutablePointer<ASN1_TIME>) -> CInt) throws {
        guard let time = ASN1_TIME_set(nil, time_t(moment.seconds)) else { throw TestPKIError("ASN1_TIME_set") }
        defer { ASN1_TIME_free(time) }
        guard body(time) == 1 else { throw TestPKIError("a date") }
    }
}
