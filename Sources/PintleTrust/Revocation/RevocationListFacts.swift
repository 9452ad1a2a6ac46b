// SPDX-License-Identifier: Apache-2.0

/// Facts about a revocation list that OpenSSL's functions do not give, read from its DER once (RFC 5280 §5.1).
struct RevocationListFacts {
    /// The strength of the signature; see `SignatureAlgorithm.securityBits`.
    let signatureBits: Int
    /// True if the two fields for the signature's algorithm are equal.
    let namesOneSignatureAlgorithm: Bool
    /// True if it only has the changes since another list (§5.2.4).
    let isDelta: Bool
    /// True if an entry has a critical extension. None is understood here: the only one of RFC 5280, the issuer of the
    /// certificate (§5.3.3), occurs in lists about other issuers.
    let hasCriticalEntries: Bool

    /// - Parameter der: the list.
    init(der: [UInt8]) throws(DERError) {
        var list = try DERReader(sequence: der[...])
        var body = try list.next(DERTag.sequence).elements
        let outerAlgorithm = try list.next(DERTag.sequence)
        _ = try list.next(DERTag.bitString)
        try list.end()
        self.signatureBits = try SignatureAlgorithm.securityBits(of: outerAlgorithm)
        // The version, which lists of version 1 omit.
        _ = try body.optional(DERTag.integer)
        self.namesOneSignatureAlgorithm = try body.next(DERTag.sequence).encoding == outerAlgorithm.encoding
        _ = try body.next(DERTag.sequence)
        // The dates of this update and of the next one, which may be missing.
        _ = try body.next()
        if body.nextTag == DERTag.utcTime || body.nextTag == DERTag.generalizedTime { _ = try body.next() }
        self.hasCriticalEntries = try body.optional(DERTag.sequence).map(Self.hasCriticalEntries) ?? false
        let extensions = try body.optional(DERTag.constructed(0))
        try body.end()
        self.isDelta =
            try extensions.map { (element) throws(DERError) in
                try Self.extensions(element.content).contains { $0.type == .deltaIndicator }
            } ?? false
    }

    private static func hasCriticalEntries(_ list: DERElement) throws(DERError) -> Bool {
        var entries = list.elements
        while !entries.isAtEnd {
            var entry = try entries.next(DERTag.sequence).elements
            _ = try entry.next(DERTag.integer)
            _ = try entry.next()
            guard let extensions = try entry.optional(DERTag.sequence) else { continue }
            if try Self.extensions(extensions.encoding).contains(where: \.isCritical) { return true }
        }
        return false
    }

    private static func extensions(_ bytes: ArraySlice<UInt8>) throws(DERError) -> [(type: OID, isCritical: Bool)] {
        var list = try DERReader(sequence: bytes)
        var extensions: [(OID, Bool)] = []
        while !list.isAtEnd {
            var fields = try list.next(DERTag.sequence).elements
            let type = try OID(try fields.next(DERTag.objectIdentifier))
            let isCritical = try fields.flag()
            _ = try fields.next(DERTag.octetString)
            try fields.end()
            extensions.append((type, isCritical))
        }
        return extensions
    }
}
