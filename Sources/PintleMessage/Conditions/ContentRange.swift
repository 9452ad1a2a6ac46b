// SPDX-License-Identifier: Apache-2.0

/// Which bytes of a representation a response has (Content-Range, RFC 9110 §14.4).
package enum ContentRange: Sendable, Equatable, CustomStringConvertible {
    /// `bytes 0-499/1234`: these bytes, counted from zero, never none; `of` is the length of the whole, nil where the
    /// field has `*`.
    case bytes(Range<UInt64>, of: UInt64?)
    /// `bytes */1234`: none, since the range asked for lies outside; with the length of the whole.
    case unsatisfied(length: UInt64)

    /// Reads a field value.
    ///
    /// - Returns: nil for units other than bytes, for what is not as the grammar says, for ranges that end before they
    ///   begin or beyond the whole, and for positions and lengths of 2^63 − 1 and more.
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

    /// The value as it stands in a field.
    package var description: String {
        switch self {
        case .bytes(let range, let length):
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length.map(String.init) ?? "*")"
        case .unsatisfied(let length): "bytes */\(length)"
        }
    }

    /// Small enough that one can be added, and that lengths fit into a signed number, as C libraries have them.
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
