// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// A decimal number of any size, in a form that equal numbers share: `digits` times ten to the `exponent`, with no zero at
/// either end of the digits. Nothing is rounded, so a tenth is a tenth.
struct DecimalValue: Sendable, Hashable {
    private(set) var isNegative: Bool
    /// Values from 0 to 9; empty for zero.
    private(set) var digits: [UInt8] = []
    private(set) var exponent = 0

    /// Replaces exponents that no `Int` holds. Numbers with such exponents keep their digits and sign, and differ in nothing
    /// else; none of them is near a limit that a schema names.
    private static let farthestExponent = 1 << 60

    /// - Parameter value: a number.
    /// - Returns: nil for anything else, and for infinities and NaN.
    init?(_ value: Parameter) {
        switch value {
        case .integer(let whole): self.init(jsonNumber: String(whole))
        case .number(let number) where number.isFinite: self.init(jsonNumber: number.description)
        case .decimal(let text): self.init(jsonNumber: text)
        default: return nil
        }
    }

    /// - Parameter text: a JSON number (RFC 8259 §6); an exponent may have any number of digits.
    init(jsonNumber text: String) {
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        self.isNegative = parts[0].first == UInt8(ascii: "-")
        if parts.count == 2 {
            let isSmall = parts[1].first == UInt8(ascii: "-")
            self.exponent =
                Int(String(decoding: parts[1], as: UTF8.self)).map {
                    max(-Self.farthestExponent, min(Self.farthestExponent, $0))
                } ?? (isSmall ? -Self.farthestExponent : Self.farthestExponent)
        }
        var isFraction = false
        for byte in parts[0] {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if ASCII.isDigit(byte) {
                if byte != UInt8(ascii: "0") || !self.digits.isEmpty { self.digits.append(byte & 0x0F) }
                if isFraction { self.exponent -= 1 }
            }
        }
        while self.digits.last == 0 {
            self.digits.removeLast()
            self.exponent += 1
        }
        if self.digits.isEmpty { (self.isNegative, self.exponent) = (false, 0) }
    }

    var isZero: Bool { self.digits.isEmpty }

    var isInteger: Bool { self.exponent >= 0 }

    /// The number as an `Int64`; nil if it is none.
    var integer: Int64? {
        guard self.exponent >= 0, self.digits.count + self.exponent <= 19 else { return nil }
        let zeros = repeatElement(UInt8(0), count: self.exponent)
        let text = String(decoding: (self.digits + zeros).map { $0 | 0x30 }, as: UTF8.self)
        return text.isEmpty ? 0 : Int64((self.isNegative ? "-" : "") + text)
    }

    /// The digits as one word; nil if there are more than 18.
    var significand: UInt64? {
        self.digits.count <= 18 ? self.digits.reduce(0) { $0 * 10 + UInt64($1) } : nil
    }

    /// True if this is a multiple of `divisor`, which has at most 18 digits and is not zero.
    ///
    /// The work depends on the number of digits, whatever the exponents are.
    func isMultiple(of divisor: DecimalValue) -> Bool {
        guard let modulus = divisor.significand, modulus > 0 else { return false }
        if self.isZero { return true }
        // The last digit is not zero, so no power of ten divides the digits.
        guard self.exponent >= divisor.exponent else { return false }
        func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
            modulus.dividingFullWidth(left.multipliedFullWidth(by: right)).remainder
        }
        var remainder = self.digits.reduce(UInt64(0)) { (product($0, 10) + UInt64($1)) % modulus }
        var power = 10 % modulus
        var left = self.exponent - divisor.exponent
        while left > 0, remainder > 0 {
            if left & 1 == 1 { remainder = product(remainder, power) }
            power = product(power, power)
            left >>= 1
        }
        return remainder == 0
    }
}

extension DecimalValue: Comparable {
    static func < (left: DecimalValue, right: DecimalValue) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isNearerToZero(than: left) : left.isNearerToZero(than: right)
    }

    private func isNearerToZero(than other: DecimalValue) -> Bool {
        if self.isZero || other.isZero { return self.isZero && !other.isZero }
        let (size, otherSize) = (self.digits.count + self.exponent, other.digits.count + other.exponent)
        return size == otherSize ? self.digits.lexicographicallyPrecedes(other.digits) : size < otherSize
    }
}

/// A number that a schema compares numbers with.
struct NumberBound: Sendable {
    let value: Parameter
    let decimal: DecimalValue

    init?(_ value: Parameter) {
        guard let decimal = DecimalValue(value) else { return nil }
        self.value = value
        self.decimal = decimal
    }

    /// The relation of `number` to the bound: negative below it, zero at it, positive above it; nil if it is no number.
    func side(of number: Parameter) -> Int? {
        switch (number, self.value) {
        case (.integer(let left), .integer(let right)): return left < right ? -1 : left == right ? 0 : 1
        case (.number(let left), .number(let right)) where left.isFinite:
            return left < right ? -1 : left == right ? 0 : 1
        default:
            guard let left = DecimalValue(number) else { return nil }
            return left < self.decimal ? -1 : left == self.decimal ? 0 : 1
        }
    }
}
