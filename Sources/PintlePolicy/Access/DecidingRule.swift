// SPDX-License-Identifier: Apache-2.0

/// The rule about destinations that made a decision.
package struct DecidingRule: Sendable, Hashable, CustomStringConvertible {
    /// The rule as logs have it, maybe with a reason behind a key.
    package let description: String
    /// The place in ``Policy/rules``; nil if it is only found by the text.
    package let place: Int?
    /// The words that the rule has for those that it denies something.
    package let advice: String?

    package init(_ description: String) { (self.description, self.place, self.advice) = (description, nil, nil) }

    init(_ description: String, place: Int, advice: String? = nil) {
        (self.description, self.place, self.advice) = (description, place, advice)
    }

    /// The text names the rule; the place only saves looking it up.
    package static func == (left: DecidingRule, right: DecidingRule) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.description) }
}
