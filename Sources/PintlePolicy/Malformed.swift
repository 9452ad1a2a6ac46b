// SPDX-License-Identifier: Apache-2.0

/// The reason why a text is not valid: a clause that says what would be valid.
///
/// Never repeats the text, as that may be a secret from the environment. The code that reports it names the place.
package struct Malformed: Error, Equatable, CustomStringConvertible {
    /// The reason, in lower case and without a full stop.
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }

    package var description: String { self.reason }
}
