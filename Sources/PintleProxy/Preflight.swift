// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
package import PintleSession
package import PintleTrust

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

    /// A host that some request has relied on, and the policy by which the same request would rely on it now.
    private struct Case: Sendable {
        let host: Authority
        let old: ActiveConfiguration.TrustSession
        let new: ActiveConfiguration.TrustSession
        /// What the host has shown last, leaf first.
        let chain: [Certificate]
        /// When it has shown it.
        let moment: UnixTime

        /// Names what the new policy refuses, if the old one lets the same pass now. A host that the old one lets pass with
        /// a report breaks only when the new one enforces.
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

    /// After so long what a host has shown says nothing about it any more, in seconds.
    private static let age: Int64 = 86_400

    private let new: ActiveConfiguration
    private let cases: [Case]
    private let now: UnixTime

    /// What requests have relied on under `old`: the same requests are asked of `new`, by the routes and the policies that
    /// they would have there.
    package init(from old: ActiveConfiguration, to new: ActiveConfiguration, at now: UnixTime = .now) async {
        self.new = new
        self.now = now
        var seen: Set<[String]> = []
        self.cases = await old.verdictsRelied().compactMap { use, trust, dated in
            let verdict = dated.verdict
            // A verdict that a program gave itself is no verification.
            guard verdict.isTrusted, !verdict.decidedByHook,
                now.seconds - dated.moment.seconds < Self.age, let choice = Self.choice(for: use, in: new.policy)
            else { return nil }
            let newTrust = new.session(for: choice)
            let key = ["\(use.authority)", trust.name ?? "", newTrust.name ?? ""]
            guard seen.insert(key).inserted else { return nil }
            // A chain that was verified may end at what the old policy pinned, before the new one's roots.
            let chain = verdict.presented.isEmpty ? verdict.chain.map(\.certificate) : verdict.presented
            return Case(host: use.authority, old: trust, new: newTrust, chain: chain, moment: dated.moment)
        }.sorted { ("\($0.host)", $0.new.name ?? "") < ("\($1.host)", $1.new.name ?? "") }
    }

    /// The policy by which a request would rely on the same host; nil where it would go elsewhere, or nowhere.
    private static func choice(for use: TrustUses.Use, in policy: Policy) -> TrustChoice? {
        let decision = use.isTunnel ? policy.decideTunnel(use.query) : try? policy.decide(use.query)
        guard let decision, decision.authority == use.authority, decision.destination.denial == nil else { return nil }
        return decision.trust
    }

    /// What would be refused of the chains last seen: at the time when they were seen, or now.
    package func breakages() -> [Breakage] {
        self.cases.compactMap { item in
            let verdicts = [item.moment, self.now].map { moment in
                item.new.session.evaluator.evaluateInHandshake(chain: item.chain, host: item.host.host, at: moment)
            }
            return item.breakage(showing: item.chain, verdicts, at: self.now)
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
