// SPDX-License-Identifier: Apache-2.0

/// Durations as whole numbers, for systems and formats that know no others.
extension Duration {
    /// Rounded towards zero; one that does not fit is the nearest that does.
    package var wholeNanoseconds: Int64 { Int64(clamping: self.attoseconds / 1_000_000_000) }

    /// Rounded towards zero; one that does not fit is the nearest that does.
    package var wholeMicroseconds: Int64 { Int64(clamping: self.attoseconds / 1_000_000_000_000) }

    /// Rounded to the nearest, for logs and reports; a clock that ran backwards took no time.
    package var roundedMilliseconds: Int {
        max(0, Int(clamping: (self.attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000))
    }
}
