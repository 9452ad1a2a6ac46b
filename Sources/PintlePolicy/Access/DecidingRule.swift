// SPDX-License-Identifier: Apache-2.0

/// The rule about destinations that made a decision.
package struct DecidingRule: Sendable, Hashable, CustomStringConvertible {
    /// The rule as logs have it, maybe with a reason behind a key.
    package let description: String
    /// The place in ``Policy/rules``; nil if it is only found by the text.
    package let place: Int?
    /// The words that the rule has for those that it denies something.
    package let advice: String?
    /// True if the rule leaves the decision to a person or a program that is asked.
    let asks: Bool

    package init(_ description: String) { self.init(description, place: nil) }

    init(_ description: String, place: Int?, advice: String? = nil, asks: Bool = false) {
        (self.description, self.place, self.advice, self.asks) = (description, place, advice, asks)
    }

    /// The permission that was the answer to the question of this rule.
    ///
    /// - Parameter words: the place of the answer and its scope, as in `granted at the terminal, once`.
    package func granted(_ words: String) -> DecidingRule {
        DecidingRule("\(self.description), \(words)", place: self.place)
    }

    /// The text names the rule; the place only saves looking it up.
    package static func == (left: DecidingRule, right: DecidingRule) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.description) }
}
