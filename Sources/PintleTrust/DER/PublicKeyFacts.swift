// SPDX-License-Identifier: Apache-2.0

/// Facts about the key in a SubjectPublicKeyInfo, without trying to use it.
struct PublicKeyFacts: Hashable {
    enum Kind: Hashable {
        case rsa(bits: Int)
        case curve(OID)
        /// A curve that is given by its parameters instead of its name.
        case explicitCurve
        case ed25519
        case ed448
        case dsa
        case other
    }

    let kind: Kind
    /// The number of bits of an RSA key's public exponent; 0 for other keys.
    let exponentBits: Int
    /// True if the numbers of an RSA key are valid: an odd, positive modulus, and an odd exponent from 3 upwards (BR
    /// §6.1.6). With an exponent of 1 or 0, signatures can be made without the private key. True for other keys.
    let hasSoundNumbers: Bool
    /// True if the bits of the key are exactly one key in its algorithm's encoding. That a point lies on its curve is not
    /// checked here. Also true for the kinds of keys that are never trusted.
    let isWellFormed: Bool

    /// - Parameter encoding: the SubjectPublicKeyInfo, including its tag.
    /// - Throws: if it is no SubjectPublicKeyInfo. A damaged key inside it is only not well formed.
    init(_ encoding: ArraySlice<UInt8>) throws(DERError) {
        var info = try DERReader(sequence: encoding)
        var algorithm = try info.next(DERTag.sequence).elements
        let key = try info.next(DERTag.bitString)
        try info.end()
        var numbers: RSANumbers?
        var isWellFormed = true
        switch try OID(try algorithm.next(DERTag.objectIdentifier)) {
        case .rsa, .rsaPSS:
            numbers = try? RSANumbers(key)
            self.kind = .rsa(bits: numbers?.modulusBits ?? 0)
            isWellFormed = numbers != nil
        case .ellipticCurve:
            if let name = try algorithm.optional(DERTag.objectIdentifier) {
                let curve = try OID(name)
                self.kind = .curve(curve)
                isWellFormed = algorithm.isAtEnd && PublicKeyFacts.isPoint(key, on: curve)
            } else {
                self.kind = .explicitCurve
            }
        case .ed25519:
            self.kind = .ed25519
            isWellFormed = algorithm.isAtEnd && PublicKeyFacts.isBytes(key, count: 32)
        case .ed448:
            self.kind = .ed448
            isWellFormed = algorithm.isAtEnd && PublicKeyFacts.isBytes(key, count: 57)
        case .dsa: self.kind = .dsa
        default: self.kind = .other
        }
        self.exponentBits = numbers?.exponentBits ?? 0
        self.hasSoundNumbers = numbers?.areSound ?? true
        self.isWellFormed = isWellFormed
    }

    /// The RSAPublicKey in a BIT STRING (RFC 8017 §A.1.1).
    private struct RSANumbers {
        let modulusBits: Int
        let exponentBits: Int
        let areSound: Bool

        init(_ key: DERElement) throws(DERError) {
            guard key.content.first == 0 else { throw DERError() }
            var numbers = try DERReader(sequence: key.content.dropFirst())
            let modulus = try numbers.next(DERTag.integer).integerBytes()
            let exponent = try numbers.next(DERTag.integer).integerBytes()
            try numbers.end()
            self.modulusBits = Self.bits(of: modulus)
            self.exponentBits = Self.bits(of: exponent)
            // 1 is the only odd number of one bit.
            self.areSound = Self.isOddAndPositive(modulus) && Self.isOddAndPositive(exponent) && self.exponentBits > 1
        }

        private static func bits(of number: ArraySlice<UInt8>) -> Int {
            let magnitude = number.drop { $0 == 0 }
            return magnitude.count * 8 - (magnitude.first?.leadingZeroBitCount ?? 0)
        }

        /// True if a number in two's complement is odd and positive: negative ones begin with a set bit.
        private static func isOddAndPositive(_ number: ArraySlice<UInt8>) -> Bool {
            guard let first = number.first, let last = number.last else { return false }
            return first < 0x80 && last & 1 == 1
        }
    }

    /// True if a BIT STRING has the length of a point of a curve that servers use (SEC 1 §2.3.3); also true for other
    /// curves.
    private static func isPoint(_ key: DERElement, on curve: OID) -> Bool {
        let size: Int
        switch curve {
        case .p256: size = 32
        case .p384: size = 48
        case .p521: size = 66
        default: return true
        }
        guard key.content.first == 0, let form = key.content.dropFirst().first else { return false }
        switch form {
        case 4: return key.content.count == 2 + 2 * size
        case 2, 3: return key.content.count == 2 + size
        default: return false
        }
    }

    private static func isBytes(_ key: DERElement, count: Int) -> Bool {
        key.content.first == 0 && key.content.count == 1 + count
    }

    /// The longest accepted exponent in bits: with longer ones, checking a signature takes milliseconds, and every key in
    /// use has 65537 or 3. OpenSSL refuses exponents of more than 64 bits only if the modulus has more than 3072.
    private static let longestExponent = 32

    /// The longest modulus in bits with which OpenSSL checks signatures (`OPENSSL_RSA_MAX_MODULUS_BITS`).
    private static let longestModulus = 16384

    /// True if signatures may be checked with the key: certificates of servers have this kind, and its cost is known. Any
    /// other key breaks the rule `weak-key` at every place of a chain.
    var mayCheckSignatures: Bool {
        switch self.kind {
        case .rsa(let bits):
            self.hasSoundNumbers && bits <= Self.longestModulus && self.exponentBits <= Self.longestExponent
        case .curve(.p256), .curve(.p384), .curve(.p521), .ed25519, .ed448: true
        case .curve, .explicitCurve, .dsa, .other: false
        }
    }

    /// Bits of security as counted by NIST SP 800-57, rounded down to the values of OpenSSL's security levels.
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
    /// The relative cost of checking a signature: 1 is a tenth of a millisecond, which is one and a half times that of a
    /// P-256 signature. Measured with OpenSSL 3.0, in which P-384 is slower than P-521.
    var cost: Int {
        switch self.kind {
        case .rsa(let bits): max(1, (bits / 4096) * (bits / 4096))
        case .curve(.p384), .curve(.p521): 4
        case .curve, .explicitCurve, .ed25519, .ed448, .dsa, .other: 1
        }
    }
}

extension PublicKeyFacts: CustomStringConvertible {
    /// The kind and size of the key, for example `EC P-256`, `RSA 2048` or `Ed25519`.
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
