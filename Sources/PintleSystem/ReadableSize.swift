// SPDX-License-Identifier: Apache-2.0

extension UInt64 {
    /// The number of bytes for people: `999 B`, `1.0 KiB`, `12.3 MiB`.
    package var readableSize: String {
        guard self >= 1024 else { return "\(self) B" }
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var shift: UInt64 = 10
        while shift < 60, self >> shift >= 1024 { shift += 10 }
        let tenths = (self >> (shift - 10)) * 10 / 1024
        return "\(tenths / 10).\(tenths % 10) \(units[Int(shift / 10) - 1])"
    }
}
