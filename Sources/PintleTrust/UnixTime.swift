// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A moment as certificates know it: whole seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct UnixTime: Sendable, Hashable, Comparable {
    /// Seconds since the epoch; negative before 1970.
    public let seconds: Int64

    /// The moment that many seconds after the epoch.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The machine's wall clock, at the time of the call.
    public static var now: UnixTime {
        UnixTime(seconds: Int64(time(nil)))
    }

    /// Whether one moment comes before the other.
    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.seconds < right.seconds
    }

    /// The moment that much later; a fraction of a second is cut off.
    public func advanced(by duration: Duration) -> UnixTime {
        UnixTime(seconds: self.seconds + duration.components.seconds)
    }
}

extension UnixTime: CustomStringConvertible {
    /// ISO 8601 in UTC, as `2026-03-01T12:00:00Z`.
    public var description: String {
        var clock = time_t(self.seconds)
        var fields = tm()
        guard gmtime_r(&clock, &fields) != nil else { return "\(self.seconds) s" }
        return "\(padded(fields.tm_year + 1900, 4))-\(padded(fields.tm_mon + 1, 2))-\(padded(fields.tm_mday, 2))"
            + "T\(padded(fields.tm_hour, 2)):\(padded(fields.tm_min, 2)):\(padded(fields.tm_sec, 2))Z"
    }
}

private func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
