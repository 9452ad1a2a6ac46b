// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// The spelling of values, the same in the configuration and on the command line.
package enum Spelling {
    /// A length of time within `range`: a whole number and `ms`, `s`, `m`, `h` or `d`.
    package static func duration(_ text: String, _ range: ClosedRange<Duration>) throws(Malformed) -> Duration {
        let form = "must be a duration: a whole number with a unit, as in 250ms, 10s, 5m, 1h or 2d"
        let (digits, unit) = Self.splitUnit(text)
        let milliseconds = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let factor = milliseconds[String(unit)], let number = Int(digits), !digits.isEmpty else {
            throw Malformed(form)
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        let duration: Duration = .milliseconds(product)
        guard !overflow, range.contains(duration) else {
            throw Malformed("must be from \(range.lowerBound.spelled) to \(range.upperBound.spelled)")
        }
        return duration
    }

    /// A number of bytes within `range`: a whole number, also with `KiB`, `MiB` or `GiB`.
    package static func byteCount(_ text: String, _ range: ClosedRange<Int>) throws(Malformed) -> Int {
        let (digits, unit) = Self.splitUnit(text)
        let factors = ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
        guard let factor = factors[String(unit)], let number = Int(digits), !digits.isEmpty else {
            throw Malformed("must be a size: a whole number of bytes, or with a unit, as in 64KiB, 8MiB or 1GiB")
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, range.contains(product) else {
            throw Malformed("must be from \(range.lowerBound.spelledAsBytes) to \(range.upperBound.spelledAsBytes)")
        }
        return product
    }

    /// Statuses: `304`, `200-299` or `2xx`.
    package static func statuses(_ text: String) throws(Malformed) -> ClosedRange<UInt16> {
        if text.utf8.count == 3, text.lowercased().hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue,
            (1...5).contains(hundreds)
        {
            return UInt16(hundreds * 100)...UInt16(hundreds * 100 + 99)
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.utf8.count == 3 ? UInt16(part) : nil }
        guard parts.count <= 2, numbers.count == parts.count, let first = numbers.first, let last = numbers.last,
            first >= 100, last <= 599, first <= last
        else { throw Malformed("must be a status or a range from 100 to 599, as in 304, 200-299 or 2xx") }
        return first...last
    }

    /// A media type without parameters, in lower case.
    package static func mediaType(_ text: String) throws(Malformed) -> String {
        guard !text.contains(";") else { throw Malformed("a media type without parameters, as in application/json") }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ ASCII.isToken($0.utf8) && !$0.contains("*") }) else {
            throw Malformed("must be one media type, as in application/json; there are no wildcards")
        }
        return text.lowercased()
    }

    /// A whole number within `range`.
    package static func wholeNumber(_ text: String, _ range: ClosedRange<Int>) throws(Malformed) -> Int {
        guard let number = Int(text), !text.hasPrefix("+"), range.contains(number) else {
            throw Malformed("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func splitUnit(_ text: String) -> (digits: Substring, unit: Substring) {
        let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
        return (digits, text[digits.endIndex...])
    }
}
