// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension ChainVerification.Failure {
    /// Whether the chain failed only because it ends at nobody who is trusted.
    var isUnanchored: Bool {
        self.problem == .unknownIssuer || self.problem == .selfSigned
    }

    /// The one place where OpenSSL's codes become ours.
    var problem: TrustError.CertificateProblem {
        switch self.code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED:
            .unknownIssuer
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_CERT_REJECTED: .wrongPurpose
        case X509_V_ERR_INVALID_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_CHAIN_TOO_LONG,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            .notAnAuthority
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            .nameConstraint
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weak
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: .badSignature
        case X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD,
            X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
            X509_V_ERR_INVALID_EXTENSION, X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION:
            .malformed
        default: .other
        }
    }

    /// The refusal that people read.
    ///
    /// - Parameters:
    ///   - peer: the host, or a word for it.
    ///   - anchors: what a chain should have led to, as "a trusted root".
    func error(peer: String, anchors: String) -> TrustError {
        TrustError(
            problem: self.problem,
            message: "\(peer): \(self.sentence(anchors: anchors))",
            cause: String(cString: X509_verify_cert_error_string(Int(self.code))))
    }

    private func sentence(anchors: String) -> String {
        let name = self.certificate.map { "the certificate \($0.label)" } ?? "a certificate of the chain"
        switch self.problem {
        case .expired:
            let date = self.certificate.map { " on \($0.notAfter)" } ?? ""
            return "\(name) expired\(date); its owner has to renew it"
        case .notYetValid:
            let date = self.certificate.map { " before \($0.notBefore)" } ?? ""
            return "\(name) is not valid\(date); check this machine's clock"
        case .unknownIssuer:
            let issuer = self.certificate.map { " and issued by \"\($0.issuer.prefix(200))\"" } ?? ""
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
            return "\(name) is malformed; have it issued anew"
        case .wrongName, .missing, .other:
            return "\(name) is not acceptable; OpenSSL's reason is in parentheses"
        }
    }
}
