// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import PintleSystem

/// A point in civil time, with a resolution of milliseconds.
package struct Timestamp: BitwiseCopyable, Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, within the years 1970 to 9999.
    package let milliseconds: Int64

    /// Limits the time to the years 1970 to 9999, which RFC 3339 can express and which make sense in a log.
    package init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, 0), 253_402_300_799_999)
    }

    /// Reads the system clock.
    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Orders by time.
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time in the form of RFC 3339, in UTC: `2026-01-02T03:04:05.678Z`.
    package var description: String {
        var bytes: [UInt8] = []
        bytes.append(self)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the time in the form of RFC 3339, in UTC.
    ///
    /// Written by hand, because `gmtime_r` takes the C library's time-zone lock, and Foundation's formatters cost more than
    /// the rest of the line.
    mutating func append(_ time: Timestamp) {
        let (seconds, millisecond) = time.milliseconds.quotientAndRemainder(dividingBy: 1000)
        let (day, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        guard let date = CivilDay(daysSince1970: day) else { preconditionFailure("BUG: a time after the year 9999") }
        let clock = Int(second)

        self.append(padded: Int(date.year), digits: 4)
        self.append(UInt8(ascii: "-"))
        self.append(padded: date.month, digits: 2)
        self.append(UInt8(ascii: "-"))
        self.append(padded: Int(date.day), digits: 2)
        self.append(UInt8(ascii: "T"))
        self.append(padded: clock / 3600, digits: 2)
        self.append(UInt8(ascii: ":"))
        self.append(padded: clock / 60 % 60, digits: 2)
        self.append(UInt8(ascii: ":"))
        self.append(padded: clock % 60, digits: 2)
        self.append(UInt8(ascii: "."))
        self.append(padded: Int(millisecond), digits: 3)
        self.append(UInt8(ascii: "Z"))
    }

    private mutating func append(padded value: Int, digits: Int) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            self.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
