// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension Rule {
    /// The problem that a breach of the rule is reported as.
    var problem: TrustError.CertificateProblem {
        switch self {
        case .unknownIssuer: .unknownIssuer
        case .selfSigned: .selfSigned
        case .badSignature: .badSignature
        case .pathTooComplex: .tooComplex
        case .expired: .expired
        case .notYetValid: .notYetValid
        case .notAnAuthority, .pathLength, .authorityKeyUsage: .notAnAuthority
        case .serverPurpose, .authorityPurpose, .serverKeyUsage: .wrongPurpose
        case .hostName: .wrongName
        case .nameConstraint, .incomparableNameConstraint: .nameConstraint
        case .weakKey, .weakSignature: .weak
        case .signatureAlgorithmMismatch, .version, .duplicateExtension, .unknownCriticalExtension, .malformedExtension,
            .malformedKey, .malformedNameConstraints, .emptySubject, .emptyIssuer:
            .malformed
        case .certificatePolicy: .policy
        case .revoked, .revocationUnknown: .revoked
        case .dateEncoding, .basicConstraintsNotCritical, .endEntityKeyUsage, .anyPurpose, .purposesCritical,
            .nameConstraintsInEndEntity, .leadingDotInNameConstraint, .malformedName, .underscoreInName,
            .alternativeNamesNotCritical, .alternativeNamesCritical, .commonNameCopy, .unevenKey, .serialNumber,
            .malformedInformationAccess, .malformedInformation, .informationAccessCritical, .authorityKeyIdentifier,
            .subjectKeyIdentifier,
            .policyConstraintsNotCritical:
            .profile
        }
    }

    /// OpenSSL's code for the breach, which the code that performs the handshake can query.
    var verifyError: CInt {
        switch self {
        case .unknownIssuer: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        case .selfSigned: X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT
        case .badSignature: X509_V_ERR_CERT_SIGNATURE_FAILURE
        case .pathTooComplex: X509_V_ERR_CERT_CHAIN_TOO_LONG
        case .expired: X509_V_ERR_CERT_HAS_EXPIRED
        case .notYetValid: X509_V_ERR_CERT_NOT_YET_VALID
        case .notAnAuthority: X509_V_ERR_INVALID_CA
        case .pathLength: X509_V_ERR_PATH_LENGTH_EXCEEDED
        case .authorityKeyUsage: X509_V_ERR_KEYUSAGE_NO_CERTSIGN
        case .serverPurpose, .authorityPurpose, .serverKeyUsage: X509_V_ERR_INVALID_PURPOSE
        case .hostName: X509_V_ERR_HOSTNAME_MISMATCH
        case .nameConstraint: X509_V_ERR_PERMITTED_VIOLATION
        case .incomparableNameConstraint: X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE
        case .weakKey: X509_V_ERR_EE_KEY_TOO_SMALL
        case .malformedKey: X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY
        case .weakSignature: X509_V_ERR_CA_MD_TOO_WEAK
        case .unknownCriticalExtension: X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION
        case .malformedExtension, .malformedNameConstraints, .duplicateExtension: X509_V_ERR_INVALID_EXTENSION
        case .certificatePolicy: X509_V_ERR_NO_EXPLICIT_POLICY
        case .revoked: X509_V_ERR_CERT_REVOKED
        case .revocationUnknown: X509_V_ERR_UNABLE_TO_GET_CRL
        default: X509_V_ERR_APPLICATION_VERIFICATION
        }
    }
}

extension RuleFinding {
    /// True if the chain failed only because it does not end at a trusted certificate.
    var isUnanchored: Bool {
        self.rule == .unknownIssuer || self.rule == .selfSigned
    }

    /// Returns the refusal with a message for people.
    ///
    /// - Parameters:
    ///   - peer: the host, or a word for it.
    ///   - anchors: words for the certificates that a chain should have led to, for example "a trusted root".
    func error(peer: String, anchors: String) -> TrustError {
        let code = self.rule.verifyError
        let hasWords = code != X509_V_ERR_APPLICATION_VERIFICATION
        return TrustError(
            rule: self.rule, message: "\(peer): \(self.sentence(anchors: anchors))",
            cause: hasWords ? String(cString: X509_verify_cert_error_string(Int(code))) : nil)
    }

    private func sentence(anchors: String) -> String {
        let certificate = self.certificate?.certificate
        let name = certificate.map { "the certificate \($0.label)" } ?? "a certificate of the chain"
        switch self.rule.problem {
        case .expired:
            let date = certificate.map { " on \($0.notAfter)" } ?? ""
            return "\(name) expired\(date); its owner has to renew it"
        case .notYetValid:
            let date = certificate.map { " before \($0.notBefore)" } ?? ""
            return "\(name) is not valid\(date); check this machine's clock"
        case .unknownIssuer:
            let issuer = certificate.map { ", issued by \"\($0.issuer.prefix(200))\"" } ?? ""
            return "the chain ends at \(name)\(issuer), not at \(anchors); "
                + "add that issuer to extra_roots if you trust it, or have the server send its intermediates"
        case .selfSigned:
            return "\(name) is self-signed and not \(anchors); add it to extra_roots if you trust it"
        case .wrongPurpose:
            return "\(name) is not for TLS servers; have it issued for server authentication"
        case .notAnAuthority:
            return "\(name) may not issue the certificates below it; have them issued by an authority"
        case .nameConstraint:
            return "\(name) carries a name that its issuers may not vouch for; have it issued by another authority"
        case .weak:
            return "\(name) has a key or a digest too weak to trust; have it issued anew with a stronger one"
        case .badSignature:
            return "\(name) was not signed by the issuer that it names; the server's chain is damaged or forged"
        case .malformed:
            return "\(name) is malformed (\(self.rule.words)); have it issued anew"
        case .profile:
            return "\(name) breaks a rule for certificates of TLS servers (\(self.rule.words)); have it issued anew"
        case .policy:
            return "\(name) is issued under no policy, which an authority above it demands; have it issued under one"
        case .revoked:
            return self.rule == .revoked
                ? "\(name) was revoked by its issuer; its owner has to replace it"
                : "nothing current and valid says whether \(name) was revoked; "
                    + "renew the lists of crl_files, or have the server staple its status"
        case .tooComplex:
            return "finding a path for \(name) takes more work than any honest chain; "
                + "have the server send only its own intermediates"
        case .wrongName, .missing, .other:
            return "\(name) is not acceptable (\(self.rule.words))"
        }
    }
}
