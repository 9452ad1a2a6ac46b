// SPDX-License-Identifier: Apache-2.0

/// The counters at one moment, of one route or of all.
public struct Counts: Hashable, Sendable {
    /// Violations by kind.
    public struct Violations: Hashable, Sendable {
        private var counts = [Int](repeating: 0, count: ViolationKind.allCases.count)

        /// No violation.
        public init() {}

        /// How many of one kind.
        public subscript(kind: ViolationKind) -> Int {
            get { self.counts[kind.index] }
            set { self.counts[kind.index] = newValue }
        }

        /// How many of all kinds.
        public var total: Int { self.counts.reduce(0, +) }
    }

    /// Exchanges begun.
    public var started = 0
    /// Exchanges begun and not over.
    public var active = 0
    /// Exchanges that ended well.
    public var completed = 0
    /// Exchanges that ended badly.
    public var failed = 0
    /// Exchanges that the client gave up.
    public var cancelled = 0
    /// Body bytes sent upstream.
    public var bytesUp = 0
    /// Body bytes sent to clients.
    public var bytesDown = 0
    /// Broken contracts, by kind.
    public var violations = Violations()
    /// Handshakes that presented no pinned key.
    public var pinFailures = 0
    /// Tunnels established.
    public var tunnelsOpened = 0
    /// Tunnels established and not closed.
    public var tunnelsActive = 0

    /// All zero.
    public init() {}

    /// The plain counters under the names that logs and endpoints use. ``violations`` come beside them.
    public var named: [(name: String, value: Int)] {
        [
            ("started", self.started), ("active", self.active), ("completed", self.completed),
            ("failed", self.failed), ("cancelled", self.cancelled), ("bytes_up", self.bytesUp),
            ("bytes_down", self.bytesDown), ("pin_failures", self.pinFailures),
            ("tunnels_opened", self.tunnelsOpened), ("tunnels_active", self.tunnelsActive),
        ]
    }

    /// Adds another route's counters to these.
    public static func += (sum: inout Counts, other: Counts) {
        sum.started += other.started
        sum.active += other.active
        sum.completed += other.completed
        sum.failed += other.failed
        sum.cancelled += other.cancelled
        sum.bytesUp += other.bytesUp
        sum.bytesDown += other.bytesDown
        for kind in ViolationKind.allCases { sum.violations[kind] += other.violations[kind] }
        sum.pinFailures += other.pinFailures
        sum.tunnelsOpened += other.tunnelsOpened
        sum.tunnelsActive += other.tunnelsActive
    }
}
