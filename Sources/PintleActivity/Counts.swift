// SPDX-License-Identifier: Apache-2.0

/// The values of the counters at one moment, for one route or for all.
package struct Counts: Hashable, Sendable {
    /// The numbers of violations by kind.
    package struct Violations: Hashable, Sendable {
        private var counts = [Int](repeating: 0, count: ViolationKind.allCases.count)

        /// Creates counts of zero.
        package init() {}

        /// The number of violations of one kind.
        package subscript(kind: ViolationKind) -> Int {
            get { self.counts[kind.index] }
            set { self.counts[kind.index] = newValue }
        }

        /// The number of violations of all kinds.
        package var total: Int { self.counts.reduce(0, +) }
    }

    /// Exchanges that have begun.
    package var started = 0
    /// Exchanges that have begun and not ended.
    package var active = 0
    /// Exchanges whose response the client received whole.
    package var completed = 0
    /// Exchanges that broke, or that a rule refused.
    package var failed = 0
    /// Exchanges that the client abandoned.
    package var cancelled = 0
    /// Body bytes sent upstream.
    package var bytesUp = 0
    /// Body bytes sent to clients.
    package var bytesDown = 0
    /// Violations of contracts, by kind.
    package var violations = Violations()
    /// Handshakes that presented no pinned key.
    package var pinFailures = 0
    /// Handshakes in intercepted tunnels in which the client refused the certificate that the proxy presented.
    package var certificatesRefused = 0
    /// Requests that were answered from the cache.
    package var cacheHits = 0
    /// Requests of routes with a cache that were sent to an origin.
    package var cacheMisses = 0
    /// Requests that were answered with the response to an equal request.
    package var coalesced = 0
    /// Answers that did not come from an origin, or that a fault changed.
    package var recordings = 0
    package var mocks = 0
    package var faults = 0
    /// Recordings that were to be made, and could not be written.
    package var recordingsLost = 0
    /// Tunnels that were established.
    package var tunnelsOpened = 0
    /// Tunnels that are established and not closed.
    package var tunnelsActive = 0

    /// Creates counts of zero.
    package init() {}

    /// Adds another route's counters to these.
    package static func += (sum: inout Counts, other: Counts) {
        sum.started += other.started
        sum.active += other.active
        sum.completed += other.completed
        sum.failed += other.failed
        sum.cancelled += other.cancelled
        sum.bytesUp += other.bytesUp
        sum.bytesDown += other.bytesDown
        for kind in ViolationKind.allCases { sum.violations[kind] += other.violations[kind] }
        sum.pinFailures += other.pinFailures
        sum.certificatesRefused += other.certificatesRefused
        sum.cacheHits += other.cacheHits
        sum.cacheMisses += other.cacheMisses
        sum.coalesced += other.coalesced
        sum.recordings += other.recordings
        sum.mocks += other.mocks
        sum.faults += other.faults
        sum.recordingsLost += other.recordingsLost
        sum.tunnelsOpened += other.tunnelsOpened
        sum.tunnelsActive += other.tunnelsActive
    }
}
