// SPDX-License-Identifier: Apache-2.0

/// The table of route counters that one configuration uses.
///
/// The table never changes: finding a route's counters is an array index, counting is a few relaxed atomics, and both
/// are safe on every thread. The overall numbers are the sum of the routes, taken when somebody asks.
package final class Counters: Sendable {
    /// One moment of all counters.
    package struct Snapshot: Hashable, Sendable {
        /// One route's counters.
        package struct Route: Hashable, Sendable {
            /// The route's name, `-` for no route.
            package var name: String
            /// What it did.
            package var counts: Counts

            /// Pairs a name with counters.
            package init(name: String, counts: Counts) {
                self.name = name
                self.counts = counts
            }
        }

        /// The sum of all routes.
        package var overall: Counts
        /// In the order of the configuration, then `-`, then routes that an earlier configuration had.
        package var routes: [Route]
        /// What was held for others.
        package var memory = MemoryBudget.Reading()

        /// Adds the routes up.
        package init(routes: [Route]) {
            self.routes = routes
            self.overall = routes.reduce(into: Counts()) { sum, route in sum += route.counts }
        }

        /// The counters of a route by name.
        package subscript(route name: String) -> Counts? {
            self.routes.first { $0.name == name }?.counts
        }
    }

    /// The name under which exchanges without a route are counted.
    package static let noRoute = "-"

    /// Counts exchanges that no route matched.
    package let unrouted: RouteCounters
    /// Counts what is held for others, on all routes and under every configuration of the process.
    package let memory: MemoryBudget

    private let routes: [RouteCounters]
    /// `routes` without repetition, `unrouted`, and what earlier configurations had.
    private let all: [RouteCounters]

    /// Makes a table for the routes of a configuration.
    ///
    /// - Parameters:
    ///   - names: the routes' names, in order. Routes of the same name share their counters.
    ///   - previous: the table before a reload. Routes go on from there by name, and those that disappeared stay in the
    ///     snapshot, because a counter that falls reads as a restart.
    package init(routes names: [String], continuing previous: Counters? = nil) {
        var known: [String: RouteCounters] = [:]
        for route in previous?.all ?? [] { known[route.name] = route }
        var listed: Set<String> = []
        var all: [RouteCounters] = []

        func counters(named name: String) -> RouteCounters {
            let counters = known[name] ?? RouteCounters(name: name)
            known[name] = counters
            if listed.insert(name).inserted { all.append(counters) }
            return counters
        }

        self.memory = previous?.memory ?? MemoryBudget()
        self.routes = names.map(counters)
        self.unrouted = counters(named: Self.noRoute)
        for route in previous?.all ?? [] { _ = counters(named: route.name) }
        self.all = all
    }

    /// The counters of the route at a position of the configuration; nil for no route.
    package subscript(index: Int?) -> RouteCounters {
        guard let index else { return self.unrouted }
        return self.routes[index]
    }

    /// Reads all counters.
    ///
    /// Each route is consistent in itself: started is the sum of active, completed, failed and cancelled.
    package func snapshot() -> Snapshot {
        var snapshot = Snapshot(routes: self.all.map { Snapshot.Route(name: $0.name, counts: $0.read()) })
        snapshot.memory = self.memory.read()
        return snapshot
    }
}
