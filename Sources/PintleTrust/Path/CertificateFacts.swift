// SPDX-License-Identifier: Apache-2.0

/// The fields of a certificate that the rules need, read from its DER once (RFC 5280 §4.1).
///
/// OpenSSL has parsed these bytes before; this reads them strictly, and keeps facts that OpenSSL's functions hide: the
/// encoding of dates, repeated extensions, the exact text of name constraints.
struct CertificateFacts {
    /// The version of the format: 1, 2 or 3.
    let version: Int
    /// The serial number in two's complement.
    let serial: [UInt8]
    let issuer: DistinguishedName
    let subject: NameAttributes
    let key: PublicKeyFacts
    /// The SubjectPublicKeyInfo's digest: certificates with equal digests have the same key.
    let keyPin: Pin
    /// True if the two fields for the signature's algorithm are equal.
    let namesOneSignatureAlgorithm: Bool
    /// The strength of the signature; see `SignatureAlgorithm.securityBits`.
    let signatureBits: Int
    /// True if dates through 2049 are UTCTime and later ones GeneralizedTime, both with seconds and Z (§4.1.2.5).
    let encodesDatesProperly: Bool
    let extensions: CertificateExtensions

    /// - Parameter der: the certificate.
    /// - Throws: if the certificate's outer structure is damaged. Damaged extensions are noted in `extensions`.
    init(der: [UInt8]) throws(DERError) {
        var certificate = try DERReader(sequence: der[...])
        var body = try certificate.next(DERTag.sequence).elements
        let outerAlgorithm = try certificate.next(DERTag.sequence)
        _ = try certificate.next(DERTag.bitString)
        try certificate.end()
        self.signatureBits = try SignatureAlgorithm.securityBits(of: outerAlgorithm)

        self.version = try CertificateFacts.version(&body)
        self.serial = Array(try body.next(DERTag.integer).integerBytes())
        self.namesOneSignatureAlgorithm = try body.next(DERTag.sequence).encoding == outerAlgorithm.encoding
        self.issuer = try NameAttributes(try body.next(DERTag.sequence).encoding).name
        var validity = try body.next(DERTag.sequence).elements
        let dates = [try validity.next(), try validity.next()]
        try validity.end()
        self.encodesDatesProperly = dates.allSatisfy(CertificateFacts.isProperDate)
        self.subject = try NameAttributes(try body.next(DERTag.sequence).encoding)
        let keyInfo = try body.next(DERTag.sequence)
        self.key = try PublicKeyFacts(keyInfo.encoding)
        self.keyPin = Pin(spki: Array(keyInfo.encoding))
        _ = try body.optional(DERTag.implicit(1))
        _ = try body.optional(DERTag.implicit(2))
        let extensions = try body.optional(DERTag.constructed(3))
        try body.end()
        self.extensions = try CertificateExtensions(extensions)
    }

    var isSelfIssued: Bool { self.issuer == self.subject.name }

    private static func version(_ body: inout DERReader) throws(DERError) -> Int {
        guard let explicit = try body.optional(DERTag.constructed(0)) else { return 1 }
        let number = try DERReader.only(DERTag.integer, in: explicit.content).smallInteger()
        guard (0...2).contains(number) else { throw DERError() }
        return number + 1
    }

    private static func isProperDate(_ date: DERElement) -> Bool {
        let digits = date.content.dropLast()
        guard date.content.last == UInt8(ascii: "Z"), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return false
        }
        switch date.tag {
        case DERTag.utcTime: return digits.count == 12
        case DERTag.generalizedTime:
            let year = digits.prefix(4).reduce(0) { $0 * 10 + Int($1 - 0x30) }
            return digits.count == 14 && year >= 2050
        default: return false
        }
    }
}
