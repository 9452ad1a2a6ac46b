// SPDX-License-Identifier: Apache-2.0

/// A string that equals another if their code points are equal.
///
/// `String` treats canonically equivalent texts as equal. JSON does not, and an attacker could send keys that are all
/// equivalent.
struct ExactText: Sendable, Hashable {
    let string: String

    init(_ string: String) { self.string = string }

    static func == (left: ExactText, right: ExactText) -> Bool {
        Self.areEqual(left.string, right.string)
    }

    static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = self.string
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }
}
