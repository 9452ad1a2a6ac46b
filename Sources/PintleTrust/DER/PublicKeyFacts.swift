// SPDX-License-Identifier: Apache-2.0

/// What a SubjectPublicKeyInfo says of its key, without trying to use it.
struct PublicKeyFacts: Hashable {
    enum Kind: Hashable {
        case rsa(bits: Int)
        case curve(OID)
        /// A curve that is spelled out instead of named.
        case explicitCurve
        case ed25519
        case ed448
        case dsa
        case other
    }

    let kind: Kind
    /// Bits of an RSA key's public exponent; 0 for other keys.
    let exponentBits: Int

    /// - Parameter encoding: the SubjectPublicKeyInfo, tag included.
    init(_ encoding: ArraySlice<UInt8>) throws(DERError) {
        var info = try DERReader(sequence: encoding)
        var algorithm = try info.next(DERTag.sequence).elements
        let key = try info.next(DERTag.bitString)
        try info.end()
        var exponentBits = 0
        switch try OID(try algorithm.next(DERTag.objectIdentifier)) {
        case .rsa, .rsaPSS:
            let sizes = try PublicKeyFacts.sizes(ofRSA: key)
            self.kind = .rsa(bits: sizes.modulus)
            exponentBits = sizes.exponent
        case .ellipticCurve:
            let parameters = try algorithm.next()
            self.kind = parameters.tag == DERTag.objectIdentifier ? .curve(try OID(parameters)) : .explicitCurve
        case .ed25519: self.kind = .ed25519
        case .ed448: self.kind = .ed448
        case .dsa: self.kind = .dsa
        default: self.kind = .other
        }
        self.exponentBits = exponentBits
    }

    private static func sizes(ofRSA key: DERElement) throws(DERError) -> (modulus: Int, exponent: Int) {
        guard key.content.first == 0 else { throw DERError() }
        var numbers = try DERReader(sequence: key.content.dropFirst())
        let modulus = try numbers.next(DERTag.integer).integerBytes().drop { $0 == 0 }
        guard let first = modulus.first else { throw DERError() }
        let exponent = try numbers.next(DERTag.integer).integerBytes().drop { $0 == 0 }
        return (
            modulus.count * 8 - first.leadingZeroBitCount,
            exponent.count * 8 - (exponent.first?.leadingZeroBitCount ?? 0)
        )
    }

    /// Exponents above it make checking one signature cost milliseconds; every key in use has 65537 or 3. OpenSSL refuses
    /// exponents of more than 64 bits only where the modulus has more than 3072.
    private static let longestExponent = 32

    /// The longest modulus that OpenSSL checks signatures with (`OPENSSL_RSA_MAX_MODULUS_BITS`).
    private static let longestModulus = 16384

    /// Whether a signature may be checked with the key: it is of a kind that certificates of servers have, and what it costs
    /// is known. Everything else breaks the rule `weak-key` wherever it stands.
    var mayCheckSignatures: Bool {
        switch self.kind {
        case .rsa(let bits): bits <= Self.longestModulus && self.exponentBits <= Self.longestExponent
        case .curve(.p256), .curve(.p384), .curve(.p521), .ed25519, .ed448: true
        case .curve, .explicitCurve, .dsa, .other: false
        }
    }

    /// Bits of security as NIST SP 800-57 counts them, rounded down to what OpenSSL's levels ask for.
    var securityBits: Int {
        switch self.kind {
        case .rsa where !self.mayCheckSignatures: 0
        case .rsa(let bits):
            switch bits {
            case ..<1024: 0
            case ..<2048: 80
            case ..<3072: 112
            case ..<7680: 128
            case ..<15360: 192
            default: 256
            }
        case .curve(.p256), .ed25519: 128
        case .curve(.p384): 192
        case .ed448: 224
        case .curve(.p521): 256
        case .curve, .explicitCurve, .dsa, .other: 0
        }
    }
}

extension PublicKeyFacts {
    /// What checking a signature costs, compared with the keys in common use: 1 is a tenth of a millisecond, which is half
    /// more than a P-256 signature takes. Measured with OpenSSL 3.0, whose P-384 is slower than its P-521.
    var cost: Int {
        switch self.kind {
        case .rsa(let bits): max(1, (bits / 4096) * (bits / 4096))
        case .curve(.p384), .curve(.p521): 4
        case .curve, .explicitCurve, .ed25519, .ed448, .dsa, .other: 1
        }
    }
}

extension PublicKeyFacts: CustomStringConvertible {
    /// As `EC P-256`, `RSA 2048` or `Ed25519`.
    var description: String {
        switch self.kind {
        case .rsa(let bits): "RSA \(bits)"
        case .curve(.p256): "EC P-256"
        case .curve(.p384): "EC P-384"
        case .curve(.p521): "EC P-521"
        case .curve: "EC, another curve"
        case .explicitCurve: "EC, a curve without name"
        case .ed25519: "Ed25519"
        case .ed448: "Ed448"
        case .dsa: "DSA"
        case .other: "unknown"
        }
    }
}
