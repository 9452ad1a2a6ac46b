// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A configuration's rules for answers that are kept, made ready: the store, and for each route how it is used.
package struct Caching: Sendable {
    private struct RouteUse {
        let mode: CacheMode?
        let joins: Bool
        let queue: RouteQueue?
        let rules: CoalescingRules?
        /// A digest of the route's rules for requests: a request that they have changed may have another answer.
        let party: String
    }

    /// Nil where no route needs it.
    package let store: AnswerStore?
    private let configuration: CacheConfiguration
    /// The uses of the routes that keep answers or merge requests, by name.
    private let uses: [String: RouteUse]
    /// Digests that tell one trust policy from another, in the order of the configuration; the system's trust last.
    private let trusts: [String]

    /// - Parameter previous: whose answers are still good, and whose requests are still under way.
    init(_ policy: Policy, continuing previous: Caching?) {
        self.configuration = policy.configuration.cache
        var uses: [String: RouteUse] = [:]
        for route in policy.routes.routes {
            let rules = route.configuration.coalescing
            let mode = CacheMode(route.configuration.cache)
            guard mode != nil || rules != nil else { continue }
            let known = previous?.uses[route.name]
            let queue = rules?.maxActive.map { most in
                if let queue = known?.queue, known?.rules == rules { return queue }
                return RouteQueue(most: most, order: rules?.order ?? .fifo)
            }
            let party = Pin(spki: Array("\(route.configuration.request)".utf8)).description
            uses[route.name] = RouteUse(mode: mode, joins: rules != nil, queue: queue, rules: rules, party: party)
        }
        self.uses = uses
        self.trusts = (policy.securityPolicies + [.default]).map(\.digest)
        if uses.isEmpty {
            self.store = nil
        } else if let previous, previous.configuration == self.configuration, let store = previous.store {
            self.store = store
        } else {
            self.store = AnswerStore(self.configuration)
        }
    }

    /// True where a route keeps answers beyond the requests that are under way.
    var keepsAnswers: Bool { self.uses.values.contains { $0.mode != nil } }

    /// - Parameter parent: by which the request goes: another one may answer otherwise.
    func use(_ route: Route, under trust: TrustChoice?, by parent: ProxyServer?, name: String) -> CacheUse? {
        guard let store, let use = self.uses[route.name] else { return nil }
        let policy = trust?.index.map { self.trusts[$0] } ?? self.trusts.last ?? ""
        let way = parent.map { " by \($0.scheme.rawValue)://\($0.authority)" } ?? ""
        return CacheUse(
            store: store, mode: use.mode, joins: use.joins, queue: use.queue, partition: "\(use.party) \(policy)\(way)",
            name: name)
    }
}

extension CacheMode {
    fileprivate init?(_ policy: RouteCachePolicy) {
        switch policy {
        case .off: return nil
        case .protocol: self = .protocol
        case .ignoreLocal: self = .ignoreLocal
        case .preferCache: self = .preferCache
        case .onlyCache: self = .onlyCache
        }
    }
}
