// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Claims of a certificate that no path depends on.
extension Certificate {
    /// The algorithm of the signature, as OpenSSL names it: `RSA-SHA256`, `ecdsa-with-SHA384`; empty if it has no name.
    package var signatureAlgorithm: String {
        self.read { view in OBJ_nid2sn(X509_get_signature_nid(view.pointer)).map { String(cString: $0) } } ?? ""
    }

    /// The digest of the signature, if collisions of it can be made: `SHA-1`, `MD5`, `MD4` or `MD2`; else nil.
    package var brokenDigest: String? {
        self.read { view in
            var digest: CInt = 0
            guard X509_get_signature_info(view.pointer, &digest, nil, nil, nil) == 1 else { return nil }
            return switch digest {
            case NID_sha1: "SHA-1"
            case NID_md5, NID_md5_sha1: "MD5"
            case NID_md4: "MD4"
            case NID_md2: "MD2"
            default: nil
            }
        }
    }

    /// True if the certificate names a policy of the CA/Browser Forum for TLS servers, as all public authorities' must
    /// (BR §7.1.6.1), and private authorities' have no reason to.
    package var claimsBaselineRequirements: Bool {
        guard let facts = try? CertificateFacts(der: self.der) else { return false }
        return facts.extensions.policies?.contains { $0.isBaselineRequirement } ?? false
    }

    private func read<Result>(_ body: (X509View) -> Result?) -> Result? {
        guard let handle = try? X509Handle(der: self.der, source: self.label) else { return nil }
        return handle.read(body)
    }
}

extension OID {
    /// The CA/Browser Forum's own policies: 2.23.140.1
    private static let forum: [UInt8] = [0x67, 0x81, 0x0C, 1]

    /// True for extended validation, 2.23.140.1.1, and for the policies below 2.23.140.1.2: of domains, organizations and
    /// individuals.
    fileprivate var isBaselineRequirement: Bool {
        guard self.bytes.starts(with: Self.forum) else { return false }
        let rest = self.bytes.dropFirst(Self.forum.count)
        return rest.elementsEqual([1]) || rest.count == 2 && rest.first == 2
    }
}
