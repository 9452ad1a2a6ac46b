// SPDX-License-Identifier: Apache-2.0

/// The reason why a tape has no answer to a request.
package struct TapeMiss: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// No recording matches.
        case unknown
        /// A recording matches, and its body was too long to be kept.
        case incomplete
        /// The tape, or the recording that matches, cannot be read.
        case unreadable
    }

    package let kind: Kind
    /// A sentence without a point.
    package let description: String

    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
