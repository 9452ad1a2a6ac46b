// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The routes that match nothing, since an earlier one matches everything that they do.
///
/// Routes that match nothing are compared with no later one: the route that covers such a one also covers all that it would cover.
/// A route is compared with those that may cover the rarest of its conditions.
struct RouteCovers {
    /// For each route the place of the first before it that covers it; nil if none does.
    private(set) var earlier: [Int?] = []
    /// The number of pairs of routes that were compared.
    private(set) var compared = 0

    private let routes: [RouteConfiguration]
    private var hosts = CoverTable()
    private var paths = CoverTable()
    private var headers = CoverTable()
    private var clients = ClientCovers()

    init(_ routes: [RouteConfiguration]) {
        self.routes = routes
        for (number, route) in routes.enumerated() {
            let found = self.first(covering: route)
            self.earlier.append(found)
            if found == nil { self.insert(route.match, number) }
        }
    }

    private mutating func insert(_ match: RouteMatch, _ number: Int) {
        self.hosts.insert(match.hosts, rule: number)
        self.paths.insert(match.paths, rule: number)
        // All fields are demanded, so it is found by any of them: by the one that the fewest others are found by.
        let forms = match.headers.map(\.namedForm)
        let rarest = forms.min {
            self.headers.candidates($0.coverKeys).count < self.headers.candidates($1.coverKeys).count
        }
        self.headers.insert([rarest].compactMap(\.self), rule: number)
        self.clients.insert(match.clients, rule: number)
    }

    private mutating func first(covering later: RouteConfiguration) -> Int? {
        let match = later.match
        let hosts = match.hosts.map { self.hosts.keys(covering: $0) }
        var candidates = [
            self.hosts.candidates(coveringAll: hosts),
            self.paths.candidates(coveringAll: match.paths.map { self.paths.keys(covering: $0) }),
            self.headers.candidates(match.headers.flatMap { self.headers.keys(covering: $0.namedForm) }),
        ]
        candidates += self.clients.candidates(covering: match.clients)
        var compared = 0
        let found = candidates.min { $0.count < $1.count }?.first { number in
            compared += 1
            let earlier = self.routes[number]
            return earlier.coversAllButHosts(of: later) && self.coversHosts(number, hosts)
        }
        self.compared += compared
        return found
    }

    /// True if each host that a route is for is one of an earlier one.
    ///
    /// - Parameter hosts: the keys for each pattern of the later one.
    private func coversHosts(_ number: Int, _ hosts: [[CoverKey]]) -> Bool {
        if self.routes[number].match.hosts.isEmpty { return true }
        return !hosts.isEmpty && hosts.allSatisfy { self.hosts.has($0, rule: number) }
    }
}

extension RouteConfiguration {
    /// True if every request that `later` matches is matched here, too, as far as that is obvious, if hosts are disregarded.
    fileprivate func coversAllButHosts(of later: RouteConfiguration) -> Bool {
        // A route without upstream and response never matches gateway requests.
        guard self.servesGateway || !later.servesGateway else { return false }
        return Self.covers(self.match.paths, later.match.paths) { $0.covers($1) }
            && Self.covers(self.match.methods, later.match.methods) { $0 == $1 }
            && self.match.headers.allSatisfy { header in later.match.headers.contains { header.covers($0) } }
            && Self.covers(self.match.schemes, later.match.schemes, all: [.http, .https]) { $0 == $1 }
            && self.match.clients.covers(later.match.clients)
    }

    /// True if each of `later` is covered by one of `earlier`; empty lists stand for everything.
    private static func covers<Element>(
        _ earlier: [Element], _ later: [Element], all: [Element] = [], by covers: (Element, Element) -> Bool
    ) -> Bool {
        if earlier.isEmpty { return true }
        let later = later.isEmpty ? all : later
        return !later.isEmpty && later.allSatisfy { element in earlier.contains { covers($0, element) } }
    }
}
