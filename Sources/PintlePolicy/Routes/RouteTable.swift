// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The routes, compiled for look-up by host. The first route that matches wins.
package final class RouteTable: Sendable {
    /// The routes in the order of the file.
    package let routes: [Route]
    private let index: HostIndex
    /// True if a route looks at paths: only then are dot segments resolved.
    private let hasPaths: Bool
    /// The paths of the routes, for hosts that more of them are for than may be tried one by one; nil if there are not so many.
    private let paths: CoverTable?
    /// The names of all fields by which routes are chosen.
    private let headerNames: FieldNames
    /// True if a route is for named clients.
    let nameClients: Bool

    /// - Parameter contracts: one for each of `configurations`, in the same order.
    init(_ configurations: [RouteConfiguration], contracts: [RouteContracts], ownNames: OwnNames) {
        var index = HostIndex()
        self.routes = zip(configurations, contracts).enumerated().map {
            Route($1.0, index: $0, contracts: $1.1, ownNames: ownNames)
        }
        for route in self.routes {
            let hosts = route.configuration.match.hosts
            if hosts.isEmpty { index.insertEverywhere(number: route.index) }
            for host in hosts { index.insert(host, number: route.index) }
        }
        self.index = index
        self.hasPaths = configurations.contains { !$0.match.paths.isEmpty }
        self.paths = self.hasPaths && configurations.count > Self.mostTried ? Self.paths(of: configurations) : nil
        self.nameClients = configurations.contains { $0.match.clients != nil }
        self.headerNames = FieldNames(configurations.lazy.flatMap { $0.match.headers.map(\.name) })
    }

    /// The most routes of a host that are tried before their paths are looked up.
    private static let mostTried = 64

    private static func paths(of configurations: [RouteConfiguration]) -> CoverTable {
        var paths = CoverTable()
        for (number, route) in configurations.enumerated() { paths.insert(route.match.paths, rule: number) }
        return paths
    }

    /// The fields of a request by which routes are chosen; empty, at no cost, if no route looks at any.
    package func fields(of head: RequestHead) -> Fields {
        self.headerNames.isEmpty ? Fields() : head.fields.lines(called: self.headerNames)
    }

    /// The reasons why the first routes do not match a request, in parentheses, to follow a sentence that says that none does;
    /// empty without routes.
    func reasonsAgainst(_ query: RouteQuery) -> String {
        let reasons = self.routes.prefix(3).map { "\($0.description): \($0.mismatch(query) ?? "does not match")" }
        guard !reasons.isEmpty else { return "" }
        let rest = self.routes.count > reasons.count ? "; and \(self.routes.count - reasons.count) more" : ""
        return " (\(reasons.joined(separator: "; "))\(rest))"
    }

    /// The first route that matches; nil if none does.
    ///
    /// Paths are compared as the origin will read them: with dot segments resolved and percent-encoded characters decoded. If
    /// servers read a path differently (``PathReadings``), each reading is matched. A route that one of them leads to applies
    /// to the request, even if others lead to none.
    ///
    /// - Throws: the reason if readings lead to different routes, as some server would bypass any choice; if the route has an
    ///   upstream and is not the route of the path that is sent there; and errors of ``PathReadings``. Never throws if no
    ///   route for such a request looks at paths.
    package func first(matching query: RouteQuery) throws(Malformed) -> Route? {
        var examined = 0
        return try self.first(matching: query, examined: &examined)
    }

    /// Like `first(matching:)`; adds to `examined` the number of routes that were compared beyond their hosts.
    package func first(matching query: RouteQuery, examined: inout Int) throws(Malformed) -> Route? {
        guard !self.routes.isEmpty else { return nil }
        guard self.hasPaths, !PathReadings.isPlain(query.path) else {
            let path = self.hasPaths ? RequestPath.resolvingDotSegments(query.path) ?? query.path : query.path
            return self.first(query, &examined, at: Array(path.utf8))
        }
        guard self.first(query, &examined, where: \.hasPaths) != nil else {
            return self.first(query, &examined) { _ in true }
        }
        let readings = try PathReadings(query.path).all
        var found: Route?
        for reading in readings {
            guard let route = self.first(query, &examined, at: reading) else { continue }
            guard found == nil || found === route else {
                throw Malformed(
                    "servers read the path differently, and it is one of \(found?.description ?? "") or of "
                        + "\(route.description)")
            }
            found = route
        }
        if let found, found.configuration.upstream != nil, !found.acceptsPath(readings[0]) {
            throw Malformed(
                "only some servers read the path as one of \(found.description), which sends it to an upstream")
        }
        return found
    }

    /// The route that decides about a CONNECT; nil if there is none. It is the first with such a host that denies tunnels, has
    /// a mode for them, or is for every request to the host.
    ///
    /// A tunnel to port 443 is for https; another may carry either scheme, since some clients open tunnels for http, too.
    ///
    /// Requests inside have the client of the CONNECT; so a route for other clients has no part in it.
    ///
    /// - Parameters:
    ///   - fields: those of the CONNECT itself.
    ///   - client: the client of the CONNECT.
    func firstDecidingTunnels(to authority: Authority, _ fields: Fields, of client: ProxyIdentity) -> Route? {
        let found = self.index.first(authority) { number in
            let route = self.routes[number]
            let isForScheme = authority.port == Scheme.https.defaultPort ? route.acceptsHTTPS : true
            guard isForScheme, route.configuration.match.clients.includes(client) else { return false }
            return route.configuration.decidesTunnels(withFields: route.acceptsHeaders(fields))
        }
        return found.map { self.routes[$0] }
    }

    /// The first route for this request with this path, in one reading.
    private func first(_ query: RouteQuery, _ examined: inout Int, at path: [UInt8]) -> Route? {
        if let paths {
            let count = self.index.patternCount(for: query.authority)
            let candidates = count > Self.mostTried ? paths.candidates(ofPath: path) : nil
            if let candidates, candidates.count < count {
                let found = candidates.first { number in
                    examined += 1
                    let route = self.routes[number]
                    return route.isFor(query.authority) && route.acceptsAllButPath(query) && route.acceptsPath(path)
                }
                return found.map { self.routes[$0] }
            }
        }
        return self.first(query, &examined) { $0.acceptsPath(path) }
    }

    /// The first route for this request that `acceptsPath` takes.
    private func first(
        _ query: RouteQuery, _ examined: inout Int, where acceptsPath: (Route) -> Bool
    ) -> Route? {
        let found = self.index.first(query.authority) { number in
            examined += 1
            return self.routes[number].acceptsAllButPath(query) && acceptsPath(self.routes[number])
        }
        return found.map { self.routes[$0] }
    }
}
