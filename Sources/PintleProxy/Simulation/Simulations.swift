// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem

/// The answers in the place of origins' of one configuration: the state of `mock` and `faults` for each route.
struct Simulations: Sendable {
    /// By the index of the route; the last is for requests without a route. Empty if nothing is simulated.
    private let routes: [RouteSimulation?]
    /// The seed of everything that is left to chance; nil if nothing is simulated.
    let seed: UInt64?

    /// - Parameter previous: a route with the same name and rules continues its counters.
    init(_ policy: Policy, continuing previous: Simulations?) {
        let configuration = policy.configuration.simulation
        let all = policy.routes.routes.map { ($0.name, $0.configuration.simulation) } + [("", configuration.unrouted)]
        guard all.contains(where: { !$0.1.isEmpty }) else {
            (self.routes, self.seed) = ([], nil)
            return
        }
        let seed = configuration.seed ?? previous?.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
        self.seed = seed
        let known = (previous?.routes ?? []).compactMap(\.self)
        self.routes = all.map { name, rules in
            if rules.isEmpty { return nil }
            let same = known.first { $0.name == name && $0.rules == rules.normalized }
            if seed == previous?.seed, let same { return same }
            return RouteSimulation(name, rules, seed: seed)
        }
    }

    /// Plans a request; nil if its route simulates nothing.
    func plan(_ request: borrowing TransferRequest, of decision: Decision?, from client: Client?) -> SimulationPlan? {
        // Nearly all configurations simulate nothing.
        if self.routes.isEmpty { return nil }
        guard let route = self.routes[decision?.route?.index ?? self.routes.count - 1] else { return nil }
        return route.plan(
            SimulatedRequest(
                method: request.method, scheme: request.scheme, authority: request.authority, path: request.path,
                fields: request.fields, client: client?.description))
    }
}

/// The state of one route's simulation, shared by all loops.
private final class RouteSimulation: Sendable {
    let name: String
    /// Without their places in the file, which a reload may change.
    let rules: SimulationRules
    private let schedule: Locked<SimulationSchedule>

    init(_ name: String, _ rules: SimulationRules, seed: UInt64) {
        (self.name, self.rules) = (name, rules.normalized)
        // Two routes with the same rules see different numbers.
        let own = name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        self.schedule = Locked(SimulationSchedule(rules, seed: own))
    }

    func plan(_ request: SimulatedRequest) -> SimulationPlan {
        let now = Duration.nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds))
        return self.schedule.withLock { $0.plan(for: request, at: now) }
    }
}
