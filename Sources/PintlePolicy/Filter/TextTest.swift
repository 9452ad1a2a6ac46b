// SPDX-License-Identifier: Apache-2.0

internal import PintleSchema

/// The argument of an operator that reads text.
enum TextTest: Sendable {
    /// The text has this in it, in any letter case.
    case contains(lowercase: String)
    /// The text is this, in any letter case.
    case equals(lowercase: String)
    /// The expression is found in the text.
    case matches(Pattern)

    /// A text that needs too many steps of a regular expression does not match.
    func holds(for text: String) -> Bool {
        switch self {
        case .contains(let part): text.lowercased().contains(part)
        case .equals(let whole): Self.areEqual(text.lowercased(), whole)
        case .matches(let pattern):
            switch pattern.search(text, steps: Pattern.stepLimit(forLength: text.utf8.count)) {
            case .matches: true
            case .differs, .exhausted: false
            }
        }
    }

    /// One spelling of a text has at most four times the bytes of another: U+0390 has two, and U+1FBE U+0308 U+0301 have seven. Longer
    /// texts are not compared: that may take quadratic time.
    private static func areEqual(_ text: String, _ whole: String) -> Bool {
        text.utf8.count <= 4 * whole.utf8.count && text == whole
    }
}
