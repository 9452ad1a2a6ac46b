// SPDX-License-Identifier: Apache-2.0

/// The counters of all routes of one configuration.
///
/// The table is immutable: a route's counters are found by an array index, and counting costs a few relaxed atomics. Both
/// are safe on every thread. The overall numbers are summed up over the routes when they are read.
package final class Counters: Sendable {
    /// The values of all counters at one moment.
    package struct Snapshot: Hashable, Sendable {
        /// The counters of one route.
        package struct Route: Hashable, Sendable {
            /// The route's name; `-` for no route.
            package var name: String
            /// The values.
            package var counts: Counts

            /// Creates an entry.
            package init(name: String, counts: Counts) {
                self.name = name
                self.counts = counts
            }
        }

        /// The sum of all routes.
        package var overall: Counts
        /// The routes in the order of the configuration, then `-`, then routes that only an earlier configuration had.
        package var routes: [Route]
        /// The memory held for buffered bodies and the like.
        package var memory = MemoryBudget.Reading()
        /// The questions about destinations.
        package var questions = QuestionCounts()

        /// Creates a snapshot and adds the routes up.
        package init(routes: [Route]) {
            self.routes = routes
            self.overall = routes.reduce(into: Counts()) { sum, route in sum += route.counts }
        }

        /// Returns the counters of the route with a name.
        package subscript(route name: String) -> Counts? {
            self.routes.first { $0.name == name }?.counts
        }
    }

    /// The name under which exchanges without a route are counted.
    package static let noRoute = "-"

    /// The counters of exchanges that no route matched.
    package let unrouted: RouteCounters
    /// The memory held for buffered bodies and the like, over all routes and all configurations of the process.
    package let memory: MemoryBudget
    /// The questions about destinations, over all routes and all configurations of the process.
    package let questions: QuestionCounters

    private let routes: [RouteCounters]
    /// The counters of `routes` without repetition, `unrouted`, and those that only earlier configurations had.
    private let all: [RouteCounters]

    /// Creates the counters for the routes of a configuration.
    ///
    /// - Parameters:
    ///   - names: the routes' names, in order. Routes with equal names share their counters.
    ///   - previous: the counters before a reload. Routes of equal names continue their counters. Routes that disappeared
    ///     stay in the snapshot, because a counter that falls looks like a restart.
    package init(routes names: [String], continuing previous: Counters? = nil) {
        var known: [String: RouteCounters] = [:]
        for route in previous?.all ?? [] { known[route.name] = route }
        var listed: Set<String> = []
        var all: [RouteCounters] = []

        func counters(named name: String) -> RouteCounters {
            let counters = known[name] ?? RouteCounters(name: name, number: known.count)
            known[name] = counters
            if listed.insert(name).inserted { all.append(counters) }
            return counters
        }

        self.memory = previous?.memory ?? MemoryBudget()
        self.questions = previous?.questions ?? QuestionCounters()
        self.routes = names.map(counters)
        self.unrouted = counters(named: Self.noRoute)
        for route in previous?.all ?? [] { _ = counters(named: route.name) }
        self.all = all
    }

    /// Returns the counters of the route at an index of the configuration; nil means no route.
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
        snapshot.questions = self.questions.read()
        return snapshot
    }
}
