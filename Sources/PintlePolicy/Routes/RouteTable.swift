// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The routes, compiled for look-up by host. The first route that matches wins.
package struct RouteTable: Sendable {
    /// In the order of the file.
    package let routes: [Route]
    private let index: HostIndex
    /// Whether a route looks at paths: only then are dot segments resolved.
    private let hasPaths: Bool

    /// - Parameter contracts: one for each of `configurations`, in the same order.
    init(_ configurations: [RouteConfiguration], contracts: [RouteContracts]) {
        var index = HostIndex()
        self.routes = zip(configurations, contracts).enumerated().map { Route($1.0, index: $0, contracts: $1.1) }
        for route in self.routes {
            let hosts = route.configuration.match.hosts
            if hosts.isEmpty { index.insertEverywhere(number: route.index) }
            for host in hosts { index.insert(host, number: route.index) }
        }
        self.index = index
        self.hasPaths = configurations.contains { !$0.match.paths.isEmpty }
    }

    /// The first route that matches, or nil.
    ///
    /// Paths are compared with dot segments resolved and unreserved characters decoded, as the origin will read them.
    package func first(matching query: RouteQuery) -> Route? {
        var examined = 0
        return self.first(matching: query, examined: &examined)
    }

    /// As `first(matching:)`; adds to `examined` the number of routes that were looked at beyond their hosts.
    package func first(matching query: RouteQuery, examined: inout Int) -> Route? {
        guard !self.routes.isEmpty else { return nil }
        let path = self.hasPaths ? RequestPath.resolvingDotSegments(query.path) ?? query.path : query.path
        let found = self.index.first(query.authority) { number in
            examined += 1
            return self.routes[number].accepts(query, path: path)
        }
        return found.map { self.routes[$0] }
    }
}
