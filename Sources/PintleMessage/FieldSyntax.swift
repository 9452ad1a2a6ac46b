// SPDX-License-Identifier: Apache-2.0

/// The grammar of field lines (RFC 9110 §5.5, §5.6): the check for names and values that come from outside, and the form of
/// quoted strings. ``FieldScanner`` reads the parts of a value.
package enum FieldSyntax {
    /// True if `name` is a field name: a token.
    package static func isName(_ name: String) -> Bool { ASCII.isToken(name.utf8) }

    /// True if `value` is a field value: no control bytes except tabs, no white space at its ends.
    package static func isValue(_ value: String) -> Bool {
        let bytes = value.utf8
        if let first = bytes.first, first == 0x20 || first == 0x09 { return false }
        if let last = bytes.last, last == 0x20 || last == 0x09 { return false }
        return bytes.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// Returns the quoted string that stands for `text` (RFC 9110 §5.6.4; of printable ASCII, also RFC 8941 §3.3.3).
    package static func quoted(_ text: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}
