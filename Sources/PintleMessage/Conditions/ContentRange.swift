// SPDX-License-Identifier: Apache-2.0

/// The bytes of a representation that a response has (Content-Range, RFC 9110 §14.4).
package enum ContentRange: Sendable, Equatable, CustomStringConvertible {
    /// `bytes 0-499/1234`: these bytes, counted from zero, at least one; `of` is the length of the whole, nil if the field
    /// has `*`.
    case bytes(Range<UInt64>, of: UInt64?)
    /// `bytes */1234`: no bytes, because the requested range lies outside; with the length of the whole.
    case unsatisfied(length: UInt64)

    /// Reads a field value.
    ///
    /// - Returns: nil for units other than bytes, malformed values, ranges that end before they begin or after the whole,
    ///   and positions and lengths of 2^63 − 1 and more.
    package init?(_ value: String) {
        let bytes = Array(value.utf8)
        guard ASCII.equalsIgnoringCase(bytes.prefix(6), "bytes ".utf8) else { return nil }
        let parts = bytes.dropFirst(6).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let length = Self.number(parts[1])
        guard length != nil || parts[1].elementsEqual("*".utf8) else { return nil }
        if parts[0].elementsEqual("*".utf8) {
            guard let length else { return nil }
            self = .unsatisfied(length: length)
            return
        }
        let ends = parts[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            length.map({ last < $0 }) ?? true
        else { return nil }
        self = .bytes(first..<(last + 1), of: length)
    }

    /// The field value.
    package var description: String {
        switch self {
        case .bytes(let range, let length):
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length.map(String.init) ?? "*")"
        case .unsatisfied(let length): "bytes */\(length)"
        }
    }

    /// A number below 2^63 − 1, so that adding one cannot overflow, and lengths fit into the signed numbers of C libraries.
    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard ASCII.isDigit(digit) else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(digit - 0x30))
            guard !overflow, !carry, sum < Int64.max else { return nil }
            number = sum
        }
        return UInt64(number)
    }
}
