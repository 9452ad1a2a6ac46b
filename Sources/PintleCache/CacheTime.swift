// SPDX-License-Identifier: Apache-2.0

/// A point in time in whole seconds since 1970, with arithmetic that saturates (RFC 9111 §1.2.2).
package struct CacheTime: Comparable, Hashable, Sendable {
    /// Seconds since the beginning of 1970 in UTC; may be negative.
    package var seconds: Int64

    /// Makes a time of so many seconds since 1970.
    package init(seconds: Int64) { self.seconds = seconds }

    package static func < (left: CacheTime, right: CacheTime) -> Bool { left.seconds < right.seconds }

    /// The time so many seconds later, or the last that there is.
    package static func + (time: CacheTime, seconds: Int64) -> CacheTime {
        CacheTime(seconds: time.seconds.addingSaturated(seconds))
    }

    /// The seconds from `earlier` to this time, in 0…2^31: none where `earlier` is later, as clocks are set back.
    package func seconds(since earlier: CacheTime) -> Int64 {
        let (difference, overflow) = self.seconds.subtractingReportingOverflow(earlier.seconds)
        guard !overflow else { return self > earlier ? CacheTime.longest : 0 }
        return min(max(difference, 0), CacheTime.longest)
    }

    /// The longest age and lifetime, in seconds: what a larger number stands for (RFC 9111 §1.2.2).
    package static let longest: Int64 = 2_147_483_648
}

extension Int64 {
    /// The sum, or the number of its sign that is farthest from zero.
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = self.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
