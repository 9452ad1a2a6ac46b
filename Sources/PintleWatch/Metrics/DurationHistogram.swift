// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
internal import PintleSystem

/// A histogram of durations with fixed buckets, from 5 ms to 10 s and above.
package struct DurationHistogram: Hashable, Sendable {
    /// An exchange that stands for a bucket: the first one of a second in it.
    package struct Exemplar: Hashable, Sendable {
        /// The exchange's id.
        package let id: String
        /// The duration, which is within the bucket.
        package let value: Duration
        /// The time at which the exchange ended.
        package let time: Timestamp
    }

    /// A bucket: the durations above the bound before it, up to and including its own.
    package struct Bucket: Hashable, Sendable {
        /// The number of durations in this bucket alone.
        package fileprivate(set) var count = 0
        /// Nil while the bucket is empty.
        package fileprivate(set) var exemplar: Exemplar?
    }

    /// The upper bounds. One more bucket, without a bound, is above them.
    package static let bounds: [Duration] = Self.nanosecondBounds.map { .nanoseconds($0) }
    private static let nanosecondBounds: [Int64] = [
        5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000,
    ].map { $0 * 1_000_000 }

    /// One for each of ``bounds``, and the one above them.
    package private(set) var buckets = [Bucket](repeating: Bucket(), count: Self.bounds.count + 1)
    /// The sum of all durations, exact up to 292 years.
    package var sum: Duration { .nanoseconds(self.nanoseconds) }
    private var nanoseconds: Int64 = 0
    /// The number of all durations.
    package var count: Int { self.buckets.reduce(0) { $0 + $1.count } }

    package init() {}

    /// The time for which an exemplar stands: to make the id of each exchange would cost more than to count it.
    private static let exemplarTime: Int64 = 1000

    /// Counts the duration of an exchange.
    ///
    /// - Parameters:
    ///   - nanoseconds: zero or more.
    ///   - end: the time at which the exchange ended.
    ///   - id: makes the exchange's id.
    mutating func count(_ nanoseconds: Int64, at end: Timestamp, id: () -> String) {
        let index = Self.nanosecondBounds.firstIndex { nanoseconds <= $0 } ?? Self.nanosecondBounds.count
        self.buckets[index].count += 1
        // A tunnel may be open for long, but not for ever.
        self.nanoseconds = self.nanoseconds.addingReportingOverflow(nanoseconds).partialValue
        // Earlier than the last one: the clock was set back.
        if let last = self.buckets[index].exemplar?.time.milliseconds, end.milliseconds >= last,
            end.milliseconds - last <= Self.exemplarTime
        {
            return
        }
        self.buckets[index].exemplar = Exemplar(id: id(), value: .nanoseconds(nanoseconds), time: end)
    }
}
