// SPDX-License-Identifier: Apache-2.0

internal import PintleSession
internal import PintleTrust

/// The content of a configuration's rules without their spelling and place, to be compared with that of another one.
package struct PolicyMeaning: Sendable {
    /// The meaning of each route, in the order of the table.
    package let routes: [RouteMeaning]
    /// The treatment of requests without a route.
    package let withoutRoute: RouteMeaning
    /// The contract for the servers that it names.
    package let contract: ContractMeaning?
    /// Stands for every value that routes put into requests; nil if the values count.
    package let mask: String?
    private let trust: [TrustMeaning]
    private let parents: [ProxyServer]

    /// The content of a trust policy.
    package struct TrustMeaning: Sendable, Equatable {
        private let policy: SecurityPolicy
        private let identity: [Certificate]?
        private let enforcement: Enforcement

        init(_ policy: SecurityPolicy, _ identity: ClientIdentity?, _ enforcement: Enforcement) {
            (self.policy, self.identity, self.enforcement) = (policy, identity?.chain, enforcement)
        }
    }

    /// - Parameters:
    ///   - surroundings: access to the contracts and schemas that the configuration names.
    ///   - mask: stands for every value that routes put into requests. Nil, the default, compares the values.
    package init(_ policy: Policy, surroundings: LoaderEnvironment, mask: String? = nil) {
        self.mask = mask
        let configuration = policy.configuration
        let documents = ContractDocuments(surroundings: surroundings)
        self.routes = configuration.routes.map { route in
            var route = route
            if let mask { route.request = route.request.masked(by: mask) }
            return RouteMeaning(route, enforcement: configuration.enforcement, documents)
        }
        self.withoutRoute = RouteMeaning(nil, enforcement: configuration.enforcement, documents)
        self.contract = configuration.contract.map { ContractMeaning($0, documents) }
        self.trust = zip(configuration.trust, zip(policy.securityPolicies, policy.clientIdentities)).map {
            TrustMeaning($1.0, $1.1, $0.enforcement ?? configuration.enforcement)
        }
        self.parents = policy.parents.parents.map(\.server)
    }

    package func route(_ route: Route?) -> RouteMeaning { route.map { self.routes[$0.index] } ?? self.withoutRoute }

    /// The content of the trust policy; nil for the system's roots without pins, and if nothing is verified.
    package func trust(_ choice: TrustChoice?) -> TrustMeaning? { choice?.index.map { self.trust[$0] } }

    /// True if a way leads through the same upstream proxy as one of another configuration, or through none like that.
    package func isSameWay(_ way: RequestWay?, as other: PolicyMeaning, _ otherWay: RequestWay?) -> Bool {
        self.parent(way) == other.parent(otherWay)
    }

    private func parent(_ way: RequestWay?) -> ProxyServer? {
        if case .parent(let number)? = way { self.parents[number] } else { nil }
    }
}

extension Policy {
    /// The hosts by which clients address the proxy itself.
    package var ownHosts: [String] { self.ownNames.all }

    /// The trust policies of the upstream proxies over TLS.
    package var trustOfParents: [TrustChoice] {
        self.parents.parents.filter { $0.server.scheme == .https }
            .map { self.trust.choose(for: $0.server.authority, route: nil) }
    }

    /// True if clients may address the proxy itself by this host.
    package func isOwnHost(_ host: String) -> Bool { self.ownNames.contains(host) }

    /// True if both have the same rules in the same order. Rules that differ in their order or spelling alone may still decide
    /// alike.
    package func hasSameTables(as other: Policy) -> Bool {
        func tables(_ policy: Policy) -> [RouteMatch] { policy.configuration.routes.map(\.match) }
        func heads(_ policy: Policy) -> [[String?]] {
            policy.configuration.routes.map { [$0.name, $0.trust?.value, $0.connect?.rawValue] }
        }
        let (left, right) = (self.configuration, other.configuration)
        guard left.isolation.otherTCP == right.isolation.otherTCP,
            left.credentialMeanings == right.credentialMeanings
        else { return false }
        var parents = (left.upstreamProxy, right.upstreamProxy)
        parents.0?.position = .nowhere
        parents.1?.position = .nowhere
        return tables(self) == tables(other) && heads(self) == heads(other) && parents.0 == parents.1
            && left.clients.allow == right.clients.allow && left.destinations == right.destinations
            && left.hostLists == right.hostLists
            && left.listen == right.listen && left.tunnels == right.tunnels
            && left.interception.hosts == right.interception.hosts && left.unpinnedHosts == right.unpinnedHosts
            && left.enforcement == right.enforcement && left.via == right.via && self.ownHosts == other.ownHosts
            && left.trust.map(\.name) == right.trust.map(\.name)
            && left.trust.map { $0.hosts.map(\.value) } == right.trust.map { $0.hosts.map(\.value) }
            && left.trust.map(\.pinning) == right.trust.map(\.pinning)
    }
}

extension PolicyMeaning {
    /// True if the rules have the same content in the same order.
    package func isEqual(to other: PolicyMeaning) -> Bool {
        self.routes == other.routes && self.withoutRoute == other.withoutRoute && self.contract == other.contract
            && self.trust == other.trust && self.parents == other.parents
    }
}

/// The keys of two configurations with different values that show in no plan of a request.
package struct SettingsComparison {
    /// The keys, in the order of the reference.
    package private(set) var keys: [String] = []
    private let surroundings: LoaderEnvironment

    /// - Parameters:
    ///   - old: the earlier configuration and its file, nil for the embedded default. Paths are relative to the file.
    ///   - new: the later one.
    ///   - surroundings: access to files, which are compared by their content.
    package init(
        from old: (configuration: Configuration, file: String?), to new: (configuration: Configuration, file: String?),
        surroundings: LoaderEnvironment
    ) {
        self.surroundings = surroundings
        let (left, right) = (old.configuration, new.configuration)
        func path(_ path: String?, of side: (configuration: Configuration, file: String?)) -> String? {
            guard let path, let slash = side.file?.lastIndex(of: "/"), let folder = side.file?[...slash],
                path.hasPrefix(folder)
            else { return path }
            return String(path.dropFirst(folder.count))
        }
        self.compare("listen", left.listen, right.listen)
        self.compareFiles("listen_tls", left.listenTLS, right.listenTLS)
        self.compare("admin", left.admin.place, right.admin.place)
        self.compare("admin_hosts", Set(left.admin.hosts), Set(right.admin.hosts))
        self.compare("via", left.via, right.via)
        self.compare("engine", left.engine, right.engine)
        var logs = (left.log, right.log)
        if case .file(let file) = logs.0.exchanges { logs.0.exchanges = .file(path(file, of: old) ?? file) }
        if case .file(let file) = logs.1.exchanges { logs.1.exchanges = .file(path(file, of: new) ?? file) }
        self.compare("log", logs.0, logs.1)
        self.compare("tracing", left.tracing, right.tracing)
        self.compare("limits", left.limits, right.limits)
        self.compare("clients.basic_auth", left.clients.basicAuth, right.clients.basicAuth)
        self.compare("enforcement", left.enforcement, right.enforcement)
        let names = (left.destinations, right.destinations)
        self.compare("destinations.enforcement", names.0.enforcement, names.1.enforcement)
        self.compare(
            "destinations.require_sni_match",
            names.0.requiresSNIMatch ? Set(names.0.absentSNI.map(HostPatternContent.init)) : nil,
            names.1.requiresSNIMatch ? Set(names.1.absentSNI.map(HostPatternContent.init)) : nil)
        self.compare("lists", Self.sources(left), Self.sources(right))
        self.compare("ask", left.ask, right.ask)
        // Requests show where a credential goes, and not where it comes from.
        let sources = (
            Self.sources(left.credentials) { path($0, of: old) }, Self.sources(right.credentials) { path($0, of: new) }
        )
        for name in Set(sources.0.keys).intersection(sources.1.keys).sorted() {
            self.compare("credentials.\(name)", sources.0[name], sources.1[name])
        }
        self.compare("tunnels.verify_ttl", left.tunnels.verifyTTL, right.tunnels.verifyTTL)
        switch (left.interception.authority, right.interception.authority) {
        case (.files(let left), .files(let right)): self.compareFiles("interception.ca", left, right)
        case (let left, let right): self.compare("interception.ca", left, right)
        }
        self.compare("interception.http2", left.interception.http2, right.interception.http2)
        self.compare(
            "interception.pass_through_on_alert", left.interception.passesThroughOnAlert,
            right.interception.passesThroughOnAlert)
        var caches = (left.cache, right.cache)
        (caches.0.folder, caches.1.folder) = (path(caches.0.folder, of: old), path(caches.1.folder, of: new))
        self.compare("cache", caches.0, caches.1)
        self.compare("activity", left.activity, right.activity)
    }

    /// A pattern without its spelling.
    private struct HostPatternContent: Hashable {
        let host: HostPattern.Host
        let port: UInt16?

        init(_ pattern: HostPattern) { (self.host, self.port) = (pattern.host, pattern.port) }
    }

    /// The origin of a credential's value, and the places where a command has its placeholder.
    private struct CredentialSource: Equatable {
        let value: String
        let variable: String?
        let files: [String?]
    }

    /// - Parameter relative: makes a path relative to the folder of the configuration.
    private static func sources(
        _ credentials: [CredentialConfiguration], _ relative: (String?) -> String?
    ) -> [String: CredentialSource] {
        credentials.reduce(into: [:]) { sources, credential in
            let files: [String?] = [credential.source] + credential.files.map { .some($0) }
            sources[credential.name] = CredentialSource(
                value: credential.value, variable: credential.variable, files: files.map(relative))
        }
    }

    /// The lists that other machines keep, by their names; without the times at which they were fetched, and the place of the
    /// name of the trust policy.
    private static func sources(_ configuration: Configuration) -> [String: ListConfiguration.Remote] {
        let pairs = configuration.lists.compactMap { list -> (String, ListConfiguration.Remote)? in
            guard var remote = list.remote else { return nil }
            remote.confirmed = nil
            remote.trust?.position = .nowhere
            return (list.name, remote)
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    private mutating func compare<Value: Equatable>(_ key: String, _ left: Value, _ right: Value) {
        if left != right { self.keys.append(key) }
    }

    private mutating func compareFiles(_ key: String, _ left: IdentityFiles?, _ right: IdentityFiles?) {
        let areAlike =
            self.content(left?.certificate) == self.content(right?.certificate)
            && self.content(left?.key) == self.content(right?.key) && left?.password == right?.password
        if !areAlike { self.keys.append(key) }
    }

    /// The bytes of a file, else its path.
    private func content(_ file: Located<String>?) -> [UInt8]? {
        file.map { (try? self.surroundings.read($0.value, 16 << 20)) ?? Array($0.value.utf8) }
    }
}
