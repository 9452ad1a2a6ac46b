// SPDX-License-Identifier: Apache-2.0

/// A subject or an issuer, in a form that compares as RFC 5280 §7.1 asks: letter case and runs of spaces do not matter,
/// nor which string type was used.
struct DistinguishedName: Hashable {
    /// Relative names from the most general to the most specific, each as its attributes in one block of bytes.
    let relativeNames: [[UInt8]]

    var isEmpty: Bool { self.relativeNames.isEmpty }

    /// Whether this name lies in the subtree of the other one.
    func isWithin(_ tree: DistinguishedName) -> Bool {
        self.relativeNames.starts(with: tree.relativeNames)
    }
}

/// What a name says, read once: its form for comparisons and the attributes that rules look at.
struct NameAttributes {
    private(set) var name = DistinguishedName(relativeNames: [])
    /// Common names in their order, as text.
    private(set) var commonNames: [String] = []
    /// Values of emailAddress attributes, which name constraints for mail apply to.
    private(set) var emailAddresses: [[UInt8]] = []

    /// - Parameter encoding: a `Name`, tag included.
    init(_ encoding: ArraySlice<UInt8>) throws(DERError) {
        var reader = try DERReader(sequence: encoding)
        var relativeNames: [[UInt8]] = []
        while !reader.isAtEnd {
            var attributes = try reader.next(DERTag.set).elements
            guard !attributes.isAtEnd else { throw DERError() }
            var parts: [[UInt8]] = []
            while !attributes.isAtEnd { parts.append(try self.attribute(try attributes.next(DERTag.sequence))) }
            // A set has no order.
            if parts.count > 1 { parts.sort { $0.lexicographicallyPrecedes($1) } }
            relativeNames.append(Array(parts.joined()))
        }
        self.name = DistinguishedName(relativeNames: relativeNames)
    }

    /// Length-prefixed, so that two attributes cannot be taken for another two.
    private mutating func attribute(_ element: DERElement) throws(DERError) -> [UInt8] {
        var reader = element.elements
        let type = try OID(try reader.next(DERTag.objectIdentifier))
        let value = try reader.next()
        try reader.end()
        let text = NameAttributes.text(of: value)
        if type == .commonName {
            self.commonNames.append(String(decoding: text ?? Array(value.content), as: UTF8.self))
        }
        if type == .emailAddress { self.emailAddresses.append(text ?? Array(value.content)) }
        let compared = text.map(NameAttributes.folded) ?? Array(value.encoding)
        return NameAttributes.measured(type.bytes) + [text == nil ? 1 : 0] + NameAttributes.measured(compared)
    }

    private static func measured(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 16), UInt8(truncatingIfNeeded: bytes.count >> 8)]
            + [UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }

    /// The value as UTF-8, nil for what is no text.
    private static func text(of value: DERElement) -> [UInt8]? {
        let bytes = value.content
        switch value.tag {
        case DERTag.utf8String, DERTag.printableString, DERTag.ia5String, DERTag.visibleString:
            return Array(bytes)
        case DERTag.teletexString:
            return bytes.flatMap { Array(String(UnicodeScalar($0)).utf8) }
        case DERTag.bmpString where bytes.count.isMultiple(of: 2):
            let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        default: return nil
        }
    }

    /// Without spaces at the ends, with one for each run of them inside, and in lower case as far as ASCII goes.
    private static func folded(_ text: [UInt8]) -> [UInt8] {
        var folded: [UInt8] = []
        folded.reserveCapacity(text.count)
        var isAfterSpace = true
        for byte in text {
            let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
            if !isSpace {
                folded.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
            } else if !isAfterSpace {
                folded.append(0x20)
            }
            isAfterSpace = isSpace
        }
        if folded.last == 0x20 { folded.removeLast() }
        return folded
    }
}
