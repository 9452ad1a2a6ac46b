// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The tags of If-None-Match (RFC 9110 §13.1.2).
enum EntityTagList {
    /// True if the list has the tag of the stored response, weak or strong, or is `*`. Reading stops at the first member that
    /// is not a tag.
    static func matches(_ fields: Fields, _ stored: EntityTag?) -> Bool {
        let values = fields.values(of: "If-None-Match")
        if values.count == 1, values[0].isSpelled("*") { return true }
        guard let stored else { return false }
        return values.contains { value in Self.contains(stored, in: Array(value.utf8)[...]) }
    }

    private static func contains(_ wanted: EntityTag, in list: ArraySlice<UInt8>) -> Bool {
        var rest = list
        let wantedBytes = Array(wanted.opaque.utf8)
        while true {
            rest = rest.drop { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
            if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
            guard rest.popFirst() == UInt8(ascii: "\"") else { return false }
            let opaque = rest.prefix { $0 != UInt8(ascii: "\"") }
            rest = rest[opaque.endIndex...]
            guard rest.popFirst() == UInt8(ascii: "\"") else { return false }
            if opaque.elementsEqual(wantedBytes) { return true }
        }
    }
}
