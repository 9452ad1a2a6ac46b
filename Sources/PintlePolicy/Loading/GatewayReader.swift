// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Reads the keys of routes that serve a gateway: `respond`, `cors`, `rewrite_upstream` and `request.forwarded`.
enum GatewayReader {
    /// The longest time for which a browser may remember the answer to a preflight; browsers themselves keep to less.
    private static let longestAge: Duration = .seconds(86_400)

    /// The keys of a route that say nothing about a request that is not sent anywhere.
    private static let keysOfUpstreams = [
        "upstream", "strip_prefix", "rewrite_upstream", "trust", "allow_cleartext_credentials", "contract", "request",
        "redirects", "cache", "coalesce", "mock", "faults", "replay",
    ]

    static func read(_ map: StrictMap, into route: inout RouteConfiguration) {
        map.read("rewrite_upstream", into: &route.rewritesUpstream) { $0.bool() }
        if let node = map["rewrite_upstream"], map["upstream"] == nil {
            node.report("needs an upstream, whose addresses are rewritten")
        }
        if let answer = map["respond"]?.map(.respond) {
            route.answer = SimulationReader.answer(answer) ?? FixedAnswer()
            for key in Self.keysOfUpstreams {
                map[key]?.report("has no effect beside respond, which sends nothing upstream; leave one of them out")
            }
        }
        if let cors = map["cors"]?.map(.cors) { route.cors = Self.cors(cors, route.match) }
    }

    /// Refuses rules for responses that say nothing beside `respond`, or that contradict `cors`.
    static func check(_ response: StrictMap, of route: RouteConfiguration) {
        for entry in response.entries where route.answer != nil && entry.key != "headers" {
            entry.value.report("has no effect beside respond, whose response is not judged; leave it out")
        }
        // No permissions are given that headers could contradict.
        guard route.cors != nil else { return }
        let headers = route.response.headers
        for line in headers.set + headers.add {
            guard CORSRules.responseNames.contains(where: { $0.lowercased() == line.name.lowercased() }) else {
                continue
            }
            response.node.context.report(
                "\(line.name) is decided by cors of the route; leave one of them out",
                path: "\(response.node.path).headers", at: line.position)
        }
    }

    // MARK: CORS

    private static func cors(_ map: StrictMap, _ match: RouteMatch) -> CORSRules {
        var rules = CORSRules()
        if !match.methods.isEmpty { rules.methods = match.methods }
        map.read("origins", into: &rules.origins) { node in
            node.values { $0.parsed { text throws(Malformed) in try CORSOrigin(text) } }
        }
        if map["origins"] == nil {
            map.node.report("the key \"origins\" is missing: the origins whose pages may use the route, or \"*\"")
        }
        map.read("methods", into: &rules.methods) { $0.values(RouteReader.readMethod) }
        map.read("headers", into: &rules.headers, Self.names)
        map.read("expose", into: &rules.exposed, Self.names)
        map.read("credentials", into: &rules.allowsCredentials) { $0.bool() }
        map.read("max_age", into: &rules.maxAge) { $0.duration(.zero...Self.longestAge).map { .some($0) } }
        Self.check(rules, map, match)
        return rules
    }

    /// Reads the names of fields, or `*`.
    private static func names(_ node: StrictNode) -> [String]? {
        node.values { node in
            node.parsed { text throws(Malformed) in
                guard text == "*" || FieldSyntax.isName(text) else { throw Malformed("not a field name") }
                return text
            }
        }
    }

    private static func check(_ rules: CORSRules, _ map: StrictMap, _ match: RouteMatch) {
        for (key, members) in [
            ("origins", rules.origins.map(\.description)), ("headers", rules.headers), ("expose", rules.exposed),
        ]
        where members.count > 1 && members.contains("*") {
            map[key]?.report("\"*\" stands for all; leave the others out")
        }
        if rules.allowsCredentials, rules.allowsAnyOrigin {
            map["credentials"]?.report(
                "browsers refuse credentials with origins: \"*\", which would let every site act for its visitors; name the "
                    + "origins")
        }
        if rules.allowsCredentials, rules.exposed.contains("*") {
            map["expose"]?.report("\"*\" stands for nothing in responses to requests with credentials; name the fields")
        }
        let methods = Set(match.methods)
        for method in rules.methods where !methods.isEmpty && !methods.contains(method) {
            map["methods"]?.report("\(method) is none of the route's methods")
        }
    }

    // MARK: Fields about the client

    static func forwarded(_ node: StrictNode) -> ForwardedRules? {
        var rules = ForwardedRules()
        guard node.isMap else {
            guard let form = Self.form(node) else { return nil }
            rules.form = form
            return rules
        }
        guard let map = node.map(.forwarded) else { return nil }
        guard let fields = map["fields"] else {
            node.report("the key \"fields\" is missing: x_forwarded or rfc7239")
            return nil
        }
        guard let form = Self.form(fields) else { return nil }
        rules.form = form
        map.read("trusted_proxies", into: &rules.trustedProxies) { node in
            node.values { $0.parsed { text throws(Malformed) in try CIDR(text) } }
        }
        if let node = map["trusted_proxies"], form == .off {
            node.report("has no effect while fields is off, which lets the fields of every client pass")
        }
        return rules
    }

    /// `off` is a boolean in YAML 1.1.
    private static func form(_ node: StrictNode) -> ForwardedRules.Form? { node.isOff ? .off : node.choice() }
}
