// SPDX-License-Identifier: Apache-2.0

/// Reads hosts that are numbers as browsers and resolvers do (WHATWG URL, "IPv4 parser").
///
/// `inet_aton`, and with it most resolvers, libcurl and other proxies read `0x7f.1`, `017700000001` and `2130706433` as
/// 127.0.0.1. A client could evade a rule that took them for names, because the resolver would read them as an address
/// later.
enum NumericHost {
    enum Reading: Equatable {
        /// The host is a name: its last label is not a number.
        case name
        /// The four bytes, the first one most significant.
        case address(UInt32)
        /// The last label is a number but the whole is not an address; no name may look like this.
        case malformed
    }

    /// Reads a host without brackets and without its trailing dot.
    static func read(_ host: UnsafeRawBufferPointer) -> Reading {
        let lastDot = host.lastIndex(of: UInt8(ascii: "."))
        let last = UnsafeRawBufferPointer(rebasing: host[(lastDot.map { $0 + 1 } ?? 0)...])
        guard Self.isNumber(last) else { return .name }
        var value: UInt64 = 0
        var count = 0
        var start = 0
        while start <= host.count {
            let end = host.firstIndex(of: UInt8(ascii: "."), from: start) ?? host.count
            count += 1
            guard count <= 4, let number = Self.number(UnsafeRawBufferPointer(rebasing: host[start..<end])) else {
                return .malformed
            }
            // The last number fills the remaining bytes.
            let isLast = end == host.count
            guard number < (isLast ? UInt64(1) << UInt64(8 * (5 - count)) : 256) else { return .malformed }
            value |= isLast ? number : number << UInt64(8 * (4 - count))
            start = end + 1
        }
        return .address(UInt32(truncatingIfNeeded: value))
    }

    /// True if a name that ends with this label is read as an address: digits only, or hexadecimal after `0x`.
    private static func isNumber(_ label: UnsafeRawBufferPointer) -> Bool {
        guard let first = label.first, ASCII.isDigit(first) else { return false }
        return label.allSatisfy(ASCII.isDigit) || Self.number(label) != nil
    }

    /// The number of a label: hexadecimal after `0x`, octal after another `0`, decimal otherwise; nil if it is not a
    /// number. A number over 32 bits stays over 32 bits, but is not exact.
    private static func number(_ label: UnsafeRawBufferPointer) -> UInt64? {
        guard !label.isEmpty else { return nil }
        var radix: UInt64 = 10
        var digits = label[...]
        if label.count >= 2, label[0] == UInt8(ascii: "0") {
            let isHexadecimal = ASCII.lowercased(label[1]) == UInt8(ascii: "x")
            (radix, digits) = (isHexadecimal ? 16 : 8, label[(isHexadecimal ? 2 : 1)...])
        }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = ASCII.hexValue(byte), digit < radix else { return nil }
            // There are at most 253 digits. The exact value does not matter beyond 32 bits: all such numbers are too large.
            value = min(value * radix + UInt64(digit), 1 << 40)
        }
        return value
    }
}
