// SPDX-License-Identifier: Apache-2.0

/// A point in time in whole seconds since 1970, with arithmetic that saturates (RFC 9111 §1.2.2).
package struct CacheTime: Comparable, Hashable, Sendable {
    /// Seconds since the beginning of 1970 in UTC; may be negative.
    package var seconds: Int64

    /// Makes a time from the number of seconds since 1970.
    package init(seconds: Int64) { self.seconds = seconds }

    package static func < (left: CacheTime, right: CacheTime) -> Bool { left.seconds < right.seconds }

    /// The time that is the given number of seconds later, or the latest possible one.
    package static func + (time: CacheTime, seconds: Int64) -> CacheTime {
        CacheTime(seconds: time.seconds.addingSaturated(seconds))
    }

    /// The seconds from `earlier` to this time, in 0…2^31; 0 if `earlier` is later, for example after a clock was set back.
    package func seconds(since earlier: CacheTime) -> Int64 {
        let (difference, overflow) = self.seconds.subtractingReportingOverflow(earlier.seconds)
        guard !overflow else { return self > earlier ? CacheTime.longest : 0 }
        return min(max(difference, 0), CacheTime.longest)
    }

    /// The longest age and lifetime, in seconds; larger numbers are read as this one (RFC 9111 §1.2.2).
    package static let longest: Int64 = 2_147_483_648
}

extension Int64 {
    /// The sum; on overflow the largest or the smallest number.
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = self.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
