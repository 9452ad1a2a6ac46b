// SPDX-License-Identifier: Apache-2.0

/// A certificate for a key on P-256 that is being written (RFC 5280 §4.1), until it is signed.
///
/// Written byte by byte: OpenSSL 3.0 looks through all its encoders and decoders when it is given a key for a certificate, which
/// takes longer than to make the key and to sign.
struct CertificateDraft {
    /// An extension, by the last number of its identifier 2.5.29.N (RFC 5280 §4.2.1).
    enum Extension: UInt8 {
        case subjectKeyIdentifier = 14
        case keyUsage = 15
        case subjectAltName = 17
        case basicConstraints = 19
        case nameConstraints = 30
        case authorityKeyIdentifier = 35
        case extendedKeyUsage = 37
    }

    private let subject: [UInt8]
    private let point: [UInt8]
    private let validity: ClosedRange<UnixTime>
    private var extensions: [UInt8] = []

    /// Begins a certificate of version 3.
    ///
    /// - Parameters:
    ///   - commonName: left out where it is nil.
    ///   - key: that it is for, on P-256.
    ///   - validity: from the first to the last moment, in years of four digits.
    /// - Throws: `.library` when OpenSSL has trouble.
    init(
        commonName: String?, key: borrowing PrivateKey, validity: ClosedRange<UnixTime>
    ) throws(TrustError) {
        self.point = try key.point()
        self.validity = validity
        // One attribute, 2.5.4.3, as a UTF8String.
        let name = commonName.map { name in
            DERWriter.value(
                0x31, DERWriter.sequence([0x06, 0x03, 0x55, 0x04, 0x03], DERWriter.value(0x0C, Array(name.utf8))))
        }
        self.subject = DERWriter.sequence(name ?? [])
    }

    /// Adds an extension.
    ///
    /// - Parameter value: in DER.
    mutating func add(_ kind: Extension, critical: Bool = false, _ value: [UInt8]) {
        self.extensions += DERWriter.sequence(
            [0x06, 0x03, 0x55, 0x1D, kind.rawValue], critical ? DERWriter.true : [], DERWriter.octets(value))
    }

    /// Names its key, as its issuer's certificate must for verifiers that take RFC 5280 §4.2.1.2 at its word: by the SHA-1 of the
    /// key's bits, which is a name and no signature.
    mutating func addKeyIdentifier() throws(TrustError) {
        self.add(.subjectKeyIdentifier, DERWriter.octets(try MessageDigest.sha1.digest(of: self.point)))
    }

    /// Names the key that signs it (RFC 5280 §4.2.1.1).
    mutating func add(issuerKeyIdentifier identifier: [UInt8]) {
        self.add(.authorityKeyIdentifier, DERWriter.sequence(DERWriter.value(0x80, identifier)))
    }

    /// Signs it.
    ///
    /// - Parameter issuer: a Name in DER; nil where the certificate signs itself.
    /// - Returns: the certificate in DER.
    /// - Throws: `.library` when OpenSSL has trouble.
    func signed(by signer: borrowing CertificateSigner, as issuer: [UInt8]?) throws(TrustError) -> [UInt8] {
        // Not negative, not zero, and 126 bits of chance (§4.1.2.2 allows 20 bytes).
        let serial = withUnsafeBytes(of: UInt128.random(in: (1 << 126)..<(1 << 127)).bigEndian, Array.init)
        let content = DERWriter.sequence(
            Self.version3, DERWriter.value(0x02, serial), signer.algorithm, issuer ?? self.subject,
            DERWriter.sequence(DERWriter.time(self.validity.lowerBound), DERWriter.time(self.validity.upperBound)),
            self.subject, Self.keyHead + self.point,
            DERWriter.value(0xA3, DERWriter.sequence(self.extensions)))
        return DERWriter.sequence(content, signer.algorithm, DERWriter.bits(try signer.sign(content)))
    }

    private static let version3 = DERWriter.value(0xA0, DERWriter.value(0x02, [2]))

    /// A SubjectPublicKeyInfo of id-ecPublicKey and secp256r1 (RFC 5480 §2), up to its point of 65 bytes.
    private static let keyHead: [UInt8] =
        [0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        + [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00]
}
