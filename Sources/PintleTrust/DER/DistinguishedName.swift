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
    let name: DistinguishedName
    /// Common names in their order, as text.
    let commonNames: [String]
    /// Values of emailAddress attributes, which name constraints for mail apply to.
    let emailAddresses: [[UInt8]]

    /// - Parameter encoding: a `Name`, tag included.
    init(_ encoding: ArraySlice<UInt8>) throws(DERError) {
        let relativeNames = try NameAttributes.relativeNames(encoding)
        let attributes = relativeNames.joined()
        self.name = DistinguishedName(
            relativeNames: relativeNames.map { attributes in
                guard attributes.count > 1 else { return attributes.first?.compared ?? [] }
                // A set has no order.
                return Array(attributes.map(\.compared).sorted { $0.lexicographicallyPrecedes($1) }.joined())
            })
        self.commonNames = attributes.filter { $0.type == .commonName }.map { String(decoding: $0.text, as: UTF8.self) }
        self.emailAddresses = attributes.filter { $0.type == .emailAddress }.map(\.text)
    }

    private struct Attribute {
        let type: OID
        /// As UTF-8 where it is text, otherwise as it is.
        let text: [UInt8]
        /// Type and value with their lengths, so that two attributes cannot be taken for another two.
        let compared: [UInt8]
    }

    private static func relativeNames(_ encoding: ArraySlice<UInt8>) throws(DERError) -> [[Attribute]] {
        var reader = try DERReader(sequence: encoding)
        var relativeNames: [[Attribute]] = []
        while !reader.isAtEnd {
            let set = try reader.next(DERTag.set)
            relativeNames.append(try self.attributes(set))
        }
        return relativeNames
    }

    private static func attributes(_ set: DERElement) throws(DERError) -> [Attribute] {
        var reader = set.elements
        guard !reader.isAtEnd else { throw DERError() }
        var attributes: [Attribute] = []
        while !reader.isAtEnd {
            let element = try reader.next(DERTag.sequence)
            attributes.append(try self.attribute(element))
        }
        return attributes
    }

    private static func attribute(_ element: DERElement) throws(DERError) -> Attribute {
        var reader = element.elements
        let type = try OID(try reader.next(DERTag.objectIdentifier))
        let value = try reader.next()
        try reader.end()
        let text = NameAttributes.text(of: value)
        let compared = text.map(NameAttributes.folded) ?? Array(value.encoding)
        return Attribute(
            type: type, text: text ?? Array(value.content),
            compared: NameAttributes.measured(type.bytes) + [text == nil ? 1 : 0] + NameAttributes.measured(compared))
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
