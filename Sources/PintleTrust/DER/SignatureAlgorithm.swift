// SPDX-License-Identifier: Apache-2.0

/// The strength of the algorithm of a certificate's signature.
enum SignatureAlgorithm {
    /// sha256WithRSAEncryption and its two longer variants: 1.2.840.113549.1.1.N
    private static let rsaPrefix: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1]
    /// ecdsa-with-SHA2: 1.2.840.10045.4.3.N
    private static let curvePrefix: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3]
    /// The SHA-2 digests: 2.16.840.1.101.3.4.2.N
    private static let digestPrefix: [UInt8] = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2]

    /// Returns the bits of security against collisions: half the digest's length, and 0 for algorithms that are too weak or
    /// unknown, including MD5 and SHA-1.
    ///
    /// - Parameter element: the AlgorithmIdentifier.
    static func securityBits(of element: DERElement) throws(DERError) -> Int {
        var fields = element.elements
        let algorithm = try OID(try fields.next(DERTag.objectIdentifier))
        switch algorithm {
        case .ed25519: return 128
        case .ed448: return 224
        case .rsaPSS: return try self.securityBits(ofPSS: fields)
        default: break
        }
        guard let last = algorithm.bytes.last else { return 0 }
        switch Array(algorithm.bytes.dropLast()) {
        case self.rsaPrefix: return [11: 128, 12: 192, 13: 256][last] ?? 0
        case self.curvePrefix: return [2: 128, 3: 192, 4: 256][last] ?? 0
        default: return 0
        }
    }

    /// Returns the bits of security of RSA-PSS. The parameters name two digests, of the message and of the mask; an omitted
    /// one is SHA-1 (RFC 4055 §3.1). The weaker one counts.
    private static func securityBits(ofPSS fields: DERReader) throws(DERError) -> Int {
        var fields = fields
        guard var parameters = try fields.optional(DERTag.sequence)?.elements,
            let digest = try parameters.optional(DERTag.constructed(0)),
            let mask = try parameters.optional(DERTag.constructed(1))
        else { return 0 }
        var generator = try DERReader(sequence: mask.content)
        guard try OID(try generator.next(DERTag.objectIdentifier)) == .maskGeneration1 else { return 0 }
        let ofMask = try self.securityBits(ofDigest: try generator.next(DERTag.sequence).elements)
        return min(ofMask, try self.securityBits(ofDigest: try DERReader(sequence: digest.content)))
    }

    private static func securityBits(ofDigest fields: DERReader) throws(DERError) -> Int {
        var fields = fields
        let identifier = try OID(try fields.next(DERTag.objectIdentifier))
        guard identifier.bytes.dropLast().elementsEqual(self.digestPrefix), let last = identifier.bytes.last else {
            return 0
        }
        return [1: 128, 2: 192, 3: 256][last] ?? 0
    }
}
