// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Sampler {
    /// Makes a number.
    mutating func number(for demands: Demands, isWhole: Bool, _ isUnusual: Bool) -> Parameter? {
        let range = NumberRange(demands)
        if isUnusual, let unusual = self.unusualNumber(demands, range) { return unusual }
        for _ in 0..<8 where self.budget.spend(4) {
            let usual = isWhole ? self.whole(in: range) : self.fraction(in: range) ?? self.whole(in: range)
            if let usual, demands.accepts(number: usual) { return usual }
        }
        // Narrow ranges may hold nothing but their ends.
        let ends = [demands.lower, demands.upper].compactMap { $0?.bound.value } + [0]
        return ends.first { demands.accepts(number: $0) } ?? (isWhole ? nil : self.whole(in: range))
    }

    private mutating func whole(in range: NumberRange) -> Parameter? {
        guard let (lowest, highest) = range.whole(divisor: range.wholeDivisor, usual: 1...1000) else { return nil }
        guard let divisor = range.wholeDivisor else { return .integer(self.choices.number(in: lowest...highest)) }
        // The ends are multiples of the divisor.
        return .integer(self.choices.number(in: lowest / divisor...highest / divisor) * divisor)
    }

    private mutating func fraction(in range: NumberRange) -> Parameter? {
        if let divisor = range.divisor { return self.multiple(of: divisor, in: range) }
        let lowest = range.lower ?? range.upper.map { $0 - 100 } ?? 1
        let highest = range.upper ?? lowest + 100
        guard lowest <= highest, (highest - lowest).isFinite else { return nil }
        let share = Double(1 + self.choices.number(below: 98)) / 100
        let value = lowest + (highest - lowest) * share
        // Two digits are enough for prices and shares, but not in a narrow range.
        let short = (value * 100).rounded() / 100
        let number = short > lowest && short < highest ? short : value
        // A whole number has no fraction of 0, which some programs refuse.
        return Int64(exactly: number).map { .integer($0) } ?? .number(number)
    }

    /// A multiple that is one for validators that calculate with binary fractions, too.
    private mutating func multiple(of divisor: DecimalValue, in range: NumberRange) -> Parameter? {
        guard let size = divisor.significand.flatMap({ Int64(exactly: $0) }), let step = divisor.double else {
            return nil
        }
        let lowest = ((range.lower ?? range.upper.map { $0 - 100 * step } ?? step) / step).rounded(.up)
        let highest = ((range.upper ?? (range.lower ?? 0) + 100 * step) / step).rounded(.down)
        guard lowest <= highest, let low = Int64(exactly: lowest), let high = Int64(exactly: highest) else {
            return nil
        }
        for _ in 0..<16 {
            let (product, isBeyond) = self.choices.number(in: low...high).multipliedReportingOverflow(by: size)
            guard !isBeyond else { return nil }
            let value = Parameter(decimal: product, exponent: divisor.exponent)
            guard let double = DecimalValue(value)?.double, (double / step).rounded() == double / step else { continue }
            return value
        }
        return nil
    }

    /// A number at a limit, or one that programs confuse with others.
    private mutating func unusualNumber(_ demands: Demands, _ range: NumberRange) -> Parameter? {
        var values: [(value: Parameter, note: String)] = []
        if let lower = demands.lower { values.append((lower.bound.value, "the minimum")) }
        if let upper = demands.upper { values.append((upper.bound.value, "the maximum")) }
        if let (lowest, highest) = range.whole(divisor: range.wholeDivisor, usual: nil) {
            values.append((.integer(lowest), "the least whole number"))
            values.append((.integer(highest), "the greatest whole number"))
        }
        values += [
            (0, "0"), (.decimal("-0"), "−0"), (-1, "a negative number"),
            (.integer(1 << 53 + 1), "a number beyond 2^53"),
            (.decimal("18446744073709551616"), "2^64, which no 64 bits hold"), (.number(0.1), "a fraction"),
            (.number(-0.5), "a negative fraction"), (.number(1e-7), "a small fraction with an exponent"),
            (.decimal("1E+2"), "100 with an exponent"), (.decimal("3.0"), "a whole number with a fraction of 0"),
            (.decimal("0.12345678901234567890123"), "more digits than a double holds"),
        ]
        if let (lowest, _) = range.whole(divisor: range.wholeDivisor, usual: 1...1000), lowest.magnitude < 1 << 53 {
            values.append((.decimal("\(lowest).0"), "a whole number with a fraction of 0"))
        }
        for (value, note) in self.choices.shuffled(values) {
            guard demands.accepts(number: value), range.formatAllows(value) else { continue }
            // Validators that calculate with binary fractions take such numbers for multiples of anything.
            let isHuge = DecimalValue(value)?.double.map { $0.magnitude > 0x1p53 } ?? true
            guard !isHuge || demands.avoided.isEmpty else { continue }
            self.note(note)
            return value
        }
        return nil
    }
}

/// The numbers that demands leave, as far as machine numbers can hold them.
private struct NumberRange {
    /// The limits as they are, or nearby.
    let lower: Double?
    let upper: Double?
    /// The divisor with the most digits; another may have to divide, too.
    let divisor: DecimalValue?
    /// A whole number whose multiples are multiples of all divisors; nil if there are none.
    let wholeDivisor: Int64?
    private let least: Int64?
    private let greatest: Int64?
    private let format: String?

    init(_ demands: Demands) {
        self.lower = demands.lower?.bound.decimal.double
        self.upper = demands.upper?.bound.decimal.double
        self.format = demands.format
        self.divisor = demands.divisors.map(\.decimal).max()
        var common: Int64?
        for whole in demands.divisors.compactMap(\.decimal.wholeMultiple) {
            common = common.map { Self.leastCommonMultiple($0, whole) ?? whole } ?? whole
        }
        self.wholeDivisor = common
        self.least = demands.lower.flatMap { limit in
            limit.bound.decimal.floor.map {
                limit.bound.decimal.isInteger && !limit.isExclusive ? $0 : $0.addingReportingOverflow(1).partialValue
            }
        }
        self.greatest = demands.upper.flatMap { limit in
            limit.bound.decimal.floor.map {
                limit.bound.decimal.isInteger && limit.isExclusive
                    ? $0.subtractingReportingOverflow(1).partialValue : $0
            }
        }
    }

    /// The least and the greatest whole number.
    ///
    /// - Parameters:
    ///   - divisor: both are multiples of it.
    ///   - usual: numbers that are preferred to those beyond, as far as the limits allow; nil for all that 64 bits hold.
    /// - Returns: nil if there is none.
    func whole(divisor: Int64?, usual: ClosedRange<Int64>?) -> (Int64, Int64)? {
        let format = self.formatRange
        let (allLeast, allGreatest) = (
            max(self.least ?? .min, format?.lowerBound ?? .min), min(self.greatest ?? .max, format?.upperBound ?? .max)
        )
        var (lowest, highest) = (allLeast, allGreatest)
        if let usual {
            let width = (usual.upperBound - usual.lowerBound) * min(divisor ?? 1, 1 << 40)
            if self.least == nil { lowest = max(lowest, min(usual.lowerBound, highest.subtractingClamped(width))) }
            highest = min(highest, lowest.addingClamped(max(width, usual.upperBound)))
        }
        if let divisor {
            let rest = highest % divisor
            highest = highest.subtractingClamped(rest < 0 ? rest + divisor : rest)
            let missing = lowest % divisor
            lowest = lowest.addingClamped(missing > 0 ? divisor - missing : -missing)
        }
        return lowest <= highest && lowest >= allLeast && highest <= allGreatest ? (lowest, highest) : nil
    }

    /// True if a number is in the range that the format names.
    func formatAllows(_ value: Parameter) -> Bool {
        guard let range = self.formatRange else { return true }
        guard let whole = DecimalValue(value)?.integer else { return false }
        return range.contains(whole)
    }

    private var formatRange: ClosedRange<Int64>? {
        switch self.format {
        case "int8": -0x80...0x7F
        case "uint8": 0...0xFF
        case "int16": -0x8000...0x7FFF
        case "uint16": 0...0xFFFF
        case "int32": -0x8000_0000...0x7FFF_FFFF
        case "uint32": 0...0xFFFF_FFFF
        case "int64": .min ... .max
        case "uint64": 0 ... .max
        default: nil
        }
    }

    private static func leastCommonMultiple(_ left: Int64, _ right: Int64) -> Int64? {
        var (first, second) = (left, right)
        while second != 0 { (first, second) = (second, first % second) }
        let (product, isBeyond) = (left / first).multipliedReportingOverflow(by: right)
        return isBeyond ? nil : product
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, isBeyond) = self.addingReportingOverflow(other)
        return isBeyond ? (other > 0 ? .max : .min) : sum
    }

    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, isBeyond) = self.subtractingReportingOverflow(other)
        return isBeyond ? (other > 0 ? .min : .max) : difference
    }
}

extension DecimalValue {
    /// The nearest `Double`; nil if the number is beyond all of them.
    var double: Double? {
        let digits = String(decoding: self.digits.prefix(20).map { $0 | 0x30 }, as: UTF8.self)
        if digits.isEmpty { return 0 }
        let exponent = self.exponent.addingReportingOverflow(max(0, self.digits.count - 20)).partialValue
        guard abs(exponent) < 1000, let value = Double("\(digits)e\(exponent)"), value.isFinite else { return nil }
        return self.isNegative ? -value : value
    }

    /// The greatest whole number that is not above; nil if no `Int64` is.
    var floor: Int64? {
        if self.isInteger { return self.integer }
        guard -self.exponent < self.digits.count else { return self.isNegative ? -1 : 0 }
        let whole = self.digits.dropLast(-self.exponent)
        guard whole.count <= 18 else { return nil }
        let value = whole.reduce(Int64(0)) { $0 * 10 + Int64($1) }
        return self.isNegative ? -value - 1 : value
    }

    /// A whole number that is a multiple of this one; nil if none is known.
    fileprivate var wholeMultiple: Int64? {
        self.exponent >= 0 ? self.integer : self.significand.flatMap { Int64(exactly: $0) }
    }
}

extension Parameter {
    /// Makes `digits` times ten to the `exponent`, in the form that a reader of JSON makes of it.
    fileprivate init(decimal digits: Int64, exponent: Int) {
        var text = String(digits.magnitude)
        if exponent < 0, exponent > -19 {
            if text.utf8.count <= -exponent {
                text = String(repeating: "0", count: -exponent - text.utf8.count + 1) + text
            }
            text.insert(".", at: text.index(text.endIndex, offsetBy: exponent))
        } else if exponent != 0 {
            text += "e\(exponent)"
        }
        if digits < 0 { text = "-" + text }
        self = (try? JSONScanner(fragmentsAllowed: true).parse(Array(text.utf8))) ?? .decimal(text)
    }
}
