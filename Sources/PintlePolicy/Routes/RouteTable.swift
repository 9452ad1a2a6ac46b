// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The routes, compiled for look-up by host. The first route that matches wins.
package final class RouteTable: Sendable {
    /// In the order of the file.
    package let routes: [Route]
    private let index: HostIndex
    /// Whether a route looks at paths: only then are dot segments resolved.
    private let hasPaths: Bool
    /// The names of all fields that routes look at, in lower case.
    private let headerNames: [String]

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
        self.headerNames = Set(configurations.flatMap { $0.match.headers.map { $0.name.lowercased() } }).sorted()
    }

    /// The fields of a request by which routes are chosen: none, at no cost, where no route looks at any.
    package func fields(of head: RequestHead) -> Fields {
        self.headerNames.isEmpty ? Fields() : head.fields.lines(called: self.headerNames)
    }

    /// Why the first routes are not for a request, in parentheses, behind a sentence that says that none is; empty without
    /// routes.
    func reasonsAgainst(_ query: RouteQuery) -> String {
        let reasons = self.routes.prefix(3).map { "\($0.description): \($0.mismatch(query) ?? "does not match")" }
        guard !reasons.isEmpty else { return "" }
        let rest = self.routes.count > reasons.count ? "; and \(self.routes.count - reasons.count) more" : ""
        return " (\(reasons.joined(separator: "; "))\(rest))"
    }

    /// The first route that matches, or nil.
    ///
    /// Paths are compared with dot segments resolved and percent-encoded characters decoded, as the origin will read them.
    /// Where servers read a path differently (``PathReadings``) each reading is matched: a route that any of them leads to
    /// holds for the request, also where others lead to none.
    ///
    /// - Throws: the reason where readings lead to different routes, so that any choice would be got around by some server;
    ///   where the route has an upstream, and is not the one of the path as it is sent there; and what ``PathReadings`` throws.
    ///   Never where no route for such a request looks at paths.
    package func first(matching query: RouteQuery) throws(Malformed) -> Route? {
        var examined = 0
        return try self.first(matching: query, examined: &examined)
    }

    /// As `first(matching:)`; adds to `examined` the number of routes that were looked at beyond their hosts.
    package func first(matching query: RouteQuery, examined: inout Int) throws(Malformed) -> Route? {
        guard !self.routes.isEmpty else { return nil }
        guard self.hasPaths, !PathReadings.isPlain(query.path) else {
            let path = self.hasPaths ? RequestPath.resolvingDotSegments(query.path) ?? query.path : query.path
            return self.first(query, &examined) { $0.acceptsPath(Array(path.utf8)) }
        }
        guard self.first(query, &examined, where: \.hasPaths) != nil else {
            return self.first(query, &examined) { _ in true }
        }
        let readings = try PathReadings(query.path).all
        var found: Route?
        for reading in readings {
            guard let route = self.first(query, &examined, where: { $0.acceptsPath(reading) }) else { continue }
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

    /// The route that says what becomes of a CONNECT, or nil: the first with such a host that denies tunnels, has a mode for
    /// them, or is for every request to the host.
    ///
    /// A tunnel to port 443 is for https; another may carry either scheme, since some clients ask for tunnels for http, too.
    ///
    /// - Parameter fields: of the CONNECT itself.
    func firstDecidingTunnels(to authority: Authority, _ fields: Fields) -> Route? {
        let found = self.index.first(authority) { number in
            let route = self.routes[number]
            let isForScheme = authority.port == Scheme.https.defaultPort ? route.acceptsHTTPS : true
            return isForScheme && route.configuration.decidesTunnels(withFields: route.acceptsHeaders(fields))
        }
        return found.map { self.routes[$0] }
    }

    /// The first route for this request whose paths are accepted.
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
