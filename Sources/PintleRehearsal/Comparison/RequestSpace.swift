// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleWatch

/// Requests that stand for all requests as far as the tables of two configurations can tell.
///
/// The tables decide by a finite number of conditions: patterns of hosts, ports, methods, paths and fields. For each host only
/// the conditions of routes that may be for it matter, so their product is small. If it is not, pairs of conditions are tried, and
/// the space is not exhausted.
struct RequestSpace {
    /// The most requests for one host and port if all combinations are tried.
    private static let mostForPort = 4096

    private let policies: [Policy]
    /// The routes of all configurations, which may be thousands.
    private let routes: [RouteConfiguration]
    /// The hosts of the routes, by the places of these.
    private let hosts: HostIndex
    private let credentials: CredentialGrants
    private var limit: Int
    private var count = 0
    private var paths: [Set<PathPattern>: PatternWitnesses] = [:]
    /// True if each request that any table can tell from the others was tried.
    private(set) var isExhausted = true

    /// - Parameter limit: the number of requests after which only pairs of conditions are tried.
    init(_ policies: [Policy], limit: Int) {
        (self.policies, self.credentials, self.limit) = (policies, CredentialGrants(policies), limit)
        let routes = policies.flatMap(\.configuration.routes)
        var hosts = HostIndex()
        for (number, route) in routes.enumerated() {
            if route.match.hosts.isEmpty { hosts.insertEverywhere(number: number) }
            for host in route.match.hosts { hosts.insert(host, number: number) }
        }
        (self.routes, self.hosts) = (routes, hosts)
    }

    /// Calls `body` with each request, once for each client that a rule can tell from the others.
    mutating func forEach(_ take: (PlanComparison.Request) -> Void) {
        let clients = ClientWitnesses(self.policies)
        if !clients.isComplete { self.isExhausted = false }
        self.limit /= clients.all.count
        func body(_ request: PlanComparison.Request) {
            var request = request
            request.isRepresentative = true
            // Clients that are captured show no name.
            for client in request.isCaptured ? clients.all.prefix(1) : clients.all[...] {
                request.client = client
                take(request)
            }
        }
        let classes = HostClasses(self.policies, clients.all, besides: self.credentials.hosts)
        if !classes.isComplete { self.isExhausted = false }
        var seen: Set<HostClasses.Conditions> = []
        for host in classes.hosts {
            for port in classes.ports(of: host) {
                guard let authority = Authority(host, defaultPort: port),
                    seen.insert(classes.conditions(of: authority)).inserted
                else { continue }
                self.forEach(at: authority, body)
            }
        }
        body(PlanComparison.Request(RequestHead(method: "OPTIONS", target: .asterisk)))
    }

    /// The conditions that matter for one host and port.
    private struct Conditions {
        var schemes: [Scheme] = [.https, .http]
        var isGateway = [false]
        var methods: [String] = []
        var paths: [String] = []
        var fields: [Fields] = []

        var sizes: [Int] {
            [self.schemes.count, self.isGateway.count, self.methods.count, self.paths.count, self.fields.count]
        }
    }

    private mutating func forEach(at authority: Authority, _ body: (PlanComparison.Request) -> Void) {
        let routes = self.hosts.all(authority).map { self.routes[$0] }
        let grants = self.credentials.grants(for: authority, through: routes)
        if !grants.areExhausted { self.isExhausted = false }
        let conditions = self.conditions(of: routes, grants.all)
        let intercepts = self.policies.contains(where: \.intercepts)
        for fields in conditions.fields {
            var request = PlanComparison.Request(
                RequestHead(method: "CONNECT", target: .authority(authority), fields: fields))
            body(request)
            request.isOpaque = true
            if intercepts { body(request) }
            // A connection that no client has asked for; its language may be any.
            request.isCaptured = true
            body(request)
        }
        let all = conditions.sizes.reduce(1, *)
        if all <= Self.mostForPort, self.count + all <= self.limit {
            for number in 0..<all { body(Self.request(number, conditions, authority)) }
            self.count += all
        } else {
            self.isExhausted = false
            let pairs = Self.pairs(conditions.sizes)
            let step = max(1, pairs.count / Self.mostForPort)
            for index in stride(from: 0, to: pairs.count, by: step) {
                body(Self.request(pairs[index], conditions, authority))
            }
        }
    }

    private mutating func conditions(
        of routes: [RouteConfiguration], _ grants: [CredentialConfiguration.Grant]
    ) -> Conditions {
        var conditions = Conditions()
        let methods = Set(routes.flatMap(\.match.methods) + grants.flatMap(\.methods))
        let other = ["GET", "POST", "PUT", "DELETE", "PATCH", "OTHER"].first { !methods.contains($0) } ?? "ANOTHER"
        conditions.methods = methods.filter { $0 != "CONNECT" }.sorted() + [other]
        if routes.contains(where: \.servesGateway) { conditions.isGateway.append(true) }
        let patterns = Set(routes.flatMap(\.match.paths) + grants.flatMap(\.paths))
        let witnesses = self.paths[patterns] ?? PatternWitnesses(paths: Array(patterns))
        self.paths[patterns] = witnesses
        if !witnesses.isComplete { self.isExhausted = false }
        // Some paths are refused if a rule looks at paths.
        conditions.paths = witnesses.texts + (patterns.isEmpty ? [] : ["/%00", "//.."])
        let fields = FieldWitnesses(routes.flatMap(\.match.headers), most: 512)
        if !fields.isComplete { self.isExhausted = false }
        conditions.fields = fields.all
        return conditions
    }

    // MARK: Combinations

    private static func request(
        _ number: Int, _ conditions: Conditions, _ authority: Authority
    ) -> PlanComparison.Request {
        var rest = number
        func take<Element>(_ elements: [Element]) -> Element {
            defer { rest /= elements.count }
            return elements[rest % elements.count]
        }
        let (scheme, isGateway) = (take(conditions.schemes), take(conditions.isGateway))
        let (method, path, fields) = (take(conditions.methods), take(conditions.paths), take(conditions.fields))
        var head = RequestHead(
            method: method,
            target: isGateway ? .origin(path: path) : .absolute(scheme: scheme, authority: authority, path: path),
            fields: fields)
        if isGateway { head.fields.append("Host", authority.description) }
        return PlanComparison.Request(head)
    }

    /// The numbers of combinations in which each two values of two conditions occur together.
    private static func pairs(_ sizes: [Int]) -> [Int] {
        var numbers: Set<Int> = []
        var strides = [1]
        for size in sizes.dropLast() { strides.append((strides.last ?? 1) * size) }
        for left in sizes.indices {
            for right in sizes.indices where right > left {
                for first in 0..<sizes[left] {
                    for second in 0..<sizes[right] {
                        var number = first * strides[left] + second * strides[right]
                        for index in sizes.indices where index != left && index != right {
                            number += (first + second) % sizes[index] * strides[index]
                        }
                        numbers.insert(number)
                    }
                }
            }
        }
        return numbers.sorted()
    }
}
