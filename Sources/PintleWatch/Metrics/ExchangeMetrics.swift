// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
internal import PintleSystem

/// Counts finished exchanges by their labels, from any thread.
///
/// It lives as long as the process: after a reload, routes and trust policies of equal names go on, and those that are gone stay,
/// because a counter that falls looks like a restart.
///
/// The number of series is bounded, as no label is read from the wire. For each name of a route, and for `-`: 700 counters (10
/// methods × 70 statuses) and 17 series of the histogram. For each name of a trust policy: 2 counters. Series of a route appear with
/// their first exchange; a route has about 25 in use.
package final class ExchangeMetrics: Sendable {
    /// The facts about an exchange that are counted.
    package struct Facts: Sendable {
        package var route: String?
        /// Nil, or empty, for bytes that were no request.
        package var method: String?
        package var status: Int?
        package var duration: Duration?
        /// The time at which it ended.
        package var end: Timestamp
        package var trust: String?
        /// True if a pin has matched.
        package var matchesPin = false
        /// True if none has, although the trust policy has pins.
        package var mismatchesPin = false

        package init(end: Timestamp) { self.end = end }
    }

    /// The exchanges of one route.
    package struct Route: Hashable, Sendable {
        struct Labels: Hashable {
            let method: MethodLabel
            let status: StatusLabel
        }

        /// The numbers of exchanges.
        private(set) var counts: [Labels: Int] = [:]
        /// The durations of all exchanges. A tunnel counts as long as it was open.
        package private(set) var durations = DurationHistogram()

        fileprivate mutating func count(_ facts: Facts, _ labels: Labels, id: () -> String) {
            self.counts[labels, default: 0] += 1
            guard let duration = facts.duration else { return }
            // The clock may have been set back meanwhile.
            self.durations.count(max(duration, .zero), at: facts.end, id: id)
        }
    }

    /// The evaluations of pins under one trust policy.
    package struct Pins: Hashable, Sendable {
        /// Exchanges whose origin presented a pinned key.
        package private(set) var matches = 0
        /// Exchanges whose origin presented none, no matter if they were refused or only reported.
        package private(set) var mismatches = 0

        fileprivate mutating func count(isMismatch: Bool) {
            if isMismatch { self.mismatches += 1 } else { self.matches += 1 }
        }
    }

    /// All numbers at one moment.
    package struct Snapshot: Hashable, Sendable {
        /// By the name of the route; `-` for no route.
        package fileprivate(set) var routes: [String: Route] = [:]
        /// By the name of the trust policy.
        package fileprivate(set) var pins: [String: Pins] = [:]
    }

    private let state = Locked(Snapshot())

    /// - Parameter trusts: see ``expect(trusts:)``.
    package init(trusts: some Sequence<String> = []) { self.expect(trusts: trusts) }

    /// Shows the evaluations under these trust policies from now on, beginning with zero: a series whose first value is one has
    /// not increased for Prometheus, and the first mismatch would raise no alert.
    ///
    /// - Parameter trusts: the names of the policies with pins. Names that are known keep their numbers.
    package func expect(trusts: some Sequence<String>) {
        self.state.withLock { state in
            for trust in trusts where state.pins[trust] == nil { state.pins[trust] = Pins() }
        }
    }

    /// Counts an exchange that has ended.
    ///
    /// Takes one short lock, and allocates nothing if the exchange has labels that were counted before; after a
    /// ``snapshot()``, which shares memory with the counters, the first exchange copies them.
    ///
    /// - Parameter id: makes the exchange's id, if it is to stand for others as an exemplar.
    package func count(_ facts: Facts, id: () -> String) {
        let labels = Route.Labels(method: MethodLabel(facts.method), status: StatusLabel(facts.status))
        self.state.withLock { state in
            state.routes[facts.route ?? Counters.noRoute, default: Route()].count(facts, labels, id: id)
            // Otherwise pins have not decided: the trust policy has none, or nothing was verified.
            guard let trust = facts.trust, facts.mismatchesPin || facts.matchesPin else { return }
            state.pins[trust, default: Pins()].count(isMismatch: facts.mismatchesPin)
        }
    }

    /// Reads all numbers, which belong to one moment.
    package func snapshot() -> Snapshot { self.state.withLock { $0 } }
}
