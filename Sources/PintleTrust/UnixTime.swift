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
    public var description: String { ISO8601.text(self.seconds) ?? "\(self.seconds) s" }
}

extension UnixTime {
    /// Reads a date, or a date and a time of day, in the form of ISO 8601 and RFC 3339. Fractions of a second are cut off,
    /// since certificates have none.
    package init?(iso8601 text: String) {
        guard let seconds = ISO8601.seconds(text.utf8) else { return nil }
        self.init(seconds: seconds)
    }
}
