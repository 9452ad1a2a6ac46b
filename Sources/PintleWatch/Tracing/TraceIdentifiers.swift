// SPDX-License-Identifier: Apache-2.0

/// The id of a trace: 16 bytes, not all zero (W3C Trace Context §3.2.2.3).
package struct TraceID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// Nil for zero.
    package init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// Makes a random id. All 16 bytes are random, so that samplers can decide by any of them.
    package init(using generator: inout some RandomNumberGenerator) {
        self.high = generator.next()
        self.low = generator.next(in: 1)
    }

    /// 32 hexadecimal digits in lower case.
    package var description: String { self.high.hexadecimal + self.low.hexadecimal }
}

/// The id of a span: 8 bytes, not all zero (W3C Trace Context §3.2.2.4).
package struct SpanID: Hashable, Sendable, CustomStringConvertible {
    package let value: UInt64

    /// Nil for zero.
    package init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// Makes a random id.
    package init(using generator: inout some RandomNumberGenerator) { self.value = generator.next(in: 1) }

    /// 16 hexadecimal digits in lower case.
    package var description: String { self.value.hexadecimal }
}

extension RandomNumberGenerator {
    /// A random number that is at least `least`.
    fileprivate mutating func next(in least: UInt64) -> UInt64 { UInt64.random(in: least...UInt64.max, using: &self) }
}

extension UInt64 {
    fileprivate var hexadecimal: String {
        String(unsafeUninitializedCapacity: 16) { bytes in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * place)) & 0xf
                bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            }
            return 16
        }
    }
}
