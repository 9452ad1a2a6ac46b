// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Reads `routes` and refuses routes that contradict themselves or the rest of the file.
struct RouteReader {
    /// Reads the routes, in the order of the files.
    ///
    /// - Parameters:
    ///   - lists: the `routes` of the main file and of the included files.
    ///   - hasContract: true if there is a contract for the whole configuration.
    static func read(
        _ lists: [StrictNode], trust: [TrustConfiguration], hasContract: Bool
    ) -> [RouteConfiguration] {
        let nodes = lists.flatMap { $0.isNull ? [] : $0.list() ?? [] }
        var routes: [RouteConfiguration] = []
        let trust = TrustNames(trust.map(\.name))
        var firstUses: [String: SourcePosition] = [:]
        for node in nodes {
            guard let map = node.map(.route) else { continue }
            let route = Self.readRoute(map, trust: trust, hasContract: hasContract)
            if !route.name.isEmpty, let first = firstUses[route.name] {
                (map["name"] ?? node).report("\"\(route.name)\" is the name of the route at \(first.words) too")
            }
            firstUses[route.name] = firstUses[route.name] ?? route.position
            routes.append(route)
        }
        return routes
    }

    private static func readRoute(
        _ map: StrictMap, trust: TrustNames, hasContract: Bool
    ) -> RouteConfiguration {
        var route = RouteConfiguration(name: "", position: map.node.position)
        if map["name"] == nil {
            map.node.report("the key \"name\" is missing; logs and metrics call the route by it")
        }
        map.read("name", into: &route.name) { node in
            node.parsed { text throws(Malformed) in
                guard !text.isEmpty, text.utf8.count <= 64, text.utf8.allSatisfy(TrustReader.isNameByte) else {
                    throw Malformed("a name has 1 to 64 letters, digits and -._")
                }
                return text
            }
        }
        if let match = map["match"]?.map(.match) { route.match = Self.readMatch(match) }
        map.read("upstream", into: &route.upstream) { node in
            node.parsed { text throws(Malformed) in try Upstream(text) }
        }
        map.read("strip_prefix", into: &route.stripPrefix, Self.readStripPrefix)
        if let node = map["strip_prefix"], map["upstream"] == nil {
            node.report("needs an upstream: without one requests go where they were aimed, path and all")
        }
        GatewayReader.read(map, into: &route)
        map.read("trust", into: &route.trust) { Self.readTrustName($0, trust) }
        if let node = map["trust"], route.upstream?.scheme == .http {
            node.report("holds for https, and the upstream is http: nothing would be verified; use an https upstream")
        }
        map.read("connect", into: &route.connect, Self.readConnect)
        map.read("allow_cleartext_credentials", into: &route.allowCleartextCredentials) { $0.bool() }
        map.read("redirects", into: &route.redirects) { $0.choice() }
        map.read("cache", into: &route.cache, CacheReader.policy)
        map.read("coalesce", into: &route.coalescing, CacheReader.coalescing)
        map.read("contract", into: &route.contract) { ContractReader.read($0, .routeContract).map { .some($0) } }
        if let request = map["request"]?.map(.request) {
            route.request = RequestRulesReader.read(request)
            Self.checkCredentials(route, request)
        }
        if let response = map["response"]?.map(.response) {
            route.response = ResponseRulesReader.read(response, hasContract: hasContract || map["contract"] != nil)
            GatewayReader.check(response, of: route)
        }
        Self.checkCookies(route, map)
        route.simulation = SimulationReader.rules(map, hasContract: hasContract || map["contract"] != nil)
        for key in ["cache", "coalesce"] where route.cache != .off || route.coalescing != nil {
            guard let first = route.simulation.keys.first else { continue }
            map[key]?.report(
                "has no effect beside \(first), whose answers are made anew for each request; leave it out")
        }
        return route
    }

    private static func readConnect(_ node: StrictNode) -> ConnectMode?? {
        node.parsed { text throws(Malformed) in
            guard let mode = ConnectMode(rawValue: text) else {
                throw Malformed("must be tunnel, verify, intercept or deny")
            }
            return mode
        }
    }

    private static func readMatch(_ map: StrictMap) -> RouteMatch {
        var match = RouteMatch()
        map.read("hosts", into: &match.hosts) { node in
            node.values { $0.parsed { text throws(Malformed) in try HostPattern(text) } }
        }
        map.read("methods", into: &match.methods) { $0.values(Self.readMethod) }
        map.read("paths", into: &match.paths) { node in
            node.values { $0.parsed { text throws(Malformed) in try PathPattern(text) } }
        }
        map.read("schemes", into: &match.schemes) { node in
            node.values { node in
                node.parsed { text throws(Malformed) in
                    guard let scheme = Scheme(rawValue: text) else { throw Malformed("must be http or https") }
                    return scheme
                }
            }
        }
        map.read("headers", into: &match.headers, Self.readHeaders)
        match.clients = NamedClients(map)
        return match
    }

    static func readHeaders(_ node: StrictNode) -> [HeaderPattern]? {
        guard let entries = node.entries() else { return nil }
        if entries.isEmpty, !node.isNull { node.report("names no field; leave the key out or name one") }
        var patterns: [HeaderPattern] = []
        var names: Set<String> = []
        for entry in entries {
            let pattern = entry.value.parsed { text throws(Malformed) in
                try HeaderPattern(entry.key, text, spelled: entry.value.spelling)
            }
            guard let pattern else { continue }
            if !names.insert(pattern.name.lowercased()).inserted {
                node.context.report(
                    "the field is named twice; field names have no letter case", path: entry.value.path,
                    at: entry.position)
            }
            patterns.append(pattern)
        }
        return patterns
    }

    /// Reads a method: a token, compared case-sensitively.
    static func readMethod(_ node: StrictNode) -> String? {
        node.parsed { text throws(Malformed) in
            guard FieldSyntax.isName(text) else { throw Malformed("not a method name, as in GET") }
            // `get` is a valid token, but matches no request that clients send.
            let standard = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
            if !standard.contains(text), standard.contains(text.uppercased()) {
                throw Malformed("method names have letter case; did you mean \(text.uppercased())?")
            }
            return text
        }
    }

    private static func readStripPrefix(_ node: StrictNode) -> String?? {
        node.parsed { text throws(Malformed) in
            guard text.hasPrefix("/") else { throw Malformed("must begin with /") }
            guard !text.contains("?"), !text.contains("#"), !RequestPath.hasDotSegments(text) else {
                throw Malformed("is a path: without a query, a fragment, and . or .. segments")
            }
            let prefix = text.hasSuffix("/") ? String(text.dropLast()) : text
            guard !prefix.isEmpty else { throw Malformed("strips nothing; leave the key out") }
            return prefix
        }
    }

    private static func readTrustName(_ node: StrictNode, _ trust: TrustNames) -> Located<String>?? {
        guard let text = node.string() else { return nil }
        guard trust.known.contains(text) else {
            node.report(trust.refusal(of: text, node))
            return nil
        }
        return Located(text, at: node.position)
    }

    /// The names of trust policies, among which each of many routes looks for one.
    private struct TrustNames {
        let all: [String]
        let known: Set<String>

        init(_ names: [String]) { (self.all, self.known) = (names, Set(names)) }

        func refusal(of name: String, _ node: StrictNode) -> String {
            let hint = name.nearest(of: self.all).map { "; did you mean \"\($0)\"?" } ?? "; define it under trust"
            return "\(node.quoted): there is no such trust policy\(hint)"
        }
    }

    /// Refuses injected cookies if the route neither takes cookies from clients nor gives them any.
    private static func checkCookies(_ route: RouteConfiguration, _ map: StrictMap) {
        let cookies = route.request.cookies
        guard cookies != .pass else { return }
        let (sent, received) = (route.request.headers, route.response.headers)
        let places = [
            ("request", FieldName.cookie, sent.defaults + sent.set + sent.add),
            ("response", .setCookie, received.set + received.add),
        ]
        for (key, name, lines) in places {
            for line in lines where FieldName(line.name) == name {
                map.node.context.report(
                    "a route with request.cookies: \(cookies.rawValue) has no cookies of its own; leave one of them out",
                    path: "\(map.node.path).\(key).headers", at: line.position)
            }
        }
    }

    /// Refuses credentials that would go upstream in plaintext: they would not stay secret.
    private static func checkCredentials(_ route: RouteConfiguration, _ request: StrictMap) {
        guard !route.allowCleartextCredentials else { return }
        let remedy = "or say allow_cleartext_credentials: true"
        let reason: String
        if let upstream = route.upstream {
            guard upstream.scheme == .http else { return }
            reason = "a credential would go to an http upstream in clear text; use https, \(remedy)"
        } else {
            guard route.match.schemes != [.https] else { return }
            reason =
                "a credential would go upstream in clear text with http requests; match schemes: [https] only, "
                + "give an https upstream, \(remedy)"
        }
        if let authorization = route.request.authorization {
            request.node.context.report(
                reason, path: "\(request.node.path).authorization", at: authorization.position)
        }
        let headers = route.request.headers
        for (list, lines) in [("default", headers.defaults), ("set", headers.set), ("add", headers.add)] {
            for line in lines where [.authorization, .cookie].contains(FieldName(line.name)) {
                request.node.context.report(
                    reason, path: "\(request.node.path).headers.\(list).\(line.name)", at: line.position)
            }
        }
    }
}
