// SPDX-License-Identifier: Apache-2.0

/// The counters at one moment, of one route or of all.
package struct Counts: Hashable, Sendable {
    /// Violations by kind.
    package struct Violations: Hashable, Sendable {
        private var counts = [Int](repeating: 0, count: ViolationKind.allCases.count)

        /// No violation.
        package init() {}

        /// How many of one kind.
        package subscript(kind: ViolationKind) -> Int {
            get { self.counts[kind.index] }
            set { self.counts[kind.index] = newValue }
        }

        /// How many of all kinds.
        package var total: Int { self.counts.reduce(0, +) }
    }

    /// Exchanges begun.
    package var started = 0
    /// Exchanges begun and not over.
    package var active = 0
    /// Exchanges that ended well.
    package var completed = 0
    /// Exchanges that ended badly.
    package var failed = 0
    /// Exchanges that the client gave up.
    package var cancelled = 0
    /// Body bytes sent upstream.
    package var bytesUp = 0
    /// Body bytes sent to clients.
    package var bytesDown = 0
    /// Broken contracts, by kind.
    package var violations = Violations()
    /// Handshakes that presented no pinned key.
    package var pinFailures = 0
    /// Handshakes in intercepted tunnels whose client refused the certificate that it was shown.
    package var certificatesRefused = 0
    /// Requests that were answered with what is kept.
    package var cacheHits = 0
    /// Requests of routes with a cache that went to an origin.
    package var cacheMisses = 0
    /// Requests that were answered with the answer to an equal one.
    package var coalesced = 0
    /// Tunnels established.
    package var tunnelsOpened = 0
    /// Tunnels established and not closed.
    package var tunnelsActive = 0

    /// All zero.
    package init() {}

    /// The plain counters under the names that logs and endpoints use. ``violations`` come beside them.
    package var named: [(name: String, value: Int)] {
        [
            ("started", self.started), ("active", self.active), ("completed", self.completed),
            ("failed", self.failed), ("cancelled", self.cancelled), ("bytes_up", self.bytesUp),
            ("bytes_down", self.bytesDown), ("pin_failures", self.pinFailures),
            ("certificates_refused", self.certificatesRefused), ("cache_hits", self.cacheHits),
            ("cache_misses", self.cacheMisses), ("coalesced", self.coalesced),
            ("tunnels_opened", self.tunnelsOpened), ("tunnels_active", self.tunnelsActive),
        ]
    }

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
        sum.tunnelsOpened += other.tunnelsOpened
        sum.tunnelsActive += other.tunnelsActive
    }
}
