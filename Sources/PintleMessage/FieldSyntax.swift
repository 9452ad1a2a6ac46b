// SPDX-License-Identifier: Apache-2.0

/// The grammar of field lines (RFC 9110 §5.5, §5.6.2): the check for names and values that come from outside.
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
}
