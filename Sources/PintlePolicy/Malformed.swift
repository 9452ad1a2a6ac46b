// SPDX-License-Identifier: Apache-2.0

/// Why a text is not what it should be: a clause that says what would be.
///
/// It never repeats the text: that may be a secret from the environment. Who reports it names the place.
package struct Malformed: Error, Equatable, CustomStringConvertible {
    /// The reason, in lower case and without a full stop.
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }

    package var description: String { self.reason }
}
