// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// The cache of a configuration, and its settings for each route.
package struct Caching: Sendable {
    /// Nil if no route needs it.
    package let cache: SharedCache?
    /// The removals in the caches of this configuration and of the earlier ones.
    private let history: RemovalHistory
    private let configuration: CacheConfiguration
    /// The queues of routes with `coalesce.max_active`, by route name, with the rules from which they were made.
    private let queues: [String: (rules: CoalescingRules, queue: RouteQueue)]
    /// By route index; nil for a route that caches nothing and merges no requests.
    private let uses: [RouteUses?]
    /// True if a route caches responses; false if routes only merge requests in flight.
    let keepsAnswers: Bool

    /// The cache settings of one route for each trust policy, because a cached response belongs to one trust policy.
    private struct RouteUses: Sendable {
        /// By trust policy index.
        let ofPolicies: [CacheUse]
        /// The settings under the system's trust.
        let ofSystem: CacheUse

        subscript(trust: TrustChoice?) -> CacheUse { trust?.index.map { self.ofPolicies[$0] } ?? self.ofSystem }
    }

    /// - Parameters:
    ///   - name: the name of this cache in Cache-Status.
    ///   - previous: the caching of the previous configuration; its responses and requests in flight remain valid.
    init(_ policy: Policy, name: String, continuing previous: Caching?) {
        self.configuration = policy.configuration.cache
        let history = previous?.history ?? RemovalHistory()
        self.history = history
        // No cache has seen the requests that changed something until now; so all that a folder has may be out of date.
        if let previous, previous.cache == nil { history.note(.all) }
        let routes = policy.routes.routes
        self.keepsAnswers = routes.contains { CacheMode($0.configuration.cache) != nil }
        let isUsed = routes.contains {
            CacheMode($0.configuration.cache) != nil || $0.configuration.coalescing != nil
        }
        guard isUsed else {
            (self.cache, self.queues, self.uses) = (nil, [:], [])
            return
        }
        let known = previous.flatMap { $0.configuration == policy.configuration.cache ? $0.cache : nil }
        let cache = known ?? SharedCache(self.configuration, history)
        self.cache = cache
        // Digests that distinguish the trust policies.
        let trusts = policy.securityPolicies.map(\.digest)
        // A destination that is not allowed any more must not be answered from the cache either.
        let configuration = policy.configuration
        let isExposed = configuration.listen.contains(where: \.isExposed)
        let access = "\(StableText(configuration.destinations)) \(Self.lists(of: configuration)) \(isExposed)"
        let status = CacheStatus.Name(name)
        var queues: [String: (rules: CoalescingRules, queue: RouteQueue)] = [:]
        self.uses = routes.map { route in
            let rules = route.configuration.coalescing
            let mode = CacheMode(route.configuration.cache)
            guard mode != nil || rules != nil else { return nil }
            if let rules, let most = rules.maxActive {
                let known = previous?.queues[route.name]
                let queue = known?.rules == rules ? known?.queue : nil
                queues[route.name] = (rules, queue ?? RouteQueue(most: most, order: rules.order))
            }
            // The origin may answer otherwise if the route's rules change the request.
            let party = Pin(spki: Array("\(StableText(route.configuration.request)) \(access)".utf8)).description
            let queue = queues[route.name]?.queue
            func use(under trust: String) -> CacheUse {
                CacheUse(cache, mode, joins: rules != nil, queue, partition: "\(party) \(trust)", name: status)
            }
            return RouteUses(
                ofPolicies: trusts.map(use), ofSystem: use(under: SecurityPolicy.default.digest))
        }
        self.queues = queues
    }

    /// The names of the lists of hosts that rules name, with digests of their entries.
    private static func lists(of configuration: Configuration) -> [String] {
        let hosts = configuration.hostLists
        return configuration.destinations.lists.map { name in
            let digest = RunningDigest()
            hosts[name]?.withEntries { digest.take($0) }
            return "\(name) \(digest.finish() ?? [])"
        }
    }

    /// - Parameters:
    ///   - upstream: the upstream proxy of the request, if any; others may give other responses.
    ///   - rights: the client's rights to the address of the origin.
    func use(
        _ route: Route, under trust: TrustChoice?, by upstream: ProxyServer?, for rights: ClientRights
    ) -> CacheUse? {
        guard route.index < self.uses.count, let use = self.uses[route.index]?[trust] else { return nil }
        if let upstream { return use.by(upstream) }
        return rights == .none ? use : use.with(rights)
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
