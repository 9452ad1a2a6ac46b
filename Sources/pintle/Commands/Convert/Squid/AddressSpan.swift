// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// Addresses of one family, one after another.
struct AddressSpan: Hashable {
    let family: IPAddress.Family
    /// The addresses as numbers.
    let numbers: ClosedRange<UInt128>

    static let all = [IPAddress.Family.v4, .v6].map { AddressSpan(family: $0, numbers: Self.whole($0)) }

    static func whole(_ family: IPAddress.Family) -> ClosedRange<UInt128> {
        0...(family == .v4 ? UInt128(UInt32.max) : .max)
    }

    init(family: IPAddress.Family, numbers: ClosedRange<UInt128>) { (self.family, self.numbers) = (family, numbers) }

    init(_ network: CIDR) {
        self.family = network.address.family
        let first = network.address.number
        let free = network.address.bitCount - network.prefixLength
        self.numbers = first...(free == 128 ? .max : first + (UInt128(1) << UInt128(free)) - 1)
    }

    /// Reads an address, `address/bits`, `address/mask`, or `first-last` with or without a mask, as Squid does: bits beyond
    /// the mask do not count.
    ///
    /// - Returns: nil for anything else, such as a name.
    init?(squid text: String) {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { IPAddress($0) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
            first.family == last.family
        else { return nil }
        var bits = first.bitCount
        if halves.count == 2 {
            guard let length = Self.prefixLength(halves[1], first.family) else { return nil }
            bits = length
        }
        let lower = AddressSpan(CIDR(masking: first, prefixLength: bits)).numbers.lowerBound
        let upper = AddressSpan(CIDR(masking: last, prefixLength: bits)).numbers.upperBound
        guard lower <= upper else { return nil }
        self.init(family: first.family, numbers: lower...upper)
    }

    private static func prefixLength(_ text: Substring, _ family: IPAddress.Family) -> Int? {
        if let bits = Int(text) { return (0...(family == .v4 ? 32 : 128)).contains(bits) ? bits : nil }
        guard family == .v4, let mask = IPAddress(text), mask.family == .v4 else { return nil }
        let bits = (~UInt32(truncatingIfNeeded: mask.low)).leadingZeroBitCount
        return UInt32(truncatingIfNeeded: mask.low) == (bits == 0 ? 0 : UInt32.max << UInt32(32 - bits)) ? bits : nil
    }

    /// Splits all addresses at the ends of the ranges, so that each piece is wholly within a range or wholly without.
    static func pieces(_ ranges: some Sequence<AddressSpan>) -> [AddressSpan] {
        let ranges = Array(ranges)
        return [IPAddress.Family.v4, .v6].flatMap { family in
            let own = ranges.filter { $0.family == family }.map(\.numbers)
            return Pieces.split(Self.whole(family), at: own).map { AddressSpan(family: family, numbers: $0) }
        }
    }

    /// True if every address of `other` is in this range.
    func contains(_ other: AddressSpan) -> Bool {
        self.family == other.family && self.numbers.contains(other.numbers.lowerBound)
            && self.numbers.contains(other.numbers.upperBound)
    }

    /// The fewest networks that have the addresses of `ranges`, and no others.
    static func networks(_ ranges: [AddressSpan]) -> [CIDR] {
        var networks: [CIDR] = []
        for family in [IPAddress.Family.v4, .v6] {
            for range in Pieces.joined(ranges.filter { $0.family == family }.map(\.numbers)) {
                Self.cover(range, family, &networks)
            }
        }
        return networks
    }

    private static func cover(
        _ range: ClosedRange<UInt128>, _ family: IPAddress.Family, _ networks: inout [CIDR]
    ) {
        let width = family == .v4 ? 32 : 128
        var first = range.lowerBound
        while true {
            // The largest network that begins here and ends within the range.
            var free = min(first == 0 ? width : first.trailingZeroBitCount, width)
            while free > 0, Self.last(first, free) > range.upperBound { free -= 1 }
            networks.append(CIDR(masking: IPAddress(number: first, family), prefixLength: width - free))
            let last = Self.last(first, free)
            guard last < range.upperBound else { return }
            first = last + 1
        }
    }

    private static func last(_ first: UInt128, _ free: Int) -> UInt128 {
        free == 128 ? .max : first + ((UInt128(1) << UInt128(free)) - 1)
    }
}

extension IPAddress {
    fileprivate var number: UInt128 { UInt128(self.high) << 64 | UInt128(self.low) }

    fileprivate init(number: UInt128, _ family: Family) {
        switch family {
        case .v4: self.init(v4: UInt32(truncatingIfNeeded: number))
        case .v6:
            self.init(v6High: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
        }
    }
}

/// Splits and joins ranges of numbers.
enum Pieces {
    /// Returns the parts of `whole` between the ends of `ranges`, which lie within it.
    static func split<Number: FixedWidthInteger>(
        _ whole: ClosedRange<Number>, at ranges: [ClosedRange<Number>]
    ) -> [ClosedRange<Number>] {
        var starts: Set<Number> = [whole.lowerBound]
        for range in ranges {
            starts.insert(range.lowerBound)
            if range.upperBound < whole.upperBound { starts.insert(range.upperBound + 1) }
        }
        let sorted = starts.sorted()
        return sorted.indices.map { index in
            sorted[index]...(index + 1 < sorted.count ? sorted[index + 1] - 1 : whole.upperBound)
        }
    }

    /// True if a range has the number.
    ///
    /// - Parameter ranges: as ``joined(_:)`` returns them.
    static func contain<Number: FixedWidthInteger>(_ ranges: [ClosedRange<Number>], _ number: Number) -> Bool {
        // The first range that does not end before the number.
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].lowerBound <= number
    }

    /// Returns the ranges in order, with those joined that touch or overlap.
    static func joined<Number: FixedWidthInteger>(_ ranges: [ClosedRange<Number>]) -> [ClosedRange<Number>] {
        var joined: [ClosedRange<Number>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, last.upperBound == .max || range.lowerBound <= last.upperBound + 1 {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}
