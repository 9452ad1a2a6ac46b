// SPDX-License-Identifier: Apache-2.0

/// The reason why a tape, or a part of it, cannot be read or written.
package struct TapeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file or the folder.
    package let place: String
    /// A sentence without a capital letter and without a point.
    package let reason: String

    package init(_ place: String, _ reason: String) { (self.place, self.reason) = (place, reason) }

    /// `place: reason`.
    package var description: String { "\(self.place): \(self.reason)" }
}
