// SPDX-License-Identifier: Apache-2.0

/// A certificate down to its details, for tests of what each of them means; begins as one of good form.
package struct CertificateRecipe: Sendable {
    /// Nil for an empty subject.
    package var commonName: String?
    /// What stands in front of the common name.
    package var nameParts: [NamePart] = []
    package var validity: TestPKI.Validity = .current
    package var key: TestPKI.KeyKind = .ec
    /// A SubjectPublicKeyInfo in DER that is certified in place of the key's own, whether anybody has its other half or
    /// not; nil certifies the key.
    package var certifiedKey: [UInt8]?
    /// Extensions by OpenSSL's names or by numbers, with values as in x509v3_config(5); `DER:` and hexadecimal digits
    /// for any content.
    package var extensions: [(name: String, value: String)]
    /// 1, 2 or 3.
    package var version = 3
    /// In hexadecimal, with a sign where it is negative; nil makes one up.
    package var serial: String?
    /// What the signer signs, as `SHA256`.
    package var digest = "SHA256"
    /// Whether what is not self-signed names its signer's key.
    package var namesIssuerKey = true

    /// An attribute of a subject in a string type of its own.
    package struct NamePart: Sendable {
        package enum Form: Sendable, CaseIterable {
            case utf8, printable, teletex, bmp, universal
        }

        /// OpenSSL's short name, as `O`.
        package let attribute: String
        package let text: String
        package let form: Form

        package init(_ attribute: String, _ text: String, _ form: Form) {
            self.attribute = attribute
            self.text = text
            self.form = form
        }
    }

    /// An authority.
    package static func authority(_ commonName: String) -> CertificateRecipe {
        CertificateRecipe(
            commonName: commonName,
            extensions: [
                ("basicConstraints", "critical,CA:TRUE"), ("keyUsage", "critical,keyCertSign,cRLSign"),
                ("subjectKeyIdentifier", "hash"),
            ])
    }

    /// A server's certificate.
    package static func server(_ names: String, commonName: String? = "server") -> CertificateRecipe {
        CertificateRecipe(
            commonName: commonName,
            extensions: [
                ("basicConstraints", "critical,CA:FALSE"), ("keyUsage", "critical,digitalSignature"),
                ("extendedKeyUsage", "serverAuth"), ("subjectKeyIdentifier", "hash"), ("subjectAltName", names),
            ])
    }

    /// The same with another value for an extension, in its place or at the end; nil leaves the extension out.
    package func with(_ name: String, _ value: String?) -> CertificateRecipe {
        var copy = self
        let index = copy.extensions.firstIndex { $0.name == name }
        switch (index, value) {
        case (let index?, let value?): copy.extensions[index] = (name, value)
        case (let index?, nil): copy.extensions.remove(at: index)
        case (nil, let value?): copy.extensions.append((name, value))
        case (nil, nil): break
        }
        return copy
    }

    /// The same with a detail changed.
    package func changed(_ change: (inout CertificateRecipe) -> Void) -> CertificateRecipe {
        var copy = self
        change(&copy)
        return copy
    }
}

extension TestPKI {
    /// Mints by a recipe.
    ///
    /// - Parameters:
    ///   - signer: nil makes the certificate sign itself.
    ///   - reusing: an identity whose key the new certificate takes over.
    package func mint(
        _ recipe: CertificateRecipe, signedBy signer: TestIdentity? = nil, reusing existing: TestIdentity? = nil
    ) throws -> TestIdentity {
        let request = MintRequest(
            commonName: recipe.commonName, validity: recipe.validity,
            extensions: recipe.extensions.map { .init(.named($0.name), $0.value) }, version: recipe.version,
            serial: recipe.serial, digest: recipe.digest, namesIssuerKey: recipe.namesIssuerKey,
            nameParts: recipe.nameParts,
            certifiedKey: recipe.certifiedKey)
        return try self.mint(request, key: existing.map(TestKey.init(of:)) ?? TestKey(recipe.key), signer: signer)
    }
}
