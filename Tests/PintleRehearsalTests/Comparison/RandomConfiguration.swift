// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting

/// A random configuration as lines of YAML, from few words, so that rules overlap often.
struct RandomConfiguration {
    var sections: [String] = []
    var deny: [String]
    var allow: [String]
    var trust: [(name: String, hosts: [String])]
    var routes: [String]

    static let hosts = [
        "a.example", "b.example", "c.a.example", "*.example", "*.a.example", "*", "10.0.0.0/8", "10.1.0.0/16",
        "10.1.2.3", "a.example:8080", "*.example:80", "*:443", "2001:db8::/32", "b.example:443",
    ]
    /// Entries of lists of destinations: some are for clients with a tag.
    static let destinations =
        Self.hosts.map { "\"\($0)\"" } + [
            "{host: a.example, tags: [ci]}", "{host: \"*.example\", tags: [\"c*\"]}",
            "{host: \"*\", tags: [ci, suite]}",
            "{host: 10.0.0.0/8, tags: [ci]}", "{host: 10.1.0.0/16, tags: [\"*\"]}",
        ]
    /// Entries of `allow` for protocols that Pintle cannot read.
    static let opaque = [
        "\"tcp://a.example:8080\"", "\"tcp://*.example:25\"", "\"tcp://10.0.0.0/8:443\"",
        "{host: \"tcp://b.example:443\", tags: [ci]}",
    ]
    static let paths = ["/", "/a", "/a/**", "/a/*", "/**", "/a/b*", "*", "/b/*/c", "/**/c"]
    static let keys = [
        "request: {headers: {set: {X-A: one}}}", "request: {headers: {set: {X-A: two}}}",
        "request: {headers: {default: {X-B: one}}}", "request: {headers: {remove: [X-B]}}", "request: {timeout: 5s}",
        "response: {status: [200]}", "response: {headers: {remove: [Server]}}", "upstream: \"https://u.example/v1/\"",
        "upstream: \"http://u.example/\", strip_prefix: /a", "trust: one", "connect: tunnel", "connect: deny",
        "connect: verify", "redirects: follow", "cache: {policy: protocol}",
        "request: {serialize: json, parameters: {p: 1}}",
        "request: {authorization: {bearer: x}}, allow_cleartext_credentials: true",
        "request: {forwarded: x_forwarded}", "respond: {status: 204}", "respond: {status: 404}, cors: {origins: \"*\"}",
        "upstream: \"http://u.example/\", rewrite_upstream: off",
    ]
    static let matches = [
        "methods: [GET]", "methods: [POST, PUT]", "schemes: [https]", "schemes: [http]", "headers: {X-Env: \"s*\"}",
        "tags: [ci]", "tags: [\"s*\", ci]", "headers: {X-Env: \"stage\"}", "headers: {X-Env: \"*e\", X-Two: \"*\"}",
    ]
    static let settings = [
        "destinations.default: deny", "destinations.private_addresses: deny", "destinations.ports: [80, 8080]",
        "destinations.connect_ports: [443]", "destinations.resolve: off", "destinations.enforcement: report",
    ]
    static let tops = [
        "enforcement: report", "unpinned_hosts: report", "unpinned_hosts: deny", "tunnels: {verify: [\"*.example\"]}",
        "tunnels: {verify: [a.example]}", "interception: {hosts: [\"*.a.example\"]}",
        "upstream_proxy: {url: \"http://p.example:3128\", no_proxy: [\"*.a.example\", \"10.0.0.0/8\"]}",
        "upstream_proxy: {url: \"http://q.example:3128\"}", "via: other", "clients: {allow: [10.0.0.0/8]}",
        "listen: \"0.0.0.0:3128\"", "limits: {tunnels: 7}", "isolate: {other_tcp: allow}",
    ]

    init(using random: inout SeededGenerator) {
        func some(_ words: [String], _ most: Int) -> [String] {
            Array(words.shuffled(using: &random).prefix(Int.random(in: 0...most, using: &random)))
        }
        self.deny = some(Self.destinations, 3)
        self.allow = some(Self.destinations + Self.opaque, 3)
        self.sections = some(Self.settings, 2) + some(Self.tops, 1)
        self.trust = [("one", some(Self.hosts, 2)), ("two", some(Self.hosts, 1))].filter {
            Set($0.hosts).count == $0.hosts.count
        }
        self.routes = []
        for index in 0..<Int.random(in: 0...4, using: &random) { self.routes.append(Self.route(index, &random)) }
    }

    static func route(_ index: Int, _ random: inout SeededGenerator) -> String {
        func some(_ words: [String], _ most: Int) -> [String] {
            Array(words.shuffled(using: &random).prefix(Int.random(in: 0...most, using: &random)))
        }
        var match = some(Self.matches, 1)
        let hosts = some(Self.hosts, 2)
        let paths = some(Self.paths, 2)
        if !hosts.isEmpty { match.append("hosts: [\(hosts.map { "\"\($0)\"" }.joined(separator: ", "))]") }
        if !paths.isEmpty { match.append("paths: [\(paths.map { "\"\($0)\"" }.joined(separator: ", "))]") }
        let keys = some(Self.keys, 1)
        return "{name: r\(index), match: {\(match.joined(separator: ", "))}\(keys.map { ", \($0)" }.joined())}"
    }

    /// Changes one thing, or the order of two.
    mutating func mutate(using random: inout SeededGenerator) {
        func change(_ list: inout [String], _ new: (inout SeededGenerator) -> String) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !list.isEmpty: list.remove(at: Int.random(in: 0..<list.count, using: &random))
            case 1 where list.count > 1: list.swapAt(0, Int.random(in: 1..<list.count, using: &random))
            case 2 where !list.isEmpty: list[Int.random(in: 0..<list.count, using: &random)] = new(&random)
            default: list.insert(new(&random), at: Int.random(in: 0...list.count, using: &random))
            }
        }
        func word(_ words: [String], _ random: inout SeededGenerator) -> String {
            words[Int.random(in: 0..<words.count, using: &random)]
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: change(&self.deny) { word(Self.destinations, &$0) }
        case 1: change(&self.allow) { word(Self.destinations + Self.opaque, &$0) }
        case 2: change(&self.sections) { word(Self.settings + Self.tops, &$0) }
        case 3: self.trust.swapAt(0, self.trust.count - 1)
        default:
            let number = Int.random(in: 0..<20, using: &random) + 10
            change(&self.routes) { Self.route(number, &$0) }
        }
    }

    var yaml: String {
        var lines = ["version: 1"]
        var destinations: [String] = []
        var seen: Set<String> = []
        for section in self.sections {
            let key = String(section.prefix { $0 != ":" })
            guard seen.insert(key).inserted else { continue }
            if key.hasPrefix("destinations.") {
                destinations.append("  " + section.dropFirst("destinations.".count))
            } else {
                lines.append(section)
            }
        }
        destinations.append("  deny: [\(self.deny.joined(separator: ", "))]")
        destinations.append("  allow: [\(self.allow.joined(separator: ", "))]")
        lines += ["destinations:"] + destinations + ["trust:"]
        var claimed: Set<String> = []
        for policy in self.trust {
            let hosts = policy.hosts.filter { claimed.insert($0).inserted }
            let list = hosts.map { "\"\($0)\"" }.joined(separator: ", ")
            let version = policy.name == "one" ? 2 : 3
            lines.append("  \(policy.name): {min_tls: \"1.\(version)\"\(hosts.isEmpty ? "" : ", hosts: [\(list)]")}")
        }
        lines.append("routes:\(self.routes.isEmpty ? " []" : "")")
        var names: Set<String> = []
        for route in self.routes where names.insert(String(route.prefix { $0 != "," })).inserted {
            lines.append("  - \(route)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A request that rules of these words tell from others.
    static func request(
        using random: inout SeededGenerator
    ) -> (head: RequestHead, client: ProxyIdentity, address: IPAddress) {
        func one<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: 0..<elements.count, using: &random)]
        }
        let host = one([
            "a.example", "b.example", "c.a.example", "d.c.a.example", "example", "x.example", "other.test", "10.1.2.3",
            "10.1.9.9",
            "10.200.0.1", "11.0.0.1", "[2001:db8::7]", "[2001:db9::1]", "127.0.0.1", "localhost", "u.example",
            "[64:ff9b::a01:203]",
        ])
        let port = one([80, 443, 8080, 25, 8443] as [UInt16])
        let authority = Authority(host, defaultPort: port)
        guard let authority else { preconditionFailure("BUG: \(host) is no host") }
        let path = one([
            "/", "/a", "/a/", "/a/b", "/a/bcd", "/a/b/c", "/b/x/c", "/x/y/c", "/b", "/a?q=1", "/a;x/b", "//a", "/a%2Fb",
            "/%00", "/a/../b",
            "/%61/b",
        ])
        var fields = Fields()
        for (name, value) in [
            ("X-Env", one(["stage", "s", "prode", "x"])), ("X-Two", "2"), ("X-B", "theirs"),
            ("X-Env", one(["s", "e"])),
        ]
        where Bool.random(using: &random) { fields.append(name, value) }
        let addresses: [IPAddress?] = [
            "10.1.2.3", "10.9.9.9", "8.8.8.8", "192.168.1.1", "2001:db8::1", "64:ff9b::a01:203",
        ].map { IPAddress($0) }
        let address = one(addresses) ?? IPAddress(v4: 1)
        let target: RequestTarget =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .authority(authority)
            case 1: .origin(path: path)
            default: .absolute(scheme: one([.http, .https]), authority: authority, path: path)
            }
        var method = one(["GET", "POST", "PUT", "HEAD", "BREW"])
        if case .authority = target { method = "CONNECT" }
        if case .origin = target { fields.append("Host", authority.description) }
        let client = ProxyIdentity(tag: one([nil, nil, "ci", "cx", "suite", "other"]))
        return (RequestHead(method: method, target: target, fields: fields), client, address)
    }
}
