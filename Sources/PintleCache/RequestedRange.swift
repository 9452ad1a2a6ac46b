// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The part of a stored representation that a request asks for (RFC 9110 §14.2).
enum RequestedRange: Equatable {
    /// The whole: no range, one that is malformed or of another unit, several, or one whose condition does not hold.
    case whole
    /// These bytes, never none.
    case bytes(Range<UInt64>)
    /// Bytes that lie outside.
    case unsatisfiable

    /// Reads Range and If-Range (RFC 9110 §13.1.5).
    init(of request: RequestHead, for stored: StoredResponse) {
        let values = request.fields.values(of: "Range")
        // GET alone has ranges, and of what is no success there are none.
        guard request.method == "GET", stored.head.status == 200, values.count == 1,
            Self.holds(request.fields.values(of: "If-Range"), for: stored.head.fields)
        else {
            self = .whole
            return
        }
        self = Self.resolve(values[0], length: stored.length)
    }

    /// True where there is no If-Range, or one that names what is stored, byte for byte.
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
            // The end of nothing is all of it, which no Content-Range can say.
            return length == 0 ? .whole : .bytes(length - min(count, length)..<length)
        case (let first?, let last):
            if let last, last < first { return .whole }
            guard first < length else { return .unsatisfiable }
            return .bytes(first..<min(last ?? length, length - 1) + 1)
        }
    }

    /// The value of digits, or the greatest number that there is; nil where there are none.
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
