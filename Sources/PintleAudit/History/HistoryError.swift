// SPDX-License-Identifier: Apache-2.0

/// The reason why a history could not be used: the file, the problem, and the way out.
package struct HistoryError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
