// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage
internal import PintlePolicy

/// Loads a configuration for the private proxy of one command. Its settings for clients are ignored, because they are meant
/// for another proxy.
enum PrivatePolicy {
    /// A port for the proxy in a network of the command's own, where every port is free: above those that Linux gives out by
    /// itself (ip_local_port_range), and unlike those that programs and the network itself listen on.
    private static var isolatedPort: UInt16 { UInt16.random(in: 61_000...64_000) }

    /// - Parameters:
    ///   - file: the value of `-c`.
    ///   - isIsolated: true if the command gets a network of its own.
    ///   - hosts: further hosts whose tunnels are intercepted.
    ///   - faults: the names of sets of faults that every route shows, and requests without a route.
    ///   - tape: the recordings that all exchanges are played from or go into; nil if the routes decide.
    ///   - files: records everything on which the configuration depends.
    ///   - isLearning: true if clients that pin certificates must be able to continue, whatever the configuration says.
    static func load(
        _ file: String?, isIsolated: Bool, intercepting hosts: [HostPattern], faults: [String] = [],
        tape: RunTape? = nil, isLearning: Bool = false, telling files: ReadFiles? = nil
    ) async throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        let place = ListenAddress.loopback(port: isIsolated ? Self.isolatedPort : 0)
        let (policy, origin) = try await ConfigurationOptions.load(file, listen: [place], telling: files)
        var configuration = policy.configuration
        // The command is the only client, counts as one on loopback, and has no password.
        configuration.clients = ClientsConfiguration()
        // Another proxy on the way, perhaps with the same configuration, would take a request with its own name for a loop.
        configuration.via = configuration.via.map { "\($0)-\(getpid())" }
        // Spans are for a service; this proxy would have to wait for their receiver at its end.
        configuration.tracing = nil
        configuration.interception.hosts += hosts
        for index in configuration.credentials.indices {
            let credential = configuration.credentials[index]
            configuration.credentials[index].placeholder = credential.newPlaceholder
            // In a tunnel that is only relayed no placeholder would be found.
            configuration.interception.hosts += credential.grants.flatMap(\.hosts)
        }
        if let tape { configuration.use(tape) }
        for name in faults { try configuration.show(name, from: origin) }
        // The summary tells the seed, also if it is a new one.
        if configuration.leavesToChance, configuration.simulation.seed == nil {
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

/// The tape of a command: `--record` or `--replay`.
struct RunTape {
    let path: String
    let mode: ReplayRules.Mode
    var miss = ReplayRules.Miss.fail
}

extension Configuration {
    /// Plays every exchange from a tape, or records it. A route that says how its requests are matched keeps that.
    fileprivate mutating func use(_ tape: RunTape) {
        let recordings = self.recordings
        self.simulateAll { rules in
            var replay = rules.replay ?? ReplayRules(tape: tape.path)
            (replay.tape, replay.mode, replay.miss, replay.recordings) = (tape.path, tape.mode, tape.miss, recordings)
            rules.replay = replay
        }
        // A tunnel that is only relayed would reach its destination past the recordings.
        self.simulation.refusesTunnels = tape.mode == .replay && tape.miss == .fail
    }

    /// Adds a named set of faults to every route, and to requests without one.
    fileprivate mutating func show(_ name: String, from origin: ConfigurationOrigin) throws(CommandFailure) {
        guard let set = self.simulation.faultSets.first(where: { $0.name == name }) else {
            let names = self.simulation.faultSets.map(\.name)
            let hint =
                names.isEmpty
                ? "it has no faults at the top level"
                : "there are \(names.joined(separator: ", "))\(name.hint(of: names))"
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

extension ListenAddress {
    /// An address with a port of 127.0.0.1; with 0 any free one.
    static func loopback(port: UInt16 = 0) -> ListenAddress {
        ListenAddress(address: IPAddress(v4: 0x7F00_0001), port: port)
    }
}
