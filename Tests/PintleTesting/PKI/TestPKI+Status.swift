// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
package import PintleTrust

extension TestPKI {
    /// The status in an OCSP response.
    package enum Status: Sendable {
        case good, revoked, unknown

        fileprivate var number: CInt {
            switch self {
            case .good: V_OCSP_CERTSTATUS_GOOD
            case .revoked: V_OCSP_CERTSTATUS_REVOKED
            case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
            }
        }
    }

    /// Mints an OCSP response about a certificate.
    ///
    /// - Parameters:
    ///   - issuer: the issuer of the certificate.
    ///   - responder: the signer of the response; the issuer by default.
    ///   - hasEnd: true if the response says until when it is valid.
    ///   - digest: OpenSSL's name of the digest that is signed.
    package func statusResponse(
        _ status: Status, of certificate: Certificate, issuedBy issuer: TestIdentity,
        signedBy responder: TestIdentity? = nil, validity: Validity = .current, hasEnd: Bool = true,
        digest: String = "SHA256"
    ) throws -> [UInt8] {
        ERR_clear_error()
        let responder = responder ?? issuer
        let parsed = try [certificate, issuer.certificate, responder.certificate].map { try MintRequest.parse($0.der) }
        defer { for item in parsed { X509_free(item) } }
        guard let basic = OCSP_BASICRESP_new() else { throw TestPKIError("OCSP_BASICRESP_new") }
        defer { OCSP_BASICRESP_free(basic) }
        let window = self.window(of: validity)
        let (from, to) = (
            ASN1_TIME_set(nil, time_t(window.0.seconds)), ASN1_TIME_set(nil, time_t(window.1.seconds))
        )
        defer {
            ASN1_TIME_free(from)
            ASN1_TIME_free(to)
        }
        // The response's dates are GeneralizedTime, whatever the year.
        ASN1_TIME_to_generalizedtime(from, nil).map {
            ASN1_STRING_copy(from, $0); ASN1_GENERALIZEDTIME_free($0)
        }
        ASN1_TIME_to_generalizedtime(to, nil).map {
            ASN1_STRING_copy(to, $0); ASN1_GENERALIZEDTIME_free($0)
        }
        let identifier = OCSP_cert_to_id(EVP_sha1(), parsed[0], parsed[1])
        defer { OCSP_CERTID_free(identifier) }
        let revoked = status == .revoked ? from : nil
        guard OCSP_basic_add1_status(basic, identifier, status.number, -1, revoked, from, hasEnd ? to : nil) != nil
        else {
            throw TestPKIError("OCSP_basic_add1_status")
        }
        let key = try TestKey(of: responder)
        let isSigned = withExtendedLifetime(key) {
            OCSP_basic_sign(basic, parsed[2], key.pointer, EVP_get_digestbyname(digest), nil, 0) == 1
        }
        guard isSigned, let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic) else {
            throw TestPKIError("OCSP_basic_sign")
        }
        defer { OCSP_RESPONSE_free(response) }
        var buffer: UnsafeMutablePointer<UInt8>?
        let length = i2d_OCSP_RESPONSE(response, &buffer)
        guard length > 0, let buffer else { throw TestPKIError("i2d_OCSP_RESPONSE") }
        defer { pintle_openssl_free(buffer) }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
    }
}
