// SPDX-License-Identifier: Apache-2.0

/// Why a history could not be used: what happened, with which file, and what to do.
package struct HistoryError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
