// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem

/// The answers in the place of origins' of one configuration: the state of `mock` and `faults` for each route.
struct Simulations: Sendable {
    /// By the index of the route; the last is for requests without a route. Empty if nothing is simulated.
    private let routes: [RouteSimulation?]
    /// The seed of everything that is left to chance; nil if nothing is.
    let seed: UInt64?

    /// Writes the recordings of all routes; nil if there are none.
    private let recorder: TapeRecorder?

    /// - Parameters:
    ///   - counters: of the routes, in their order.
    ///   - previous: a route with the same name and rules continues its schedule and its tape.
    init(_ policy: Policy, _ counters: Counters, logger: Logger, continuing previous: Simulations?) {
        let configuration = policy.configuration.simulation
        let all =
            policy.routes.routes.map {
                ($0.name, $0.configuration.simulation, $0.configuration.request.injectedTexts, counters[$0.index])
            } + [("", configuration.unrouted, [], counters.unrouted)]
        guard all.contains(where: { !$0.1.isEmpty }) else {
            (self.routes, self.seed, self.recorder) = ([], nil, previous?.recorder)
            return
        }
        let chance = configuration.seed ?? previous?.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
        let seed = policy.configuration.leavesToChance ? chance : nil
        self.seed = seed
        let known = Dictionary(
            (previous?.routes ?? []).compactMap(\.self).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let recorder = previous?.recorder ?? TapeRecorder(logger: logger)
        self.recorder = recorder
        self.routes = all.map { name, rules, injected, counters in
            if rules.isEmpty { return nil }
            if seed == previous?.seed, let same = known[name], same.rules == rules.normalized, same.injected == injected
            {
                return same
            }
            return RouteSimulation(name, rules, seed: chance, injected: injected, recorder, counters)
        }
    }

    /// Plans a request; nil if its route simulates nothing.
    func plan(
        _ request: borrowing TransferRequest, of decision: Decision?, from client: Client?
    ) -> (plan: SimulationPlan, tape: RouteTape?)? {
        // Nearly all configurations simulate nothing.
        if self.routes.isEmpty { return nil }
        guard let route = self.routes[decision?.route?.index ?? self.routes.count - 1] else { return nil }
        let plan = route.plan(
            SimulatedRequest(
                method: request.method, scheme: request.scheme, authority: request.authority, path: request.path,
                fields: request.fields, client: client?.description))
        return (plan, route.tape)
    }
}

extension Simulations {
    /// Returns when the recordings of exchanges that have ended are written.
    func finish() async { await self.recorder?.finish() }
}

/// The state of one route's simulation, shared by all loops.
private final class RouteSimulation: Sendable {
    let name: String
    /// Without their places in the file, which a reload may change.
    let rules: SimulationRules
    /// The texts that the route puts into requests.
    let injected: [String]
    /// The recordings of the route; nil if it has none.
    let tape: RouteTape?
    private let schedule: Locked<SimulationSchedule>

    init(
        _ name: String, _ rules: SimulationRules, seed: UInt64, injected: [String], _ recorder: TapeRecorder,
        _ counters: RouteCounters
    ) {
        (self.name, self.rules, self.injected) = (name, rules.normalized, injected)
        self.tape = rules.replay.map { RouteTape($0, injected: injected, recorder, counters) }
        // Two routes with the same rules see different numbers.
        let own = name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        self.schedule = Locked(SimulationSchedule(rules, seed: own))
    }

    func plan(_ request: SimulatedRequest) -> SimulationPlan {
        let now = Duration.nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds))
        return self.schedule.withLock { $0.plan(for: request, at: now) }
    }
}
