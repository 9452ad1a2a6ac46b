// SPDX-License-Identifier: Apache-2.0

@testable import PintlePolicy

/// Tests write the rules that they expect as texts.
extension DecidingRule: ExpressibleByStringInterpolation {
    /// Makes a rule that is known by its text alone.
    public init(stringLiteral text: String) { self.init(text) }
}
