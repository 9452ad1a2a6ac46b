// SPDX-License-Identifier: Apache-2.0

/// A text that is equal to another if their bytes are equal.
///
/// `String` treats two spellings of one character as equal, which JSON does not, and sorts runs of combining marks in
/// quadratic time to find out. Therefore a text that a peer chose is never a dictionary key as a `String`.
package struct ExactName: Sendable, Hashable {
    /// The text.
    package let string: String

    /// Makes a name from any text.
    package init(_ string: String) { self.string = string }

    /// True if both have the same bytes.
    package static func == (left: ExactName, right: ExactName) -> Bool { Self.areEqual(left.string, right.string) }

    /// True if both texts have the same bytes.
    package static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && left.utf8.span.withUnsafeBufferPointer { left in
                right.utf8.span.withUnsafeBufferPointer { left.elementsEqual($0) }
            }
    }

    package func hash(into hasher: inout Hasher) {
        self.string.utf8.span.withUnsafeBufferPointer { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }
}
