// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension Parameter {
    /// Makes the number in `text`, in the narrowest case that loses nothing.
    ///
    /// - Parameter text: a JSON number (RFC 8259 §6).
    init(jsonNumber text: UnsafeBufferPointer<UInt8>) {
        if let short = Self.shortNumber(text) {
            self = short
            return
        }
        let text = String(decoding: text, as: UTF8.self)
        if text != "-0", let whole = Int64(text) {
            self = .integer(whole)
        } else if let number = Double(text), Self.isExact(number, text) {
            self = .number(number)
        } else {
            self = .decimal(text)
        }
    }

    /// Reads a number of at most fifteen digits without an exponent, as most numbers are; nil for all others.
    ///
    /// `Double` holds the digits exactly as a whole number, and also the power of ten to divide by; the one division rounds
    /// to the nearest number.
    private static func shortNumber(_ text: UnsafeBufferPointer<UInt8>) -> Parameter? {
        guard text.count <= 16 else { return nil }
        let isNegative = text[0] == UInt8(ascii: "-")
        var digits: Int64 = 0
        var count = 0
        var divisor = 0.0
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            if ASCII.isDigit(byte) {
                digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
                count += 1
                divisor *= 10
            } else if byte == UInt8(ascii: ".") {
                divisor = 1
            } else {
                return nil
            }
        }
        guard count <= 15 else { return nil }
        if divisor == 0, digits > 0 || !isNegative { return .integer(isNegative ? -digits : digits) }
        let number = Double(digits) / max(divisor, 1)
        return .number(isNegative ? -number : number)
    }

    private static func isExact(_ number: Double, _ text: String) -> Bool {
        // Different numbers of up to fifteen digits are different normal `Double`s; this settles nearly every number
        // without more work.
        if number.isNormal, text.utf8.count <= 15 { return true }
        guard number.isFinite, let form = DecimalForm(text) else { return false }
        return form == DecimalForm(number.description)
    }
}

/// A decimal number in a canonical form: `digits` times ten to the `exponent`; the digits have no zeros at either end.
private struct DecimalForm: Equatable {
    var isNegative: Bool
    var digits: [UInt8] = []
    var exponent: Int

    /// - Parameter text: a JSON number.
    /// - Returns: nil for an exponent of a million or more, which no `Double` has.
    init?(_ text: String) {
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        guard let mantissa = parts.first else { return nil }
        self.isNegative = mantissa.first == UInt8(ascii: "-")
        self.exponent = 0
        if parts.count == 2 {
            // `magnitude`, because `abs` traps at the lowest `Int`, which a document may contain.
            guard let exponent = Int(String(decoding: parts[1], as: UTF8.self)), exponent.magnitude < 1_000_000
            else { return nil }
            self.exponent = exponent
        }
        var isFraction = false
        for byte in mantissa {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if ASCII.isDigit(byte) {
                self.digits.append(byte)
                if isFraction { self.exponent -= 1 }
            }
        }
        self.digits = Array(self.digits.drop { $0 == UInt8(ascii: "0") })
        while self.digits.last == UInt8(ascii: "0") {
            self.digits.removeLast()
            self.exponent += 1
        }
        if self.digits.isEmpty { self.exponent = 0 }
    }
}
