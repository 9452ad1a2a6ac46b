// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintlePolicy

/// Loads a configuration for the private proxy of one command. Its settings for clients are ignored, because they are meant
/// for another proxy.
enum PrivatePolicy {
    /// - Parameters:
    ///   - file: the value of `-c`.
    ///   - place: the address at which the command finds its proxy.
    ///   - hosts: further hosts whose tunnels are intercepted.
    ///   - faults: the names of sets of faults that every route shows, and requests without a route.
    ///   - isLearning: true if clients that pin certificates must be able to continue, whatever the configuration says.
    static func load(
        _ file: String?, listen place: ListenAddress, intercepting hosts: [HostPattern], faults: [String] = [],
        isLearning: Bool = false
    ) throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        let (policy, origin) = try ConfigurationOptions.load(file, listen: [place])
        var configuration = policy.configuration
        // The command is the only client, connects over loopback, and has no password.
        configuration.clients = ClientsConfiguration()
        // Another proxy on the way, perhaps with the same configuration, would take a request with its own name for a loop.
        configuration.via = configuration.via.map { "\($0)-\(getpid())" }
        // Spans are for a service; this proxy would have to wait for their receiver at its end.
        configuration.tracing = nil
        configuration.interception.hosts += hosts
        for name in faults { try configuration.show(name, from: origin) }
        // The summary tells the seed, also if it is a new one.
        if configuration.simulates, configuration.simulation.seed == nil {
            configuration.simulation.seed = UInt64.random(in: 0...UInt64(UInt32.max))
        }
        if isLearning { configuration.interception.passesThroughOnAlert = true }
        guard configuration != policy.configuration else { return (policy, origin) }
        do throws(ConfigurationError) {
            return (try Policy(configuration, file: origin.description), origin)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension Configuration {
    /// Adds a named set of faults to every route, and to requests without one.
    fileprivate mutating func show(_ name: String, from origin: ConfigurationOrigin) throws(CommandFailure) {
        guard let set = self.simulation.faultSets.first(where: { $0.name == name }) else {
            let names = self.simulation.faultSets.map(\.name)
            let hint =
                names.isEmpty ? "it has no faults at the top level" : "there are \(names.joined(separator: ", "))"
            throw CommandFailure(
                .usage, "pintle run: --faults \(name): there is no such set in \(origin.description); \(hint)")
        }
        let hasContract = self.contract != nil || self.routes.contains { $0.contract != nil }
        if set.faults.contains(where: \.needsContract), !hasContract {
            throw CommandFailure(
                .usage,
                "pintle run: --faults \(name): it makes answers by contracts, and \(origin.description) has no contract"
            )
        }
        self.simulateAll { $0.faults += set.faults }
    }

    /// Changes the simulation of every request. Answers are then made anew for each, so none is kept.
    mutating func simulateAll(_ change: (inout SimulationRules) -> Void) {
        change(&self.simulation.unrouted)
        for index in self.routes.indices {
            change(&self.routes[index].simulation)
            (self.routes[index].cache, self.routes[index].coalescing) = (.off, nil)
        }
    }
}
