// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// A moment with the precision of certificates: whole seconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct UnixTime: Sendable, Hashable, Comparable {
    /// Seconds since the epoch; negative before 1970.
    public let seconds: Int64

    /// Makes the moment that many seconds after the epoch.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The machine's wall clock, at the time of the call.
    public static var now: UnixTime {
        UnixTime(seconds: Int64(time(nil)))
    }

    /// True if `left` comes before `right`.
    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.seconds < right.seconds
    }

    /// Returns the moment `duration` later; a fraction of a second is cut off.
    public func advanced(by duration: Duration) -> UnixTime {
        UnixTime(seconds: self.seconds + duration.components.seconds)
    }
}

extension UnixTime: CustomStringConvertible {
    /// The moment in ISO 8601, in UTC, as `2026-03-01T12:00:00Z`; outside the years 1 to 9999 the seconds since 1970, as `-1 s`.
    public var description: String {
        let (days, rest) = self.seconds.quotientAndRemainder(dividingBy: 86_400)
        let second = rest < 0 ? rest + 86_400 : rest
        guard let date = CivilDay(daysSince1970: rest < 0 ? days - 1 : days) else { return "\(self.seconds) s" }
        return "\(padded(date.year, 4))-\(padded(Int64(date.month), 2))-\(padded(date.day, 2))"
            + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
    }
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
