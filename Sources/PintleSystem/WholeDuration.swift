// SPDX-License-Identifier: Apache-2.0

/// Durations as integers, for systems and formats that have no other form.
extension Duration {
    /// Nanoseconds, rounded towards zero; clamped to the range of Int64.
    package var wholeNanoseconds: Int64 { Int64(clamping: self.attoseconds / 1_000_000_000) }

    /// Microseconds, rounded towards zero; clamped to the range of Int64.
    package var wholeMicroseconds: Int64 { Int64(clamping: self.attoseconds / 1_000_000_000_000) }

    /// Milliseconds, rounded to the nearest, for logs and reports; at least 0, even if the clock ran backwards.
    package var roundedMilliseconds: Int {
        max(0, Int(clamping: (self.attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000))
    }
}
