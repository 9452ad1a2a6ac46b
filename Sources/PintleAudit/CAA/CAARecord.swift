// SPDX-License-Identifier: Apache-2.0

/// One record of certification authority authorization (RFC 8659 §4).
package struct CAARecord: Sendable, Hashable {
    /// Properties that authorities know (IANA's registry of them). A critical one of another kind stops every authority.
    private static let knownTags: Set<String> = [
        "issue", "issuewild", "iodef", "contactemail", "contactphone", "issuemail", "issuevmc",
    ]

    /// True if an authority that does not know the property must not issue.
    package let isCritical: Bool
    /// The property's name, in lower case: `issue`.
    package let tag: String
    package let value: String

    package init(isCritical: Bool = false, tag: String, value: String) {
        self.isCritical = isCritical
        self.tag = tag.lowercased()
        self.value = value
    }

    /// Reads the data of a record; nil if it is malformed.
    init?(data: ArraySlice<UInt8>) {
        guard data.count >= 2, let flags = data.first else { return nil }
        let size = Int(data[data.startIndex + 1])
        let rest = data.dropFirst(2)
        let tag = rest.prefix(size)
        guard size > 0, tag.count == size, tag.allSatisfy(Self.isTagByte) else { return nil }
        self.init(
            isCritical: flags & 0x80 != 0, tag: String(decoding: tag, as: UTF8.self),
            value: String(decoding: rest.dropFirst(size), as: UTF8.self))
    }

    private static func isTagByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// True if no authority that keeps to its duties issues because of this record.
    var stopsEveryAuthority: Bool { self.isCritical && !Self.knownTags.contains(self.tag) }

    /// The authority that an `issue` or `issuewild` allows, without its parameters; empty if it allows none, as a value that
    /// cannot be read does (RFC 8659 §4.2).
    var issuer: String {
        let name = self.value.prefix { $0 != ";" }.trimmed
        return name.utf8.allSatisfy { Self.isTagByte($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
            ? name.lowercased() : ""
    }

    /// The record as zone files spell it: `0 issue "ca.example"`. The value is cut short, since its zone chooses its length.
    package var description: String {
        "\(self.isCritical ? 128 : 0) \(self.tag) \"\(self.value.prefix(200))\""
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(self.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
