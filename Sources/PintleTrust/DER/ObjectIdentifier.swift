// SPDX-License-Identifier: Apache-2.0

/// An OBJECT IDENTIFIER, kept as its encoded content.
struct OID: Hashable {
    let bytes: [UInt8]

    init(_ element: DERElement) throws(DERError) {
        // Each arc ends with a byte below 0x80, and must not begin with 0x80, which adds nothing.
        guard let last = element.content.last, last < 0x80 else { throw DERError() }
        var isStart = true
        for byte in element.content {
            guard !(isStart && byte == 0x80) else { throw DERError() }
            isStart = byte < 0x80
        }
        self.bytes = Array(element.content)
    }

    private init(_ bytes: UInt8...) {
        self.bytes = bytes
    }

    // Extensions of RFC 5280 §4.2: 2.5.29.N
    static let subjectKeyIdentifier = OID(0x55, 0x1D, 14)
    static let keyUsage = OID(0x55, 0x1D, 15)
    static let subjectAltName = OID(0x55, 0x1D, 17)
    static let basicConstraints = OID(0x55, 0x1D, 19)
    static let nameConstraints = OID(0x55, 0x1D, 30)
    static let crlDistributionPoints = OID(0x55, 0x1D, 31)
    static let certificatePolicies = OID(0x55, 0x1D, 32)
    static let policyMappings = OID(0x55, 0x1D, 33)
    static let authorityKeyIdentifier = OID(0x55, 0x1D, 35)
    static let policyConstraints = OID(0x55, 0x1D, 36)
    static let extendedKeyUsage = OID(0x55, 0x1D, 37)
    static let inhibitAnyPolicy = OID(0x55, 0x1D, 54)
    static let anyPolicy = OID(0x55, 0x1D, 32, 0)
    static let issuerAltName = OID(0x55, 0x1D, 18)
    static let freshestLists = OID(0x55, 0x1D, 46)
    /// 1.3.6.1.5.5.7.1.11
    static let subjectInformationAccess = OID(0x2B, 6, 1, 5, 5, 7, 1, 11)
    /// 1.3.6.1.5.5.7.1.24
    static let tlsFeatures = OID(0x2B, 6, 1, 5, 5, 7, 1, 24)
    /// 1.3.6.1.4.1.11129.2.4.2
    static let signedTimestamps = OID(0x2B, 6, 1, 4, 1, 0xD6, 0x79, 2, 4, 2)
    /// 1.3.6.1.5.5.7.1.1
    static let authorityInformationAccess = OID(0x2B, 6, 1, 5, 5, 7, 1, 1)

    // Qualifiers of policies
    /// 1.3.6.1.5.5.7.2.1
    static let practiceStatement = OID(0x2B, 6, 1, 5, 5, 7, 2, 1)
    /// 1.3.6.1.5.5.7.2.2
    static let userNotice = OID(0x2B, 6, 1, 5, 5, 7, 2, 2)

    // Extensions of revocation lists
    /// 2.5.29.27
    static let deltaIndicator = OID(0x55, 0x1D, 27)

    // Purposes
    static let anyExtendedKeyUsage = OID(0x55, 0x1D, 37, 0)
    /// 1.3.6.1.5.5.7.3.1
    static let serverAuthentication = OID(0x2B, 6, 1, 5, 5, 7, 3, 1)

    // Attributes of names
    /// 2.5.4.3
    static let commonName = OID(0x55, 4, 3)
    /// 1.2.840.113549.1.9.1
    static let emailAddress = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1)

    // Keys
    /// 1.2.840.113549.1.1.1
    static let rsa = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1)
    /// 1.2.840.113549.1.1.10
    static let rsaPSS = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 10)
    /// 1.2.840.113549.1.1.8
    static let maskGeneration1 = OID(0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 8)
    /// 1.2.840.10040.4.1
    static let dsa = OID(0x2A, 0x86, 0x48, 0xCE, 0x38, 4, 1)
    /// 1.2.840.10045.2.1
    static let ellipticCurve = OID(0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1)
    /// 1.3.101.112
    static let ed25519 = OID(0x2B, 0x65, 0x70)
    /// 1.3.101.113
    static let ed448 = OID(0x2B, 0x65, 0x71)
    /// 1.2.840.10045.3.1.7
    static let p256 = OID(0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7)
    /// 1.3.132.0.34
    static let p384 = OID(0x2B, 0x81, 4, 0, 0x22)
    /// 1.3.132.0.35
    static let p521 = OID(0x2B, 0x81, 4, 0, 0x23)
}
