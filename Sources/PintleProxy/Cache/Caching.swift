// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A configuration's rules for answers that are kept, made ready: the store, and for each route how it is used.
package struct Caching: Sendable {
    /// Nil where no route needs it.
    package let store: AnswerStore?
    private let configuration: CacheConfiguration
    /// The queues of the routes that have one, by name, with the rules that they were made by.
    private let queues: [String: (rules: CoalescingRules, queue: RouteQueue)]
    /// By the route's index; nil for a route that keeps nothing and merges no requests.
    private let uses: [RouteUses?]

    /// The uses of one route: a key belongs to one trust policy.
    private struct RouteUses: Sendable {
        /// By the trust policy's index.
        let ofPolicies: [CacheUse]
        /// The use under the system's trust.
        let ofSystem: CacheUse

        subscript(trust: TrustChoice?) -> CacheUse { trust?.index.map { self.ofPolicies[$0] } ?? self.ofSystem }
    }

    /// - Parameters:
    ///   - name: in Cache-Status.
    ///   - previous: whose answers are still good, and whose requests are still under way.
    init(_ policy: Policy, name: String, continuing previous: Caching?) {
        self.configuration = policy.configuration.cache
        let routes = policy.routes.routes
        let isUsed = routes.contains {
            CacheMode($0.configuration.cache) != nil || $0.configuration.coalescing != nil
        }
        guard isUsed else {
            (self.store, self.queues, self.uses) = (nil, [:], [])
            return
        }
        let known = previous.flatMap { $0.configuration == policy.configuration.cache ? $0.store : nil }
        let store = known ?? AnswerStore(self.configuration)
        self.store = store
        // Digests that tell one trust policy from another.
        let trusts = policy.securityPolicies.map(\.digest)
        // An address that may not be dialled any more does not answer from the cache either.
        let access =
            "\(policy.configuration.destinations) \(policy.configuration.listen.contains(where: \.isExposed))"
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
            // A request that the route's rules have changed may have another answer.
            let party = Pin(spki: Array("\(route.configuration.request) \(access)".utf8)).description
            let queue = queues[route.name]?.queue
            func use(under trust: String) -> CacheUse {
                CacheUse(store, mode, joins: rules != nil, queue, partition: "\(party) \(trust)", name: status)
            }
            return RouteUses(
                ofPolicies: trusts.map(use), ofSystem: use(under: SecurityPolicy.default.digest))
        }
        self.queues = queues
    }

    /// True where a route keeps answers beyond the requests that are under way.
    var keepsAnswers: Bool { self.uses.contains { $0?.ofSystem.mode != nil } }

    /// - Parameter parent: by which the request goes: another one may answer otherwise.
    func use(_ route: Route, under trust: TrustChoice?, by parent: ProxyServer?) -> CacheUse? {
        guard route.index < self.uses.count, let use = self.uses[route.index]?[trust] else { return nil }
        return parent.map(use.by) ?? use
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
