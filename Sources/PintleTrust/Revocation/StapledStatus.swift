// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// What a server says, in its issuer's words, of its own certificate: an OCSP response (RFC 6960) that it stapled.
package enum StapledStatus: Equatable, Sendable {
    /// Until that moment, clocks that differ allowed for; nil where the response's dates cannot be read.
    case good(until: UnixTime?)
    case revoked
    /// Nothing was stapled.
    case missing
    /// What was stapled cannot be read, is not of the issuer, is out of date, or speaks of another certificate.
    case unusable

    /// Clocks differ.
    private static let toleratedSeconds = 300
    /// How long a status counts that does not say until when: newer information is then said to be available at any
    /// time (RFC 6960 §4.2.2.1).
    private static let secondsWithoutEnd = 86_400

    /// - Parameters:
    ///   - connection: an `SSL *` of which the certificate was verified.
    ///   - issuer: who signed the leaf on the verified path.
    init(onConnection connection: OpaquePointer, leaf: Certificate, issuer: Certificate) {
        var bytes: UnsafePointer<UInt8>?
        let count = pintle_ssl_stapled_status(connection, &bytes)
        guard count > 0, let bytes else {
            self = .missing
            return
        }
        self.init(response: UnsafeBufferPointer(start: bytes, count: count), leaf: leaf, issuer: issuer)
    }

    /// - Parameter response: in DER; what follows it makes it unusable.
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

    /// Signed by the issuer, or by somebody whom it appointed for that, with a digest that certificates may have too: OpenSSL
    /// would take MD5.
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
            // A response brings its signer along, and the server chose it: no key that is refused, and no chain of them.
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

    /// When the response stops to count.
    private static func end(
        from: UnsafePointer<ASN1_GENERALIZEDTIME>?, to: UnsafePointer<ASN1_GENERALIZEDTIME>?
    ) -> UnixTime? {
        let end = X509View.moment(to) ?? X509View.moment(from)?.advanced(by: .seconds(self.secondsWithoutEnd))
        return end?.advanced(by: .seconds(self.toleratedSeconds))
    }

    /// The rule that is broken, nil for none.
    func breach(under stapling: SecurityPolicy.Stapling) -> Rule? {
        switch self {
        case .good: nil
        case .revoked: .revoked
        case .unusable: .revocationUnknown
        case .missing: stapling == .require ? .revocationUnknown : nil
        }
    }
}
