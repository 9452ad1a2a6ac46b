// SPDX-License-Identifier: Apache-2.0

/// A field that Vary names, with its value in the request that a stored response answered (RFC 9111 §4.1).
package struct SelectingField: Hashable, Sendable {
    /// The field's name in lower case: a token, in ASCII.
    package let name: String
    /// The normalised value; nil where the request did not have the field, which is not the same as an empty one.
    ///
    /// Bytes, not text: `String` takes different bytes for equal, where they spell the same characters.
    package let value: [UInt8]?

    /// Makes a selecting field.
    package init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}
