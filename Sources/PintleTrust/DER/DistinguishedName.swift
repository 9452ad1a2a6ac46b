// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// A subject or an issuer, in a form for comparison by RFC 5280 §7.1: it ignores letter case, invisible characters, runs of
/// spaces, the string type, and the way in which a letter with a mark is composed.
///
/// Compatibility forms (RFC 4518 §2.3, NFKC) are not unified: a ligature is a letter of its own here.
struct DistinguishedName: Hashable {
    /// The steps of the name, from the most general to the most specific.
    let relativeNames: [RelativeName]

    var isEmpty: Bool { self.relativeNames.isEmpty }

    /// The number of bytes that a comparison may have to examine.
    var size: Int {
        self.relativeNames.reduce(0) { $0 + $1.attributes.reduce(0) { $0 + $1.type.bytes.count + $1.value.count } }
    }

    /// True if this name lies in the subtree of the other one.
    func isWithin(_ tree: DistinguishedName) -> Bool {
        self.relativeNames.starts(with: tree.relativeNames)
    }
}

/// One step of a name: one attribute, or rarely several, in no order.
struct RelativeName: Hashable {
    let attributes: [Attribute]

    init(_ attributes: [Attribute]) {
        self.attributes = attributes.count > 1 ? attributes.sorted() : attributes
    }

    /// Type and value, in their form for comparison.
    struct Attribute: Hashable, Comparable {
        let type: OID
        let isText: Bool
        /// Folded text as UTF-8, or the whole encoding if the value is not text.
        let value: [UInt8]

        /// True if the attributes are equal. Texts beyond ASCII compare by Unicode's canonical equivalence, as Swift's
        /// strings do; those with over 30 combining marks in a row by their bytes, since a peer could otherwise hold a loop.
        static func == (left: Attribute, right: Attribute) -> Bool {
            guard left.type == right.type, left.isText == right.isText else { return false }
            if left.value == right.value { return true }
            guard let text = left.unicodeText, let other = right.unicodeText else { return false }
            return text == other
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(self.type)
            // Equal values must hash alike, and equal texts beyond ASCII may have different bytes.
            if let text = self.unicodeText { hasher.combine(text) } else { hasher.combine(self.value) }
        }

        static func < (left: Attribute, right: Attribute) -> Bool {
            left.type.bytes != right.type.bytes
                ? left.type.bytes.lexicographicallyPrecedes(right.type.bytes)
                : left.value.lexicographicallyPrecedes(right.value)
        }

        /// The text if it is beyond ASCII and may be compared as text.
        private var unicodeText: String? {
            guard self.isText, self.value.contains(where: { $0 >= 0x80 }) else { return nil }
            let text = String(decoding: self.value, as: UTF8.self)
            return text.isStreamSafe ? text : nil
        }
    }
}

/// The parts of a name, read once: its form for comparison and the attributes that rules examine.
struct NameAttributes {
    let name: DistinguishedName
    /// Common names in their order, as text.
    let commonNames: [String]
    /// Values of emailAddress attributes, to which name constraints for mail apply.
    let emailAddresses: [[UInt8]]

    /// - Parameter encoding: a `Name`, tag included.
    init(_ encoding: ArraySlice<UInt8>) throws(DERError) {
        let relativeNames = try NameAttributes.relativeNames(encoding)
        let attributes = relativeNames.joined()
        self.name = DistinguishedName(relativeNames: relativeNames.map { RelativeName($0.map(\.compared)) })
        self.commonNames = attributes.filter { $0.compared.type == .commonName }
            .map { String(decoding: $0.text, as: UTF8.self).streamSafe }
        self.emailAddresses = attributes.filter { $0.compared.type == .emailAddress }.map(\.text)
    }

    private struct Attribute {
        /// The value: as UTF-8 if it is text, otherwise unchanged.
        let text: [UInt8]
        let compared: RelativeName.Attribute
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
        let text = NameText.utf8(of: value)
        return Attribute(
            text: text ?? Array(value.content),
            compared: RelativeName.Attribute(
                type: type, isText: text != nil, value: text.map(NameText.folded) ?? Array(value.encoding)))
    }
}
