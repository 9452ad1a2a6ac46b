// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The status of a server's certificate in an OCSP response of its issuer (RFC 6960), which the server stapled.
package enum StapledStatus: Equatable, Sendable {
    /// Good until that moment, which includes the tolerance for clocks; nil if the response's dates cannot be read.
    case good(until: UnixTime?)
    case revoked
    /// Nothing was stapled.
    case missing
    /// The response cannot be read, is not from the issuer, is out of date, or is about another certificate.
    case unusable

    /// Allowed clock skew, in seconds.
    private static let toleratedSeconds = 300
    /// The validity in seconds of a status without an end, for which newer information is available at any time (RFC 6960
    /// §4.2.2.1).
    private static let secondsWithoutEnd = 86_400

    /// - Parameters:
    ///   - connection: an `SSL *` whose certificate was verified.
    ///   - issuer: the certificate that signed the leaf on the verified path.
    init(onConnection connection: OpaquePointer, leaf: Certificate, issuer: Certificate) {
        var bytes: UnsafePointer<UInt8>?
        let count = pintle_ssl_stapled_status(connection, &bytes)
        guard count > 0, let bytes else {
            self = .missing
            return
        }
        self.init(response: UnsafeBufferPointer(start: bytes, count: count), leaf: leaf, issuer: issuer)
    }

    /// - Parameter response: the response in DER; bytes after it make it unusable.
    package init(response bytes: UnsafeBufferPointer<UInt8>, leaf: Certificate, issuer: Certificate) {
        var cursor = bytes.baseAddress
        let response = d2i_OCSP_RESPONSE(nil, &cursor, bytes.count)
        defer { OCSP_RESPONSE_free(response) }
        guard let response, cursor == bytes.baseAddress.map({ $0 + bytes.count }),
            OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL, let leaf = try? PathCertificate(leaf),
            let issuer = try? PathCertificate(issuer), let basic = OCSP_response_get1_basic(response)
        else {
            self = .unusable
            return
        }
        defer { OCSP_BASICRESP_free(basic) }
        self = Self.isSigned(basic, by: issuer) ? Self.status(of: leaf, issuer, in: basic) : .unusable
    }

    /// True if the response is signed by the issuer, or by a responder that it appointed, with a digest that certificates
    /// may use too: OpenSSL would accept MD5.
    private static func isSigned(_ response: OpaquePointer, by issuer: PathCertificate) -> Bool {
        let algorithm = X509View.encoding(of: OCSP_resp_get0_tbs_sigalg(response))
        let element = try? DERReader.only(DERTag.sequence, in: algorithm[...])
        guard let element, let bits = try? SignatureAlgorithm.securityBits(of: element),
            bits >= PathRules.securityBits(ofLevel: 1)
        else { return false }
        guard let store = X509_STORE_new() else { return false }
        defer { X509_STORE_free(store) }
        guard var candidates = try? OfflineChain() else { return false }
        do throws(TrustError) { try candidates.append(issuer.certificate) } catch { return false }
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        guard issuer.read({ X509_STORE_add_cert(store, $0) }) == 1 else { return false }
        return candidates.lend { candidates in
            // A response brings its signer along, chosen by the server: a key that would be refused must not be used, nor a
            // chain of such keys.
            var signer: OpaquePointer?
            guard OCSP_resp_get0_signer(response, &signer, candidates) == 1, let signer,
                let key = X509View(pointer: signer).subjectPublicKeyInfo,
                (try? PublicKeyFacts(key[...]))?.mayCheckSignatures == true
            else { return false }
            return OCSP_basic_verify(response, candidates, store, UInt(OCSP_NOCHAIN)) > 0
        }
    }

    private static func status(
        of leaf: PathCertificate, _ issuer: PathCertificate, in response: OpaquePointer
    ) -> StapledStatus {
        // A response names the certificate by digests, of a kind that it chooses.
        for digest in [EVP_sha1(), EVP_sha256()] {
            let identifier = leaf.read { leaf in issuer.read { OCSP_cert_to_id(digest, leaf, $0) } }
            guard let identifier else { continue }
            defer { OCSP_CERTID_free(identifier) }
            var status: CInt = 0
            var from: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            var to: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            guard OCSP_resp_find_status(response, identifier, &status, nil, nil, &from, &to) == 1 else { continue }
            let oldest = to == nil ? self.secondsWithoutEnd : -1
            guard OCSP_check_validity(from, to, self.toleratedSeconds, oldest) == 1 else { return .unusable }
            switch status {
            case V_OCSP_CERTSTATUS_GOOD: return .good(until: self.end(from: from, to: to))
            case V_OCSP_CERTSTATUS_REVOKED: return .revoked
            default: return .unusable
            }
        }
        return .unusable
    }

    /// Returns the moment at which the response expires.
    private static func end(
        from: UnsafePointer<ASN1_GENERALIZEDTIME>?, to: UnsafePointer<ASN1_GENERALIZEDTIME>?
    ) -> UnixTime? {
        let end = X509View.moment(to) ?? X509View.moment(from)?.advanced(by: .seconds(self.secondsWithoutEnd))
        return end?.advanced(by: .seconds(self.toleratedSeconds))
    }

    /// Returns the rule that is broken; nil for none.
    func breach(under stapling: SecurityPolicy.Stapling) -> Rule? {
        switch self {
        case .good: nil
        case .revoked: .revoked
        case .unusable: .revocationUnknown
        case .missing: stapling == .require ? .revocationUnknown : nil
        }
    }
}
