// SPDX-License-Identifier: Apache-2.0

package import PintleSchema

/// The demand of a policy test on one text, which may be missing.
package enum ExpectedText: Sendable {
    /// There is none.
    case absent
    /// The text is exactly this one.
    case exact(String)
    /// The expression matches somewhere in the text.
    case pattern(Pattern)

    /// The demand as the test file spells it.
    package var words: String {
        switch self {
        case .absent: "absent"
        case .exact(let text): text
        case .pattern(let pattern): "/\(pattern.source)/"
        }
    }

    /// The result of a comparison.
    package enum Outcome: Sendable {
        case keeps
        case breaks
        /// The expression needs more steps than it may, so the result is not known.
        case exhausted
    }

    /// Compares a text with the demand.
    ///
    /// - Parameter text: nil if there is none.
    package func compare(_ text: String?) -> Outcome {
        switch self {
        case .absent: return text == nil ? .keeps : .breaks
        case .exact(let expected): return text == expected ? .keeps : .breaks
        case .pattern(let pattern):
            guard let text else { return .breaks }
            switch pattern.search(text, steps: Pattern.stepLimit(forLength: text.utf8.count)) {
            case .matches: return .keeps
            case .differs: return .breaks
            case .exhausted: return .exhausted
            }
        }
    }
}
