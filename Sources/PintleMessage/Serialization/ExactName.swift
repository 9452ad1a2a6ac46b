// SPDX-License-Identifier: Apache-2.0

/// A text that is equal to another if their bytes are equal.
///
/// `String` treats two spellings of one character as equal, and sorts runs of combining marks in quadratic time to find
/// out. Therefore a text that a peer chose is never a dictionary key as a `String`.
struct ExactName: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactName, right: ExactName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        self.text.utf8.span.withUnsafeBufferPointer { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
