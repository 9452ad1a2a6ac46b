// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
package import PintleSession
internal import PintleTrust

/// A look at what a new configuration would do to hosts that work now, before it takes the place of the old one.
package struct Preflight: Sendable {
    /// A host that would be refused.
    package struct Breakage: Sendable, Hashable, CustomStringConvertible {
        /// With its port.
        let host: Authority
        /// The new policy, or nil for the system's roots.
        let trust: String?
        let reason: String

        package var description: String {
            "\(self.host): \(self.trust.map { "trust.\($0)" } ?? "the system's roots") would refuse it: \(self.reason)"
        }
    }

    /// A host, and a policy that would judge it.
    private struct Case: Sendable {
        let host: Authority
        let trust: Gate.TrustSession
    }

    private let new: Gate
    private let cases: [Case]
    private let chains: [Authority: [Certificate]]

    /// The hosts that `old` trusts, with the last chain that each has shown.
    package init(from old: Gate, to new: Gate) async {
        self.new = new
        var cases: [Case] = []
        var chains: [Authority: [Certificate]] = [:]
        for (host, name, verdict) in await old.acquaintances() where verdict.isTrusted && verdict.reported == nil {
            // A chain that was verified may end at what the old policy pinned, before the new one's roots. What a program
            // decided itself was not verified.
            chains[host] = verdict.presented.isEmpty ? verdict.chain.map(\.certificate) : verdict.presented
            cases += Self.sessions(for: host, judgedBy: name, in: new).map { Case(host: host, trust: $0) }
        }
        self.cases = cases.sorted { "\($0.host)" < "\($1.host)" }
        self.chains = chains
    }

    /// The policies that may judge a host: the one of its name and, on routes that lead to it, the one that judged it.
    private static func sessions(for host: Authority, judgedBy name: String?, in gate: Gate) -> [Gate.TrustSession] {
        let byName = gate.session(for: gate.policy.trust.choose(for: host, route: nil))
        let routes = gate.policy.routes.routes.filter { route in
            let configuration = route.configuration
            guard let trust = configuration.trust?.value, trust == name, trust != byName.name else { return false }
            if let upstream = configuration.upstream { return upstream.authority == host }
            let hosts = configuration.match.hosts
            return hosts.isEmpty || hosts.contains { $0.matches(host) }
        }
        guard let route = routes.first else { return [byName] }
        return [byName, gate.session(for: gate.policy.trust.choose(for: host, route: route))]
    }

    /// What would be refused by the chains last seen, at this moment.
    package func breakages() -> [Breakage] {
        self.cases.compactMap { item in
            guard let chain = self.chains[item.host] else { return nil }
            return Self.breakage(
                of: item, item.trust.session.evaluator.evaluate(chain: chain, host: item.host.host))
        }
    }

    /// What would be refused by what the hosts show now. Hosts that cannot be reached are not among them: they do not work
    /// now, either.
    ///
    /// - Parameter timeLimit: for looking up each host, and for shaking hands with it.
    package func liveBreakages(on engine: Engine, timeLimit: Duration = .seconds(10)) async -> [Breakage] {
        let loop = engine.loops[0]
        return await withTaskGroup(of: Breakage?.self) { group in
            // What a parent resolves and connects to may not be asked from here.
            var waiting = self.cases.filter { self.new.reachesDirectly($0.host) }[...]
            var found: [Breakage] = []
            for item in waiting.prefix(Self.atATime) { group.addTask { await Self.ask(item, on: loop, timeLimit) } }
            waiting = waiting.dropFirst(Self.atATime)
            while let breakage = await group.next() {
                if let breakage { found.append(breakage) }
                if let item = waiting.popFirst() { group.addTask { await Self.ask(item, on: loop, timeLimit) } }
            }
            return found.sorted { "\($0)" < "\($1)" }
        }
    }

    /// How many hosts are asked at the same time.
    private static let atATime = 16

    private static func ask(_ item: Case, on loop: Loop, _ timeLimit: Duration) async -> Breakage? {
        let addresses = try? await HostResolver.addresses(
            of: item.host.host, port: item.host.port, within: timeLimit, on: loop)
        for address in addresses ?? [] {
            var probe = Probe(address: address, host: item.host.host, evaluator: item.trust.session.evaluator)
            probe.timeLimit = timeLimit
            guard let verdict = await probe.run(on: loop).verdict else { continue }
            return Self.breakage(of: item, verdict)
        }
        return nil
    }

    private static func breakage(of item: Case, _ verdict: Verdict) -> Breakage? {
        guard let error = verdict.error ?? verdict.reported else { return nil }
        let firstLine = error.message.split(separator: "\n").first.map(String.init) ?? error.message
        return Breakage(host: item.host, trust: item.trust.name, reason: firstLine)
    }
}
