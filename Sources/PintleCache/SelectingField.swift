// SPDX-License-Identifier: Apache-2.0

/// A field named by Vary, with its value in the request of the stored response (RFC 9111 §4.1).
package struct SelectingField: Hashable, Sendable {
    /// The field's name in lower case: a token, in ASCII.
    package let name: String
    /// The normalised value; nil if the request did not have the field, which differs from an empty value.
    ///
    /// Bytes instead of text: two `String`s are equal although their bytes differ, if these spell the same characters.
    package let value: [UInt8]?

    /// Makes a selecting field.
    package init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}
