// SPDX-License-Identifier: Apache-2.0

/// All details of a certificate, for tests of what each of them means; begins as a well-formed certificate.
package struct CertificateRecipe: Sendable {
    /// Nil for an empty subject.
    package var commonName: String?
    /// The attributes before the common name.
    package var nameParts: [NamePart] = []
    package var validity: TestPKI.Validity = .current
    package var key: TestPKI.KeyKind = .ec
    /// A SubjectPublicKeyInfo in DER that is certified in place of the key's own, even if its private key is unknown; nil
    /// certifies the key.
    package var certifiedKey: [UInt8]?
    /// Extensions by OpenSSL's names or by object identifiers, with values as in x509v3_config(5); `DER:` and hexadecimal
    /// digits for any content.
    package var extensions: [(name: String, value: String)]
    /// 1, 2 or 3.
    package var version = 3
    /// Hexadecimal, with a sign if negative; nil makes one up.
    package var serial: String?
    /// The digest that is signed, by OpenSSL's name.
    package var digest = "SHA256"
    /// True if a certificate that is not self-signed names its signer's key.
    package var namesIssuerKey = true

    /// An attribute of a subject, in a chosen string type.
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

    /// Returns the recipe of an authority.
    package static func authority(_ commonName: String) -> CertificateRecipe {
        CertificateRecipe(
            commonName: commonName,
            extensions: [
                ("basicConstraints", "critical,CA:TRUE"), ("keyUsage", "critical,keyCertSign,cRLSign"),
                ("subjectKeyIdentifier", "hash"),
            ])
    }

    /// Returns the recipe of a server's certificate.
    package static func server(_ names: String, commonName: String? = "server") -> CertificateRecipe {
        CertificateRecipe(
            commonName: commonName,
            extensions: [
                ("basicConstraints", "critical,CA:FALSE"), ("keyUsage", "critical,digitalSignature"),
                ("extendedKeyUsage", "serverAuth"), ("subjectKeyIdentifier", "hash"), ("subjectAltName", names),
            ])
    }

    /// Returns a copy with another value for an extension, in its place or at the end; nil leaves the extension out.
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

    /// Returns a copy that names these policies, by their object identifiers in decimal.
    package func with(policies: [String]) -> CertificateRecipe {
        let list = policies.reduce(into: [UInt8]()) { list, policy in
            let identifier = Self.identifier(policy)
            // Each policy is a sequence that has its identifier; all are short.
            list += [0x30, UInt8(identifier.count + 2), 6, UInt8(identifier.count)] + identifier
        }
        let der: [UInt8] = [0x30, UInt8(list.count)] + list
        let digits = der.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return self.with("certificatePolicies", policies.isEmpty ? nil : "DER:\(digits)")
    }

    /// Returns the content of an object identifier.
    private static func identifier(_ text: String) -> [UInt8] {
        let arcs = text.split(separator: ".").compactMap { Int($0) }
        return ([arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2)).reduce(into: []) { bytes, number in
            let place = bytes.count
            bytes.append(UInt8(number & 0x7F))
            var rest = number >> 7
            while rest > 0 {
                bytes.insert(UInt8(rest & 0x7F) | 0x80, at: place)
                rest >>= 7
            }
        }
    }

    /// Returns a copy with a detail changed.
    package func changed(_ change: (inout CertificateRecipe) -> Void) -> CertificateRecipe {
        var copy = self
        change(&copy)
        return copy
    }
}

extension TestPKI {
    /// Mints a certificate by a recipe.
    ///
    /// - Parameters:
    ///   - signer: the identity that signs; nil for a self-signed certificate.
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
