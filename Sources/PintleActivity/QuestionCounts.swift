// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The way in which a question about a destination was closed, by the name that metrics use.
package enum QuestionEnd: String, Sendable, CaseIterable {
    /// The requests that waited were allowed, and no others.
    case once
    /// The destination was allowed until the process ends.
    case run
    /// The requests that waited were denied, and perhaps all others until the process ends.
    case denied
    /// Nothing answered in time.
    case expired
    /// The last request that waited ended before.
    case withdrawn
}

/// The numbers of questions about destinations at one moment.
package struct QuestionCounts: Hashable, Sendable {
    /// Questions that are open.
    package var waiting = 0
    /// Ends that have not occurred have no entry, so that equal counts are equal values.
    private var closed: [QuestionEnd: Int] = [:]

    /// Creates counts of zero.
    package init() {}

    /// The number of questions that were closed in one way.
    package subscript(end end: QuestionEnd) -> Int { self.closed[end] ?? 0 }

    /// Counts a question that is closed.
    package mutating func close(as end: QuestionEnd) { self.closed[end, default: 0] += 1 }
}

/// Shows the numbers of questions to readers on any thread.
package final class QuestionCounters: Sendable {
    private let counts = Locked(QuestionCounts())

    /// Creates counters of zero.
    package init() {}

    /// Stores the current numbers.
    package func set(_ counts: QuestionCounts) { self.counts.withLock { $0 = counts } }

    /// Returns the current numbers.
    package func read() -> QuestionCounts { self.counts.withLock { $0 } }
}
