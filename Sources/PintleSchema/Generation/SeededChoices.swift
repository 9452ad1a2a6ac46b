// SPDX-License-Identifier: Apache-2.0

/// Choices that follow from a seed (SplitMix64): the same on every machine and in every run.
struct SeededChoices {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    /// The next 64 bits.
    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

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
