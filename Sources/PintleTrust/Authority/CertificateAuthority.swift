// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Issues certificates for the servers that a proxy stands in for, to clients that trust this authority.
///
/// Immutable; certificates may be issued on any thread at any time.
package final class CertificateAuthority: @unchecked Sendable {
    // Why @unchecked holds: nothing changes behind the pointers after `init`, and OpenSSL signs with one key on several
    // threads.

    /// The authority's own certificate.
    package let certificate: Certificate
    /// The certificates that lead clients to a root that they trust: the authority's own unless it is a root itself, then
    /// its signers.
    private let issuers: [Certificate]
    private let handle: X509Handle
    private let key: PrivateKey
    private let keyIdentifier: [UInt8]?

    /// Validity of a new authority in seconds: ten years. Users install it in their stores by hand, and would not do that
    /// often.
    package static let validity: Int64 = 3653 * 86_400
    /// Validity of an issued certificate in seconds: a week. It is replaced long before that.
    package static let leafValidity: Int64 = 7 * 86_400
    /// Seconds by which validity begins before now, for clients whose clocks are slow.
    package static let backdating: Int64 = 3600

    /// Makes a new authority, with a new key on the curve P-256.
    ///
    /// - Parameters:
    ///   - name: the common name of its certificate; a random part is added, so that no two authorities have the same name.
    ///   - permitted: the names that it may certify; nil for all names.
    /// - Throws: `.library` if OpenSSL fails.
    package convenience init(
        named name: String, permitting permitted: PermittedNames? = nil, at now: UnixTime = .now
    ) throws(TrustError) {
        let key = try PrivateKey.onP256()
        let draft = try CertificateDraft(
            commonName: "\(name) \(String(UInt32.random(in: .min ... .max), radix: 16))", key: key,
            validity: Self.period(from: now, Self.validity))
        // An authority whose certificates must not sign others.
        try draft.add(
            NID_basic_constraints, critical: true,
            DERWriter.sequence(DERWriter.true, DERWriter.value(0x02, [0])))
        // keyCertSign and cRLSign.
        try draft.add(NID_key_usage, critical: true, DERWriter.namedBits(0b0000_0110))
        if let permitted { try draft.add(NID_name_constraints, critical: true, permitted.nameConstraints) }
        _ = try draft.addKeyIdentifier()
        let signed = try draft.signed(by: key, as: nil)
        guard let certificate = signed.read({ Certificate($0) }) else { throw OpenSSLErrors.failure(of: "i2d_X509") }
        try self.init(chain: [certificate], key: key, "the new authority", "its key")
    }

    /// Reads an authority from PEM files.
    ///
    /// - Parameters:
    ///   - certificateFile: the file of its certificate, followed by those of its signers.
    ///   - keyFile: the file of its private key; nil means that it is in `certificateFile`.
    ///   - password: the password of an encrypted key.
    /// - Throws: `.unreadableIdentity`, naming the file, also if the certificate is not an authority's.
    package convenience init(
        certificateFile: String, keyFile: String? = nil, password: String? = nil
    ) throws(TrustError) {
        let certificates = try IdentityFile(certificateFile)
        let chain = certificates.certificates
        guard !chain.isEmpty else {
            throw TrustError.identity(
                certificateFile, "no certificate found; PEM has a line \"-----BEGIN CERTIFICATE-----\"")
        }
        let keys = if let keyFile { try IdentityFile(keyFile) } else { certificates }
        let key = try keys.privateKey(password: password)
        try self.init(chain: chain, key: key, certificateFile, keyFile ?? certificateFile)
    }

    private init(
        chain: [Certificate], key: consuming PrivateKey, _ certificateFile: String, _ keyFile: String
    ) throws(TrustError) {
        let certificate = chain[0]
        let handle = try X509Handle(der: certificate.der, source: certificateFile)
        OpenSSLErrors.clear()
        let pointer = key.pointer
        guard handle.read({ X509_check_private_key($0.pointer, pointer) }) == 1 else {
            throw TrustError.identity(
                keyFile, "the private key does not belong to the certificate \(certificate.label)",
                cause: OpenSSLErrors.drain())
        }
        guard handle.read({ X509_check_ca($0.pointer) }) == 1 else {
            throw TrustError.identity(
                certificateFile,
                "the certificate \(certificate.label) is no authority's; it needs basicConstraints with CA:TRUE and, where it "
                    + "has a keyUsage, keyCertSign")
        }
        self.certificate = certificate
        self.issuers = chain.filter { !$0.isSelfIssued }
        self.keyIdentifier = handle.read { view in
            X509_get0_subject_key_id(view.pointer).map { X509View.bytes(of: $0) }
        }
        self.handle = handle
        self.key = key
    }

    /// Issues a certificate for a server, with a new key on P-256.
    ///
    /// - Parameters:
    ///   - names: the names of the server, at least one; the first one is also the subject.
    /// - Throws: `.library` if OpenSSL fails.
    package func identity(
        for names: [CertifiedName], at now: UnixTime = .now
    ) throws(TrustError) -> ClientIdentity {
        let key = try PrivateKey.onP256()
        // A common name has room for 64 characters (RFC 5280, appendix A.1), and name constraints treat it as a DNS name.
        var commonName: String?
        if case .dns(let name)? = names.first, name.utf8.count <= 64 { commonName = name }
        let isNamed = commonName != nil
        let draft = try CertificateDraft(
            commonName: commonName, key: key,
            validity: self.limited(Self.period(from: now, Self.leafValidity)))
        try draft.add(NID_basic_constraints, critical: true, DERWriter.sequence())
        // digitalSignature
        try draft.add(NID_key_usage, critical: true, DERWriter.namedBits(0b1000_0000))
        try draft.add(NID_ext_key_usage, Self.serverAuthentication)
        // Critical if there is no other name (RFC 5280 §4.2.1.6).
        try draft.add(
            NID_subject_alt_name, critical: !isNamed, DERWriter.value(0x30, names.flatMap(\.generalName)))
        _ = try draft.addKeyIdentifier()
        if let keyIdentifier { try draft.add(issuerKeyIdentifier: keyIdentifier) }
        let name = self.handle.read { X509_get_subject_name($0.pointer) }
        return try ClientIdentity(issued: draft.signed(by: self.key, as: name), by: self.issuers, key: key)
    }

    private static func period(from now: UnixTime, _ length: Int64) -> ClosedRange<UnixTime> {
        let start = UnixTime(seconds: now.seconds - Self.backdating)
        return start...UnixTime(seconds: start.seconds + length)
    }

    /// Cuts the period to that of the authority: some verifiers refuse a certificate that outlives its signer.
    private func limited(_ period: ClosedRange<UnixTime>) -> ClosedRange<UnixTime> {
        let end = min(period.upperBound, max(period.lowerBound, self.certificate.notAfter))
        let start = min(end, max(period.lowerBound, self.certificate.notBefore))
        return start...end
    }

    /// An extendedKeyUsage with id-kp-serverAuth, 1.3.6.1.5.5.7.3.1.
    private static let serverAuthentication = DERWriter.sequence(
        DERWriter.value(0x06, [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]))

    // MARK: Files

    /// The certificate, as a PEM text.
    package var certificatePEM: String { PEMText.certificates([self.certificate]) }

    /// Returns the private key in PKCS#8, as a PEM text without a password, which the caller must keep secret.
    package func keyPEM() throws(TrustError) -> String { PEMText.block("PRIVATE KEY", try self.key.pkcs8()) }
}
