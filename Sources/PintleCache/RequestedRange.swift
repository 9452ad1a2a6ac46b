// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The part of a stored representation that a request asks for (RFC 9110 §14.2).
enum RequestedRange: Equatable {
    /// The complete representation: no range, a malformed one, one of another unit, several, or one whose condition does not
    /// hold.
    case whole
    /// These bytes; never empty.
    case bytes(Range<UInt64>)
    /// Bytes outside of the representation.
    case unsatisfiable

    /// Reads Range and If-Range (RFC 9110 §13.1.5).
    init(of request: RequestHead, for stored: StoredResponse) {
        let values = request.fields.values(of: "Range")
        // Only GET has ranges, and only a success has parts.
        guard request.method == "GET", stored.head.status == 200, values.count == 1,
            Self.holds(request.fields.values(of: "If-Range"), for: stored.head.fields)
        else {
            self = .whole
            return
        }
        self = Self.resolve(values[0], length: stored.length)
    }

    /// True if there is no If-Range, or one with the strong validator of the stored response.
    private static func holds(_ conditions: [String], for fields: Fields) -> Bool {
        guard let condition = conditions.first else { return true }
        guard conditions.count == 1, let strong = Validators.strong(fields) else { return false }
        return condition.isSpelled(strong)
    }

    private static func resolve(_ value: String, length: UInt64) -> RequestedRange {
        let bytes = Array(value.utf8)
        guard ASCII.equalsIgnoringCase(bytes.prefix(6), "bytes=".utf8) else { return .whole }
        let spec = ASCII.trimmed(bytes[6...])
        let ends = spec.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy(ASCII.isDigit) }) else { return .whole }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (nil, nil): return .whole
        case (nil, let count?):
            guard count > 0 else { return .unsatisfiable }
            // The end of nothing is all of it; Content-Range cannot express that.
            return length == 0 ? .whole : .bytes(length - min(count, length)..<length)
        case (let first?, let last):
            if let last, last < first { return .whole }
            guard first < length else { return .unsatisfiable }
            return .bytes(first..<min(last ?? length, length - 1) + 1)
        }
    }

    /// The value of the digits, or the greatest number if it is too large; nil if there are no digits.
    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        guard !digits.isEmpty else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            let (product, isOver) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOverToo) = product.addingReportingOverflow(UInt64(digit - 0x30))
            if isOver || isOverToo { return .max }
            number = sum
        }
        return number
    }
}
