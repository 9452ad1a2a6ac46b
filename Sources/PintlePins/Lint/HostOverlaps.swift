// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// Hosts that two policies claim: their order, or the route of a request, then decides which policy applies.
struct HostOverlaps {
    private struct Claim {
        let policy: String
        let host: Located<HostPattern>
        let path: String
    }

    private let policy: Policy

    init(_ policy: Policy) { self.policy = policy }

    var findings: [PinFinding] { self.betweenPolicies.map(\.finding) + self.betweenRoutes }

    /// Patterns with pins that never apply, because an earlier policy has these hosts.
    var shadowedPins: [PinFinding] {
        let pinning = Set(self.policy.configuration.trust.filter { $0.pinning != .none }.map(\.name))
        return self.betweenPolicies.filter { !$0.isFirst && pinning.contains($0.policy) }.map(\.finding)
    }

    /// A pattern that another policy covers.
    private struct Overlap {
        /// The policy that has the pattern.
        let policy: String
        /// True if this policy comes before the other one.
        let isFirst: Bool
        let finding: PinFinding
    }

    private var claims: [Claim] {
        self.policy.configuration.trust.flatMap { trust in
            trust.hosts.enumerated().map { index, host in
                Claim(policy: trust.name, host: host, path: "trust.\(trust.name).hosts[\(index)]")
            }
        }
    }

    /// A pattern without its spelling. No two policies of a file have the same.
    private struct Key: Hashable {
        let host: HostPattern.Host
        let port: UInt16?
    }

    /// Each pattern with the first pattern of another policy that covers it.
    private var betweenPolicies: [Overlap] {
        let claims = self.claims
        var places: [Key: [Int]] = [:]
        for (index, claim) in claims.enumerated() {
            places[Key(host: claim.host.value.host, port: claim.host.value.port), default: []].append(index)
        }
        return claims.indices.compactMap { index in
            let claim = claims[index]
            let ports = Set<UInt16?>([nil, claim.host.value.port])
            let candidates = Self.wider(claim.host.value.host).flatMap { host in
                ports.flatMap { places[Key(host: host, port: $0)] ?? [] }
            }
            let other = candidates.filter { claims[$0].policy != claim.policy }
                .filter { claims[$0].host.value.covers(claim.host.value) }
                .min()
            return other.map {
                Overlap(
                    policy: claim.policy, isFirst: index < $0,
                    finding: Self.finding(claim, claims[$0], isFirst: index < $0))
            }
        }
    }

    /// Returns the patterns that could cover `host`.
    private static func wider(_ host: HostPattern.Host) -> [HostPattern.Host] {
        var name: Substring
        switch host {
        case .exact(let text), .suffix(let text): name = text[...]
        case .any: return [host]
        case .network(let network):
            let networks: [HostPattern.Host] = (0...network.prefixLength).map { length in
                .network(CIDR(masking: network.address, prefixLength: length))
            }
            return networks + [.any]
        }
        var hosts: [HostPattern.Host] = [host, .any]
        if case .suffix = host { hosts.append(.suffix(String(name))) }
        while let dot = name.firstIndex(of: ".") {
            name = name[name.index(after: dot)...]
            hosts.append(.suffix(String(name)))
        }
        return hosts
    }

    private static func finding(_ claim: Claim, _ other: Claim, isFirst: Bool) -> PinFinding {
        let place = "\"\(claim.host.value)\" is under trust.\(other.policy) too, as \"\(other.host.value)\""
        let result =
            isFirst
            ? "trust.\(claim.policy) comes first and holds"
            : "trust.\(other.policy) comes first and holds, so this pattern is never used; put trust.\(claim.policy) first"
        return PinFinding(
            rule: .twoPolicies, position: claim.host.position, path: claim.path, message: "\(place); \(result)")
    }

    /// Routes that name another policy than the one that applies to their upstream everywhere else.
    private var betweenRoutes: [PinFinding] {
        self.policy.configuration.routes.enumerated().compactMap { index, route in
            guard let trust = route.trust, let upstream = route.upstream, upstream.scheme == .https else { return nil }
            let usual = self.policy.trust.choose(for: upstream.authority, route: nil)
            guard usual.name != trust.value, usual.index != nil, usual.name != TrustConfiguration.defaultName else {
                return nil
            }
            return PinFinding(
                rule: .twoPolicies, position: trust.position, path: "routes[\(index)].trust",
                message: "requests of this route hold \(upstream.authority) to trust.\(trust.value), all others to "
                    + "trust.\(usual.name), which has it among its hosts; name one of them only")
        }
    }
}
