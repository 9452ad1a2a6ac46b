// SPDX-License-Identifier: Apache-2.0

/// The rule about destinations that made a decision.
package struct DecidingRule: Sendable, Hashable, CustomStringConvertible {
    /// The rule as logs have it, maybe with a reason behind a key.
    package let description: String
    /// The place in ``Policy/rules``; nil if it is only found by the text.
    package let place: Int?

    package init(_ description: String) { (self.description, self.place) = (description, nil) }

    init(_ description: String, place: Int) { (self.description, self.place) = (description, place) }

    /// The text names the rule; the place only saves looking it up.
    package static func == (left: DecidingRule, right: DecidingRule) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.description) }
}
