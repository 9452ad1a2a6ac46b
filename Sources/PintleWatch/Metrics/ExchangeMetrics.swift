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
    /// The exchanges of one route.
    package struct Route: Hashable, Sendable {
        struct Labels: Hashable {
            let method: MethodLabel
            let status: StatusLabel
        }

        /// The numbers of exchanges by the status, for each method; empty for a method that no exchange had.
        private var rows = [[Int]](repeating: [], count: MethodLabel.allCases.count)
        /// The durations of all exchanges. A tunnel counts as long as it was open.
        package private(set) var durations = DurationHistogram()

        /// The numbers of exchanges, without zeros.
        var counts: [Labels: Int] {
            var counts: [Labels: Int] = [:]
            for (method, row) in zip(MethodLabel.allCases, self.rows) {
                for (status, count) in row.enumerated() where count > 0 {
                    counts[Labels(method: method, status: StatusLabel(at: status))] = count
                }
            }
            return counts
        }

        fileprivate mutating func count(
            _ method: MethodLabel, _ status: StatusLabel, _ nanoseconds: Int64?, end: Timestamp, id: () -> String
        ) {
            let method = method.rawValue
            if self.rows[method].isEmpty { self.rows[method] = [Int](repeating: 0, count: StatusLabel.count) }
            self.rows[method][status.index] += 1
            guard let nanoseconds else { return }
            // The clock may have been set back meanwhile.
            self.durations.count(max(nanoseconds, 0), at: end, id: id)
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

    /// The numbers while exchanges are counted.
    package struct Tally: Sendable {
        /// By the numbers of the routes; nil for a route without exchanges.
        fileprivate var routes: [(name: String, route: Route)?] = []
        fileprivate var pins: [String: Pins] = [:]

        fileprivate init() {}

        /// Counts an exchange that has ended.
        ///
        /// Hashes nothing, and allocates nothing if the exchange has labels that were counted before; after a ``snapshot()``, which
        /// shares memory with the counters, the first exchange copies them.
        ///
        /// - Parameters:
        ///   - counters: of the route; those of no route for exchanges that none matched.
        ///   - status: the status for the client; nil without a response.
        ///   - nanoseconds: the duration; nil if it is not known.
        ///   - end: the time at which it ended.
        ///   - id: makes the exchange's id, if it is to stand for others as an exemplar.
        package mutating func count(
            _ counters: RouteCounters, _ method: MethodLabel, status: UInt16?, nanoseconds: Int64?, end: Timestamp,
            id: () -> String
        ) {
            let number = counters.number
            if number >= self.routes.count || self.routes[number] == nil { self.begin(counters) }
            self.routes[number]?.route.count(method, StatusLabel(status), nanoseconds, end: end, id: id)
        }

        /// Counts an evaluation of pins.
        ///
        /// - Parameters:
        ///   - trust: the name of the trust policy.
        ///   - isMismatch: true if no pin has matched, no matter if the exchange was refused or only reported.
        package mutating func countPins(of trust: String, isMismatch: Bool) {
            self.pins[trust, default: Pins()].count(isMismatch: isMismatch)
        }

        /// Makes room for a route's numbers.
        private mutating func begin(_ counters: RouteCounters) {
            while self.routes.count <= counters.number { self.routes.append(nil) }
            if self.routes[counters.number] == nil { self.routes[counters.number] = (counters.name, Route()) }
        }
    }

    private let tally = Locked(Tally())

    /// - Parameter trusts: see ``expect(trusts:)``.
    package init(trusts: some Sequence<String> = []) { self.expect(trusts: trusts) }

    /// Shows the evaluations under these trust policies from now on, beginning with zero: a series whose first value is one has
    /// not increased for Prometheus, and the first mismatch would raise no alert.
    ///
    /// - Parameter trusts: the names of the policies with pins. Names that are known keep their numbers.
    package func expect(trusts: some Sequence<String>) {
        self.tally.withLock { tally in
            for trust in trusts where tally.pins[trust] == nil { tally.pins[trust] = Pins() }
        }
    }

    /// Counts exchanges under one short lock.
    ///
    /// - Parameter body: counts them one after the other.
    package func count(_ body: (inout Tally) -> Void) { self.tally.withLock { body(&$0) } }

    /// Reads all numbers, which belong to one moment.
    package func snapshot() -> Snapshot {
        let tally = self.tally.withLock { $0 }
        var snapshot = Snapshot(pins: tally.pins)
        for case .some(let (name, route)) in tally.routes { snapshot.routes[name] = route }
        return snapshot
    }
}
