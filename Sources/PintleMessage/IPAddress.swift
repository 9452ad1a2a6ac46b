// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address as a value that compares, hashes and masks without C functions.
///
/// An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) *is* the IPv4 address: a dual-stack socket reports clients, and a
/// resolver may report servers, in that form, and a rule about `10.0.0.0/8` must not miss them.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The two address families.
    package enum Family: UInt8, Sendable {
        case v4, v6
    }

    /// The family; IPv4 for a mapped address.
    package let family: Family
    /// The first eight of the sixteen bytes; zero for IPv4.
    package let high: UInt64
    /// The last eight of the sixteen bytes; an IPv4 address is in the lowest 32 bits.
    package let low: UInt64

    /// Makes an IPv4 address of its four bytes, first byte most significant.
    package init(v4 bits: UInt32) {
        self.family = .v4
        self.high = 0
        self.low = UInt64(bits)
    }

    /// Makes an IPv6 address of its two halves; a mapped address becomes IPv4.
    package init(v6High high: UInt64, low: UInt64) {
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        self.family = isMapped ? .v4 : .v6
        self.high = high
        self.low = isMapped ? low & 0xFFFF_FFFF : low
    }

    /// Makes an address of 4 or 16 bytes in network order; nil for any other count.
    package init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.init(v4: bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            let high = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let low = bytes.dropFirst(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self.init(v6High: high, low: low)
        default: return nil
        }
    }

    /// Reads the address out of a Linux `sockaddr_in` or `sockaddr_in6`; nil for other families and short buffers.
    package init?(socketAddress bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 2 else { return nil }
        // Values of the kernel's interface, the same on every Linux: AF_INET is 2, AF_INET6 is 10.
        switch bytes.loadUnaligned(as: UInt16.self) {
        case 2 where bytes.count >= 8: self.init(bytes: bytes[4..<8])
        case 10 where bytes.count >= 24: self.init(bytes: bytes[8..<24])
        default: return nil
        }
    }

    /// Hashes the bytes only: tables seldom hold both `::a.b.c.d` and `a.b.c.d`, and hashing is most of the cost of tables
    /// of clients.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.high)
        hasher.combine(self.low)
    }

    /// The number of bits of an address of this family.
    package var bitCount: Int { self.family == .v4 ? 32 : 128 }

    /// True for `0.0.0.0` or `::`: to a listener, every address of the machine.
    package var isUnspecified: Bool { self == IPAddress(v4: 0) || self == IPAddress(v6High: 0, low: 0) }

    /// True if the address is the machine's own (127.0.0.0/8 or ::1).
    package var isLoopback: Bool {
        self.family == .v4 ? self.low >> 24 == 127 : self.high == 0 && self.low == 1
    }

    /// The address in the form of RFC 5952, without brackets.
    package var description: String {
        if self.family == .v4 { return Self.dottedDecimal(self.low) }
        let groups = (0..<8).map { index in
            UInt16(truncatingIfNeeded: (index < 4 ? self.high : self.low) >> UInt64(48 - 16 * (index % 4)))
        }
        let zeros = Self.longestRunOfZeros(in: groups)
        let text = { (slice: ArraySlice<UInt16>) in slice.map { String($0, radix: 16) }.joined(separator: ":") }
        guard zeros.count > 1 else { return text(groups[...]) }
        return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
    }

    /// The dotted decimal form. Written byte by byte for speed: a proxy does so for each request to an address.
    private static func dottedDecimal(_ bits: UInt64) -> String {
        String(unsafeUninitializedCapacity: 15) { text in
            var count = 0
            func append(_ byte: UInt8) {
                text[count] = byte
                count += 1
            }
            for place in 0..<4 {
                let octet = UInt8(truncatingIfNeeded: bits >> UInt64(24 - 8 * place))
                if place > 0 { append(UInt8(ascii: ".")) }
                if octet >= 100 { append(0x30 + octet / 100) }
                if octet >= 10 { append(0x30 + octet / 10 % 10) }
                append(0x30 + octet % 10)
            }
            return count
        }
    }

    /// The first of the longest runs of zero groups: the one that `::` replaces.
    private static func longestRunOfZeros(in groups: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        for index in 0...groups.count {
            if index < groups.count, groups[index] == 0 { continue }
            if index - start > best.count { best = start..<index }
            start = index + 1
        }
        return best
    }
}

extension IPAddress {
    /// Reads dotted decimal or RFC 4291 text, without brackets and without a zone.
    ///
    /// Strict on purpose: `127.1`, `0x7f.0.0.1` and `010.0.0.1`, which some resolvers accept, are nil here. Rules have one
    /// spelling only; ``NumericHost`` reads the hosts of requests, which come in other spellings, too.
    package init?(_ text: some StringProtocol) {
        // From here on the bytes have one concrete type: the compiler does not specialize generic code for types of other
        // modules.
        var text = String(text)
        guard let address = text.withUTF8({ Self.parse($0) }) else { return nil }
        self = address
    }

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> IPAddress? {
        bytes.contains(UInt8(ascii: ":"))
            ? Self.parseV6(bytes).map { IPAddress(v6High: $0.high, low: $0.low) }
            : Self.parseV4(bytes).map { IPAddress(v4: $0) }
    }

    private static func parseV4(_ bytes: some Collection<UInt8>) -> UInt32? {
        var result: UInt32 = 0
        var octet: UInt32 = 0
        var digits = 0
        var dots = 0
        for byte in bytes {
            if byte == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                result = result << 8 | octet
                octet = 0
                digits = 0
                dots += 1
            } else {
                // Some programs would read a number with a leading zero as octal.
                guard ASCII.isDigit(byte), digits == 0 || octet != 0 else { return nil }
                octet = octet * 10 + UInt32(byte - 0x30)
                digits += 1
                guard octet <= 255 else { return nil }
            }
        }
        guard dots == 3, digits > 0 else { return nil }
        return result << 8 | octet
    }

    private static func parseV6(_ bytes: some Collection<UInt8>) -> (high: UInt64, low: UInt64)? {
        var address = GroupBuffer()
        var index = bytes.startIndex
        if bytes.starts(with: [UInt8(ascii: ":"), UInt8(ascii: ":")]) {
            address.markGap()
            index = bytes.index(index, offsetBy: 2)
        }
        while index < bytes.endIndex {
            let rest = bytes[index...]
            let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            let part = bytes[index..<end]
            if end == bytes.endIndex, part.contains(UInt8(ascii: ".")) {
                guard let bits = Self.parseV4(part), address.append(UInt16(bits >> 16)),
                    address.append(UInt16(bits & 0xFFFF))
                else { return nil }
                break
            }
            guard !part.isEmpty, part.count <= 4 else { return nil }
            var group: UInt16 = 0
            for byte in part {
                guard let value = ASCII.hexValue(byte) else { return nil }
                group = group << 4 | UInt16(value)
            }
            guard address.append(group) else { return nil }
            guard end < bytes.endIndex else { break }
            index = bytes.index(after: end)
            guard index < bytes.endIndex else { return nil }
            if bytes[index] == UInt8(ascii: ":") {
                guard address.markGap() else { return nil }
                index = bytes.index(after: index)
            }
        }
        return address.halves
    }

    /// Up to eight groups of an address being read, held in two words so that reading one allocates nothing.
    private struct GroupBuffer {
        private var before: (high: UInt64, low: UInt64) = (0, 0)
        private var count = 0
        /// The number of groups before `::`, or nil.
        private var gap: Int?

        @discardableResult
        mutating func markGap() -> Bool {
            guard self.gap == nil else { return false }
            self.gap = self.count
            return true
        }

        mutating func append(_ group: UInt16) -> Bool {
            guard self.count < 8 else { return false }
            self.before.high = self.before.high << 16 | self.before.low >> 48
            self.before.low = self.before.low << 16 | UInt64(group)
            self.count += 1
            return true
        }

        /// The whole address, or nil when groups are missing; `::` must stand for at least one group.
        var halves: (high: UInt64, low: UInt64)? {
            guard let gap = self.gap else { return self.count == 8 ? self.before : nil }
            guard self.count < 8 else { return nil }
            let all = UInt128(self.before.high) << 64 | UInt128(self.before.low)
            let tailBits = UInt128(16 * (self.count - gap))
            let tail = all & (UInt128(1) << tailBits - 1)
            let head = (all >> tailBits) << UInt128(16 * (8 - gap))
            let whole = gap == 0 ? tail : head | tail
            return (UInt64(truncatingIfNeeded: whole >> 64), UInt64(truncatingIfNeeded: whole))
        }
    }
}
