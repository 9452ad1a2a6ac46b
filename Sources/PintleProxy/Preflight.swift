// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
package import PintleSession
package import PintleTrust

/// A test of a new configuration, before it replaces the old one: would it refuse hosts that work now?
package struct Preflight: Sendable {
    /// A host that would be refused.
    package struct Breakage: Sendable, Hashable, CustomStringConvertible {
        /// The host with its port.
        let host: Authority
        /// The name of the new policy; nil for the system's roots.
        let trust: String?
        let reason: String

        package var description: String {
            "\(self.host): \(self.trust.map { "trust.\($0)" } ?? "the system's roots") would refuse it: \(self.reason)"
        }
    }

    /// A host on whose verification a request has relied, with the old policy, and with the new one for the same request.
    private struct Case: Sendable {
        let host: Authority
        let old: ActiveConfiguration.TrustSession
        let new: ActiveConfiguration.TrustSession
        /// The host's last certificate chain, leaf first.
        let chain: [Certificate]
        /// The time when the host presented the chain.
        let moment: UnixTime

        /// Returns the breakage if the new policy refuses a chain that the old one accepts now. If the old policy accepts it
        /// but reports a violation, it is a breakage only if the new policy enforces.
        func breakage(showing chain: [Certificate], _ verdicts: [Verdict], at now: UnixTime) -> Breakage? {
            guard verdicts.contains(where: { !$0.isTrusted || $0.reported != nil }) else { return nil }
            let before = self.old.session.evaluator.evaluateInHandshake(chain: chain, host: self.host.host, at: now)
            guard before.isTrusted,
                let error = verdicts.compactMap({ $0.error ?? (before.reported == nil ? $0.reported : nil) }).first
            else { return nil }
            let firstLine = error.message.split(separator: "\n").first.map(String.init) ?? error.message
            return Breakage(host: self.host, trust: self.new.name, reason: firstLine)
        }
    }

    /// The age in seconds from which a recorded chain is ignored.
    private static let age: Int64 = 86_400

    private let new: ActiveConfiguration
    private let cases: [Case]
    private let now: UnixTime

    /// Collects the requests that relied on verdicts under `old`, and finds the routes and policies that `new` has for them.
    package init(from old: ActiveConfiguration, to new: ActiveConfiguration, at now: UnixTime = .now) async {
        self.new = new
        self.now = now
        var seen: Set<[String]> = []
        self.cases = await old.verdictsRelied().compactMap { use, trust, dated in
            let verdict = dated.verdict
            // The verdict of a program's own hook is not a verification.
            guard verdict.isTrusted, !verdict.decidedByHook,
                now.seconds - dated.moment.seconds < Self.age, let choice = Self.choice(for: use, in: new.policy)
            else { return nil }
            let newTrust = new.session(for: choice)
            let key = ["\(use.authority)", trust.name ?? "", newTrust.name ?? ""]
            guard seen.insert(key).inserted else { return nil }
            // A verified chain may end at a pin of the old policy, and so lack the part up to the new policy's roots.
            let chain = verdict.presented.isEmpty ? verdict.chain.map(\.certificate) : verdict.presented
            return Case(host: use.authority, old: trust, new: newTrust, chain: chain, moment: dated.moment)
        }.sorted { ("\($0.host)", $0.new.name ?? "") < ("\($1.host)", $1.new.name ?? "") }
    }

    /// The policy for the same request in the new configuration; nil if the request would go to another host, or be denied
    /// or asked about.
    private static func choice(for use: TrustUses.Use, in policy: Policy) -> TrustChoice? {
        let decision = use.isTunnel ? policy.decideTunnel(use.query) : try? policy.decide(use.query)
        // A handshake is no reason to ask.
        guard let decision, decision.authority == use.authority, decision.destination.denial == nil,
            decision.question == nil
        else { return nil }
        return decision.trust
    }

    /// The breakages for the recorded chains, evaluated at the time of their recording and now.
    package func breakages() -> [Breakage] {
        self.cases.compactMap { item in
            let verdicts = [item.moment, self.now].map { moment in
                item.new.session.evaluator.evaluateInHandshake(chain: item.chain, host: item.host.host, at: moment)
            }
            return item.breakage(showing: item.chain, verdicts, at: self.now)
        }
    }

    /// The breakages for the chains that the hosts present now. Unreachable hosts are skipped, because they do not work now
    /// either.
    ///
    /// - Parameter timeLimit: for each host's name lookup, and for its handshake.
    package func liveBreakages(on engine: Engine, timeLimit: Duration = .seconds(10)) async -> [Breakage] {
        let loop = engine.loops[0]
        return await withTaskGroup(of: Breakage?.self) { group in
            // Hosts reached by an upstream proxy are skipped, because only that proxy resolves and contacts them.
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

    /// The most hosts that are probed at the same time.
    private static let atATime = 16

    private static func ask(_ item: Case, on loop: Loop, _ timeLimit: Duration) async -> Breakage? {
        let addresses = try? await HostResolver.addresses(
            of: item.host.host, port: item.host.port, within: timeLimit, on: loop)
        let evaluator = item.new.session.evaluator
        let race = await Probe.race(over: addresses ?? [], on: loop) { address in
            var probe = Probe(address: address, host: item.host.host, evaluator: evaluator)
            probe.timeLimit = timeLimit
            return probe
        } until: {
            $0.verdict != nil
        }
        guard let winner = race.winner, let verdict = winner.verdict else { return nil }
        return item.breakage(showing: winner.presented, [verdict], at: .now)
    }
}
