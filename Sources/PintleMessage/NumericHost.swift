// SPDX-License-Identifier: Apache-2.0

/// Reads hosts that are numbers in the way of browsers and resolvers (WHATWG URL, "IPv4 parser").
///
/// `inet_aton`, and with it most resolvers, libcurl and other proxies take `0x7f.1`, `017700000001` and `2130706433` for
/// 127.0.0.1. A rule that took them for names would be got around by whoever resolves them later.
enum NumericHost {
    enum Reading: Equatable {
        /// The last label is no number: the host is a name.
        case name
        /// The four bytes, the first one most significant.
        case address(UInt32)
        /// The last label is a number and the whole is no address, which no name may look like.
        case malformed
    }

    /// Reads a host that is not in brackets and has lost its trailing dot.
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
            // The last number fills the bytes that the others have left.
            let isLast = end == host.count
            guard number < (isLast ? UInt64(1) << UInt64(8 * (5 - count)) : 256) else { return .malformed }
            value |= isLast ? number : number << UInt64(8 * (4 - count))
            start = end + 1
        }
        return .address(UInt32(truncatingIfNeeded: value))
    }

    /// Whether a name that ends with this label is read as an address: digits alone, or hexadecimal behind `0x`.
    private static func isNumber(_ label: UnsafeRawBufferPointer) -> Bool {
        guard let first = label.first, ASCII.isDigit(first) else { return false }
        return label.allSatisfy(ASCII.isDigit) || Self.number(label) != nil
    }

    /// A label's number: hexadecimal behind `0x`, octal behind another `0`, decimal otherwise. What is larger than 32 bits
    /// stays so.
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
            // 253 digits at most; all beyond 32 bits are too large alike.
            value = min(value * radix + UInt64(digit), 1 << 40)
        }
        return value
    }
}
