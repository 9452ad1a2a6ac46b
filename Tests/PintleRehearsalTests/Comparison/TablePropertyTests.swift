// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import PintleRehearsal

/// The comparison never says "same" of configurations that decide a request otherwise.
@Suite struct TablePropertyTests {
    /// The number of pairs; `PINTLE_PAIRS` asks for more.
    private static let pairs = ProcessInfo.processInfo.environment["PINTLE_PAIRS"].flatMap { Int($0) } ?? 200

    static func policy(_ yaml: String, file: String = "pintle.yaml") throws -> Policy {
        try PolicyLoader.policy(yaml: Array(yaml.utf8), file: file, surroundings: .system(environment: [:]))
    }

    /// The decision about one request, by the plan alone.
    private static func decision(
        _ policy: Policy, _ head: RequestHead, _ client: ProxyIdentity, _ address: IPAddress, _ tunnel: TunnelKind
    ) throws -> String {
        let plan = RequestPlan(head, try head.bodyFraming(), by: policy, of: client, tunnel: tunnel)
        if case .refuse = plan.step { return "refused" }
        guard let decision = plan.decision else { return "answered" }
        var words = [
            decision.route?.name ?? "-", decision.trust.map(\.name) ?? "-", decision.trustIfRelayed.map(\.name) ?? "-",
            "\(decision.isIntercepted)",
        ]
        var isReported = decision.reportedRule != nil
        // An answer of Pintle's own needs no address.
        let isSent =
            switch plan.step {
            case .respond, .answer: false
            case .refuse, .ask, .tunnel, .collect, .send: true
            }
        if case .parent(let number) = decision.way {
            words.append(policy.parents.parents[number].url)
        } else if isSent, IPAddress(decision.authority.host) == nil, policy.destinations.judgesAddresses {
            let judged = policy.destinations.judge(
                address: address, port: decision.authority.port, asked: decision.authority, for: decision.rights)
            if judged.denial != nil { return "refused" }
            isReported = isReported || judged.reported != nil
        }
        words.append("\(isReported)")
        guard !plan.isTunnel else { return words.joined(separator: " ") }
        switch plan.trial(head, body: []) {
        case .refused: return "refused"
        case .unknown: words.append("unknown")
        case .sent(let head, let body, let isReported): words.append("\(head) \(body) \(isReported)")
        }
        let rules = decision.route?.configuration
        words.append("\(rules?.response.status ?? []) \(rules?.response.headers.remove ?? [])")
        words.append(
            "\(String(describing: rules?.request.timeout)) \(rules?.redirects.rawValue ?? "pass") \(rules?.cache.rawValue ?? "off")"
        )
        return words.joined(separator: " ")
    }

    @Test func `configurations that decide a request otherwise are never the same (issue 31)`() throws {
        var (different, same) = (0, 0)
        for pair in 0..<Self.pairs {
            let seed = Seed.ofThisRun &+ UInt64(pair)
            var random = SeededGenerator(seed: seed)
            let old = RandomConfiguration(using: &random)
            var new = old
            for _ in 0..<Int.random(in: 0...2, using: &random) { new.mutate(using: &random) }
            // A random text may be no configuration: a route may need what it lacks.
            guard let left = try? Self.policy(old.yaml), let right = try? Self.policy(new.yaml) else { continue }
            let found = TableComparison(
                from: (left, "old.yaml"), to: (right, "new.yaml"), surroundings: .system(environment: [:]), limit: 5000)
            if found.isSame { same += 1 } else { different += 1 }
            guard found.isSame else { continue }
            for _ in 0..<20 {
                let (head, client, address) = RandomConfiguration.request(using: &random)
                for tunnel in [TunnelKind(), TunnelKind(isOpaque: true, isCaptured: true)] {
                    // Clients that are captured show no name.
                    let client = tunnel.isCaptured ? ProxyIdentity() : client
                    let before = try Self.decision(left, head, client, address, tunnel)
                    let after = try Self.decision(right, head, client, address, tunnel)
                    #expect(
                        before == after,
                        "seed \(seed): \(head) by \(client) at \(address), \(tunnel)\n--- old\n\(old.yaml)\n--- new\n\(new.yaml)"
                    )
                }
            }
        }
        #expect(different > Self.pairs / 4 && same > Self.pairs / 20, "\(different) different, \(same) same")
    }
}
