// SPDX-License-Identifier: Apache-2.0

/// A fault of a filter, with its place.
package struct FilterError: Error, Equatable, CustomStringConvertible {
    /// The Unicode scalar at which the fault begins, counted from 0; the length of the filter if something is missing at its end.
    package let position: Int
    /// The reason, in lower case and without a full stop.
    package let reason: String

    init(_ reason: String, at position: Int) {
        self.position = position
        self.reason = reason
    }

    package var description: String { "\(self.reason), at character \(self.position + 1)" }

    /// The fault in lines for people: the reason, and the filter with a mark below the place.
    ///
    /// - Parameter filter: the filter that has the fault.
    package func lines(in filter: String) -> [String] {
        // A tab would be wider than the mark's blank, and a line end would move the mark to another line.
        let shown = String(
            String.UnicodeScalarView(filter.unicodeScalars.map { $0.properties.isWhitespace ? " " : $0 }))
        return [
            "this is not a filter: \(self)", "  \(shown)", "  " + String(repeating: " ", count: self.position) + "^",
        ]
    }
}
