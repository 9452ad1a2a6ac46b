// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Choices that follow from a seed: the same on every machine and in every run.
struct SeededChoices {
    private var numbers: SplitMix64

    init(seed: UInt64) { self.numbers = SplitMix64(seed: seed) }

    /// The next 64 bits.
    mutating func next() -> UInt64 { self.numbers.next() }

    /// A number from 0 up to `bound`, which is not included; 0 if `bound` is below 1.
    mutating func number(below bound: Int) -> Int { bound < 1 ? 0 : Int(self.next() % UInt64(bound)) }

    /// A number in `range`.
    mutating func number(in range: ClosedRange<Int64>) -> Int64 {
        let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        guard width < .max else { return Int64(bitPattern: self.next()) }
        return range.lowerBound &+ Int64(bitPattern: self.next() % (width + 1))
    }

    /// True in one of `count` cases.
    mutating func isOne(in count: Int) -> Bool { self.number(below: count) == 0 }

    /// One of the values; nil if there are none.
    mutating func pick<Value>(_ values: [Value]) -> Value? {
        values.isEmpty ? nil : values[self.number(below: values.count)]
    }

    /// The values, beginning at any of them.
    mutating func rotated<Value>(_ values: [Value]) -> [Value] {
        let start = self.number(below: values.count)
        return Array(values[start...] + values[..<start])
    }

    /// The values in any order.
    mutating func shuffled<Value>(_ values: [Value]) -> [Value] {
        var values = values
        for index in values.indices.dropFirst().reversed() {
            values.swapAt(index, self.number(below: index + 1))
        }
        return values
    }
}
