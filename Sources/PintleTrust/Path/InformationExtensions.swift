// SPDX-License-Identifier: Apache-2.0

/// The extensions that only inform and decide about no path: they are decoded only to check that they are well formed.
enum InformationExtensions {
    /// - Throws: if an extension of a known type is malformed; other types are not checked.
    static func check(_ type: OID, _ bytes: ArraySlice<UInt8>) throws(DERError) {
        switch type {
        case .crlDistributionPoints, .freshestLists: try self.checkDistributionPoints(bytes)
        case .issuerAltName: _ = try GeneralName.all(in: bytes)
        case .certificatePolicies: try self.checkQualifiers(bytes)
        case .signedTimestamps: try self.checkTimestamps(bytes)
        case .subjectInformationAccess: try self.checkAccessDescriptions(bytes)
        case .tlsFeatures: try self.checkFeatures(bytes)
        default: break
        }
    }

    /// Checks authorityInfoAccess or subjectInfoAccess (RFC 5280 §4.2.2.1): methods, each with a name as its location.
    static func checkAccessDescriptions(_ bytes: ArraySlice<UInt8>) throws(DERError) {
        var list = try DERReader(sequence: bytes)
        guard !list.isAtEnd else { throw DERError() }
        while !list.isAtEnd {
            var description = try list.next(DERTag.sequence).elements
            _ = try OID(try description.next(DERTag.objectIdentifier))
            _ = try GeneralName(try description.next())
            try description.end()
        }
    }

    /// Checks distribution points of revocation lists (RFC 5280 §4.2.1.13).
    private static func checkDistributionPoints(_ bytes: ArraySlice<UInt8>) throws(DERError) {
        var list = try DERReader(sequence: bytes)
        guard !list.isAtEnd else { throw DERError() }
        while !list.isAtEnd {
            var point = try list.next(DERTag.sequence).elements
            let name = try point.optional(DERTag.constructed(0))
            let reasons = try point.optional(DERTag.implicit(1))
            let issuer = try point.optional(DERTag.constructed(2))
            try point.end()
            // Reasons alone would name no list.
            guard name != nil || issuer != nil else { throw DERError() }
            if let name { try self.checkDistributionPointName(name) }
            _ = try reasons?.bits()
            if let issuer { try self.checkNames(issuer) }
        }
    }

    private static func checkDistributionPointName(_ element: DERElement) throws(DERError) {
        var choice = element.elements
        if let full = try choice.optional(DERTag.constructed(0)) {
            try self.checkNames(full)
        } else {
            // A name relative to the issuer: attributes, at least one.
            var attributes = try choice.next(DERTag.constructed(1)).elements
            guard !attributes.isAtEnd else { throw DERError() }
            while !attributes.isAtEnd { _ = try attributes.next(DERTag.sequence) }
        }
        try choice.end()
    }

    /// Checks a list of names under a tag of its own, which must not be empty.
    private static func checkNames(_ element: DERElement) throws(DERError) {
        var names = element.elements
        guard !names.isAtEnd else { throw DERError() }
        while !names.isAtEnd { _ = try GeneralName(try names.next()) }
    }

    /// Checks the two known qualifiers of RFC 5280 §4.2.1.4. The structure around them is checked when the policies are
    /// read.
    private static func checkQualifiers(_ bytes: ArraySlice<UInt8>) throws(DERError) {
        var list = try DERReader(sequence: bytes)
        while !list.isAtEnd {
            var information = try list.next(DERTag.sequence).elements
            _ = try information.next(DERTag.objectIdentifier)
            guard var qualifiers = try information.optional(DERTag.sequence)?.elements else { continue }
            while !qualifiers.isAtEnd {
                var qualifier = try qualifiers.next(DERTag.sequence).elements
                let type = try OID(try qualifier.next(DERTag.objectIdentifier))
                let value = try qualifier.next()
                if type == .practiceStatement {
                    guard value.tag == DERTag.ia5String, value.content.allSatisfy({ $0 < 0x80 }) else {
                        throw DERError()
                    }
                } else if type == .userNotice {
                    guard value.tag == DERTag.sequence else { throw DERError() }
                    try self.checkNotice(value.elements)
                }
            }
        }
    }

    private static let displayTags: Set<UInt8> = [
        DERTag.ia5String, DERTag.visibleString, DERTag.bmpString, DERTag.utf8String,
    ]

    private static func checkNotice(_ fields: DERReader) throws(DERError) {
        var fields = fields
        if var reference = try fields.optional(DERTag.sequence)?.elements {
            guard self.displayTags.contains(try reference.next().tag) else { throw DERError() }
            var numbers = try reference.next(DERTag.sequence).elements
            while !numbers.isAtEnd { _ = try numbers.next(DERTag.integer) }
            try reference.end()
        }
        if !fields.isAtEnd {
            guard self.displayTags.contains(try fields.next().tag) else { throw DERError() }
        }
        try fields.end()
    }

    /// Checks RFC 6962 §3.3: a list in the notation of TLS within an octet string.
    private static func checkTimestamps(_ bytes: ArraySlice<UInt8>) throws(DERError) {
        var rest = try DERReader.only(DERTag.octetString, in: bytes).content
        var list = try self.vector(&rest)
        guard rest.isEmpty, !list.isEmpty else { throw DERError() }
        while !list.isEmpty {
            var timestamp = try self.vector(&list)
            // Entries of unknown versions are skipped by their length.
            guard let version = timestamp.popFirst() else { throw DERError() }
            guard version == 0 else { continue }
            // The log's id and the time.
            guard timestamp.count >= 40 else { throw DERError() }
            timestamp = timestamp.dropFirst(40)
            _ = try self.vector(&timestamp)
            // The algorithm of the signature.
            guard timestamp.count >= 2 else { throw DERError() }
            timestamp = timestamp.dropFirst(2)
            _ = try self.vector(&timestamp)
            guard timestamp.isEmpty else { throw DERError() }
        }
    }

    /// Removes a length of two bytes and that number of bytes from the front, and returns these.
    private static func vector(_ rest: inout ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        guard let high = rest.popFirst(), let low = rest.popFirst() else { throw DERError() }
        let length = Int(high) << 8 | Int(low)
        guard rest.count >= length else { throw DERError() }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }

    /// Checks RFC 7633 §4: numbers of TLS extensions.
    private static func checkFeatures(_ bytes: ArraySlice<UInt8>) throws(DERError) {
        var list = try DERReader(sequence: bytes)
        while !list.isAtEnd { _ = try list.next(DERTag.integer).smallInteger() }
    }
}
