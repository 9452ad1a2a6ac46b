// SPDX-License-Identifier: Apache-2.0

/// The reason why a signed report does not hold, or cannot be written, in one sentence without a stop.
package struct AttestationError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
