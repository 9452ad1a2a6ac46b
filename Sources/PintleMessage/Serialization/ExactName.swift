// SPDX-License-Identifier: Apache-2.0

/// A text that is another where their bytes are.
///
/// `String` takes two spellings of one character for the same, and sorts runs of combining marks in quadratic time to find
/// out; so no text that a peer chose is a key of a dictionary as a `String`.
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
