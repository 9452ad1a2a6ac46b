// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// Requests the certificate chains of destinations of tunnels that were not inspected, as `tunnels.verify` would: by a
/// handshake of Pintle's own, without sending anything else.
enum LearnedProofs {
    /// The maximum number of destinations to ask, one after the other.
    private static let most = 32
    private static let patience = Duration.seconds(5)

    /// Adds the verdicts. Destinations that are reached through an upstream proxy are not asked.
    static func add(to traffic: inout LearnedTraffic, under policy: Policy) async {
        let unproved = traffic.hosts.filter { $0.value.tunnels == .relayed }.keys
            .filter { if case .parent = policy.parents.way(to: $0, .https) { false } else { true } }
            .sorted { ($0.host, $0.port) < ($1.host, $1.port) }
        guard !unproved.isEmpty, let loop = try? Loop(name: "probe") else { return }
        defer { loop.stop() }
        let asked = unproved.prefix(self.most)
        let notice = WaitNotice(
            "pintle: asking \(asked.count) \(asked.count == 1 ? "host" : "hosts") for the chains of tunnels: at most "
                + "\(self.patience.spelled) for each name, and for its chain")
        defer { notice.end() }
        for authority in asked {
            let choice = policy.trust.choose(for: authority, route: nil)
            let rules = choice.index.map { policy.securityPolicies[$0] } ?? .default
            guard let evaluator = try? TrustEvaluator(policy: rules),
                let verdict = await self.ask(authority, evaluator, loop)
            else { continue }
            traffic.prove(authority, verdict, by: choice.index == nil ? nil : choice.name)
        }
    }

    /// Returns the verdict on the chain of the first address with which a handshake completes.
    private static func ask(_ authority: Authority, _ evaluator: TrustEvaluator, _ loop: Loop) async -> Verdict? {
        let addresses = try? await HostResolver.addresses(
            of: authority.host, port: authority.port, within: self.patience, on: loop)
        let race = await Probe.race(over: addresses ?? [], on: loop) { address in
            var probe = Probe(address: address, host: authority.host, evaluator: evaluator)
            probe.timeLimit = self.patience
            return probe
        } until: {
            // A handshake that cannot complete, for example because the server requires a client certificate, would fail in
            // `tunnels.verify` too.
            $0.negotiated != nil
        }
        return race.winner?.verdict
    }
}
