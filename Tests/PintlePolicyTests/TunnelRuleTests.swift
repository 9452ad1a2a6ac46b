// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// The decision on a CONNECT to the hosts of routes (`connect`).
struct TunnelRuleTests {
    private func decide(_ yaml: String, _ target: String = "api.example:443") throws -> Decision {
        let authority = try #require(Authority(target, defaultPort: nil))
        return try policy(yaml).decideTunnel(
            RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/"))
    }

    private static let lost = [
        ("request: {headers: {remove: [Cookie]}}", "request.headers"),
        ("allow_cleartext_credentials: true, request: {authorization: {bearer: t}}", "request.authorization"),
        ("request: {serialize: json, parameters: {a: b}}", "request.parameters, request.serialize"),
        ("request: {throttle: {packet: 1KiB, delay: 1s}}", "request.throttle"),
        ("response: {headers: {set: {A: b}}}", "response.headers"), ("response: {status: [200]}", "response.status"),
        ("response: {content_types: [a/b]}", "response.content_types"),
        ("response: {body: json, remove_nulls: true}", "response.body, response.remove_nulls"),
        ("response: {max_body: 1KiB}", "response.max_body"), ("redirects: follow", "redirects"),
        ("request: {cookies: block}", "request.cookies"), ("mock: [{status: 200}]", "mock"),
        ("faults: [{delay: 1s}]", "faults"), ("replay: {tape: t}", "replay"),
    ]

    @Test(arguments: Self.lost)
    func `LOOK-25 a route with rules that a tunnel cannot keep denies it`(rules: String, keys: String) throws {
        let matches = [
            "hosts: [api.example]", "hosts: [\"*.example\"], methods: [POST], paths: [\"/v1/**\"]", "schemes: [https]",
        ]
        for match in matches {
            let decision = try self.decide("routes: [{name: api, match: {\(match)}, \(rules)}]")
            let rule =
                "routes[0] \"api\", because a tunnel cannot keep its \(keys); connect: intercept keeps them, tunnel or verify "
                + "on the route lets it pass"
            #expect(decision.destination == .denied(by: DecidingRule(rule)))
            #expect(decision.route?.name == "api")
        }
    }

    @Test(arguments: Self.lost)
    func `LOOK-25 a tunnel is there where the route says so`(rules: String, keys: String) throws {
        let tunnel = try self.decide("routes: [{name: api, connect: tunnel, \(rules)}]")
        #expect(tunnel.destination.denial == nil && tunnel.trust == nil)
        let verified = try self.decide("routes: [{name: api, connect: verify, \(rules)}]")
        #expect(verified.destination.denial == nil && verified.trust != nil)
        let listed = try self.decide("tunnels: {verify: [\"*\"]}\nroutes: [{name: api, \(rules)}]")
        #expect(listed.destination.denial != nil)
    }

    @Test(arguments: [
        ("routes: [{name: a, connect: deny}]", "api.example:443", "routes[0] \"a\", connect: deny"),
        ("routes: [{name: a, match: {hosts: [b.example]}, connect: deny}]", "api.example:443", nil),
        ("routes: [{name: a, request: {timeout: 5s}}]", "api.example:443", nil),
        ("routes: [{name: a, upstream: \"https://b.example\"}]", "api.example:443", nil),
        // A route for all of a host's requests leaves nothing to later routes.
        ("routes: [{name: a}, {name: b, response: {body: json}}]", "api.example:443", nil),
        (
            "routes: [{name: a, match: {methods: [GET]}}, {name: b, connect: deny}]", "api.example:443",
            "routes[1] \"b\", connect: deny"
        ),
        (
            "routes: [{name: a, match: {paths: [/x]}, connect: tunnel}, {name: b, connect: deny}]", "api.example:443",
            nil
        ),
        // Only the port tells which scheme a tunnel carries.
        ("routes: [{name: a, match: {schemes: [http]}, connect: deny}]", "api.example:443", nil),
        (
            "routes: [{name: a, match: {schemes: [http]}, connect: deny}]", "api.example:80",
            "routes[0] \"a\", connect: deny"
        ),
        (
            "routes: [{name: a, match: {schemes: [https]}, connect: deny}]", "api.example:8443",
            "routes[0] \"a\", connect: deny"
        ),
        // The first rule that refuses is reported.
        (
            "destinations: {deny: [api.example]}\nroutes: [{name: a, connect: deny}]", "api.example:443",
            "destinations.deny[0] \"api.example\""
        ),
    ])
    func `LOOK-25 the first route for such requests decides`(yaml: String, target: String, denial: String?) throws {
        #expect(try self.decide(yaml, target).destination.denial == denial)
    }

    private static let named = "trust: {pay: {hosts: [api.example, \"*.pay.example:8443\"]}, routed: {}}\n"

    @Test(arguments: [
        ("", "api.example:443", "pay"), ("", "api.example:22", "pay"), ("", "a.pay.example:8443", "pay"),
        ("", "a.pay.example:443", nil), ("", "other.example:443", nil),
        ("tunnels: {verify: off}", "api.example:443", nil), ("tunnels: {verify: []}", "api.example:443", "pay"),
        ("tunnels: {verify: [other.example]}", "api.example:443", "pay"),
        ("tunnels: {verify: [other.example]}", "other.example:443", "system"),
        ("routes: [{name: r, connect: tunnel}]", "api.example:443", nil),
        ("tunnels: {verify: off}\nroutes: [{name: r, connect: verify}]", "api.example:443", "pay"),
        // The route's policy, which holds for requests to the host, holds for its tunnels.
        ("routes: [{name: r, trust: routed}]", "api.example:443", "routed"),
        ("routes: [{name: r, trust: routed}]", "other.example:443", nil),
    ])
    func `LOOK-111 tunnels to hosts that a trust policy names are verified`(
        rules: String, target: String, trust: String?
    ) throws {
        let decision = try self.decide(Self.named + rules, target)
        #expect(decision.destination.denial == nil && decision.trust?.name == trust)
    }

    @Test(arguments: [("", "pay"), ("tunnels: {verify: off}\n", nil)])
    func `LOOK-111 one that is intercepted is verified if it is relayed after all`(rules: String, trust: String?) throws
    {
        let decision = try self.decide("\(Self.named)\(rules)interception: {hosts: [\"*\"]}")
        #expect(decision.isIntercepted && decision.trust == nil && decision.trustIfRelayed?.name == trust)
        let other = try self.decide("\(Self.named)\(rules)interception: {hosts: [\"*\"]}", "other.example:443")
        #expect(other.isIntercepted && other.trustIfRelayed == nil)
    }

    @Test(arguments: [
        ("", "GET", "tunnel       a CONNECT to api.example:443 opens when the destination has proved itself under pay"),
        (
            "tunnels: {verify: off}", "GET",
            "tunnel       a CONNECT to api.example:443 is relayed, and nothing is verified"
        ),
        (
            "routes: [{name: r, trust: routed, connect: tunnel}]", "GET",
            "tunnel       a CONNECT to api.example:443 is relayed, and nothing is verified"
        ),
        (
            "interception: {hosts: [api.example]}", "GET",
            "tunnel       a CONNECT to api.example:443 is intercepted: this request in it is judged as is said here"
        ),
        ("", "CONNECT", "trust        the destination proves itself before the tunnel opens; nothing is decrypted"),
        ("tunnels: {verify: off}", "CONNECT", "trust        a tunnel is relayed; nothing is verified"),
        (
            "interception: {hosts: [api.example]}", "CONNECT",
            "trust        the tunnel is intercepted; the origin of each request inside is verified then"
        ),
    ])
    func `LOOK-111 explain says what a tunnel proves`(rules: String, method: String, line: String) throws {
        let authority = try #require(Authority("api.example:443", defaultPort: nil))
        let target: RequestTarget =
            method == "CONNECT" ? .authority(authority) : .absolute(scheme: .https, authority: authority, path: "/")
        let lines = try Explanation(policy(Self.named + rules), RequestHead(method: method, target: target)).lines
        #expect(lines.map(\.description).contains(line), "\(lines.map(\.description))")
        #expect(lines.filter { $0.topic == "tunnel" }.count == (method == "GET" ? 1 : 0))
    }

    @Test(arguments: [("off", true), ("[]", false), ("[api.example]", false)])
    func `LOOK-111 check warns of pins that tunnels go past`(verify: String, warns: Bool) throws {
        let pins = "pinning: public_key, pins: [\"\(Pins.one)\", \"\(Pins.two)\"]"
        let yaml =
            "trust: {pay: {hosts: [api.example], \(pins)}, bare: {hosts: [b.example]}}\ntunnels: {verify: \(verify)}"
        let warnings = Lint(try policy(yaml)).findings.filter { $0.severity == .warning }.map(\.message)
        let warning = "its pins say nothing about tunnels, by which most clients go to https: tunnels.verify is off"
        #expect(warnings == (warns ? [warning] : []))
    }

    @Test(arguments: [
        ("interception: {hosts: [api.example]}", nil, nil),
        ("interception: {hosts: [api.example]}\ntrust: {pay: {hosts: [api.example]}}", nil, "pay"),
        ("interception: {hosts: [api.example]}\ntunnels: {verify: [\"*\"]}", nil, "system"),
        ("routes: [{name: a, connect: intercept}]", nil, nil),
        ("routes: [{name: a, connect: intercept}]\ntrust: {pay: {hosts: [api.example]}}", nil, "pay"),
        (
            "routes: [{name: a, connect: intercept, response: {body: json}}]",
            "routes[0] \"a\", because a tunnel cannot keep its response.body; connect: intercept keeps them, tunnel or verify on "
                + "the route lets it pass", nil
        ),
        (
            "interception: {hosts: [api.example]}\nroutes: [{name: a, match: {paths: [/x]}, request: {cookies: block}}]",
            "routes[0] \"a\", because a tunnel cannot keep its request.cookies; connect: intercept keeps them, tunnel or verify on "
                + "the route lets it pass", nil
        ),
        ("destinations: {deny: [api.example]}", "destinations.deny[0] \"api.example\"", nil),
    ])
    func `LOOK-78 an opaque tunnel is judged as if nothing asked for interception`(
        yaml: String, denial: String?, trust: String?
    ) throws {
        let authority = try #require(Authority("api.example:443", defaultPort: nil))
        let query = RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/")
        let decision = try policy(yaml).decideTunnel(query, TunnelKind(isOpaque: true))
        #expect(!decision.isIntercepted && decision.destination.denial == denial && decision.trust?.name == trust)
    }

    @Test func `LOOK-25 check and explain say it`() throws {
        let policy = try policy("routes: [{name: api, match: {hosts: [api.example]}, response: {body: json}}]")
        let note = Lint(policy).findings.first?.message
        #expect(
            note?.hasSuffix("; accepts only JSON; denies tunnels, which could not keep its rules") == true,
            "\(note ?? "")")
        let url = try HTTPURL("https://api.example/")
        let head = RequestHead(
            method: "GET", target: .absolute(scheme: url.scheme, authority: url.authority, path: url.path))
        let lines = try Explanation(policy, head).lines.map(\.description)
        #expect(
            lines.contains(
                "tunnel       a CONNECT to api.example:443 is refused: it is denied by routes[0] \"api\", because a tunnel "
                    + "cannot keep its response.body; connect: intercept keeps them, tunnel or verify on the route lets "
                    + "it pass"), "\(lines)")
    }
}

/// Hosts and ports of destinations that other spellings would reach.
struct DestinationSpellingTests {
    private static let parent = "upstream_proxy: {url: \"http://parent.example:3128\", no_proxy: [127.0.0.1]}\n"

    @Test(arguments: ["0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.16689662", "[::ffff:a9fe:a9fe]"])
    func `LOOK-17 a denied address has no other spelling, by a parent neither`(host: String) throws {
        for rules in ["destinations: {deny: [\"169.254.0.0/16\"]}", "destinations: {private_addresses: deny}"] {
            for prefix in ["", Self.parent] {
                let decision = try policy(prefix + rules).decide(try query("GET", "http://\(host)/"))
                #expect(decision.destination.denial != nil, "\(host) \(rules)")
            }
        }
    }

    @Test(arguments: ["127.0.0.1", "127.1", "0x7f000001", "127.0.0.1.", "[::ffff:127.0.0.1]"])
    func `LOOK-17 no_proxy knows an address in every spelling`(host: String) throws {
        let decision = try policy(Self.parent).decide(try query("GET", "http://\(host)/"))
        guard case .direct = decision.way else {
            Issue.record("\(host) goes \(decision.way)")
            return
        }
    }

    @Test(arguments: ["127.1", "0x7f.1", "2130706433", "1.2.3.4.5", "a.1"])
    func `LOOK-17 a rule spells an address in one way`(text: String) {
        #expect(throws: Malformed("neither an IPv4 address, as in 10.0.0.1, nor a host name")) { try HostPattern(text) }
    }

    @Test(arguments: ["[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[::169.254.169.254]"])
    func `LOOK-17 a denied address is denied behind a translator`(host: String) throws {
        let decision = try policy("destinations: {deny: [\"169.254.0.0/16\"]}").decide(
            try query("GET", "http://\(host)/"))
        #expect(decision.destination.denial == "destinations.deny[0] \"169.254.0.0/16\"")
    }

    @Test(arguments: [
        ("api.example", false, false), ("api.example", true, true), ("db", false, false), ("10.0.0.1", false, true),
    ])
    func `LOOK-113 a handshake without a name passes where it leads nowhere else`(
        host: String, isIntercepted: Bool, passes: Bool
    ) throws {
        let policy = try policy("destinations: {default: deny, allow: [api.example, db, \"10.0.0.0/8\"]}")
        let authority = try #require(Authority("\(host):443", defaultPort: nil))
        let refusal = policy.refusal(
            ofServerName: nil, inTunnelTo: authority, of: ProxyIdentity(), isIntercepted: isIntercepted)
        #expect((refusal == nil) == passes, "\(refusal ?? "")")
        #expect(refusal?.contains("or write require_sni_match: {allow_absent: [\"\(authority)\"]}") ?? true)
        let other = policy.refusal(
            ofServerName: "other.example", inTunnelTo: authority, of: ProxyIdentity(), isIntercepted: isIntercepted)
        #expect((other == nil) == (host == "10.0.0.1"))
    }

    @Test(arguments: [
        ("db:443", nil, true), ("DB:443", nil, true), ("db:8443", nil, false), ("api.example:443", nil, false),
        ("a.corp.example:8443", nil, true), ("db:443", "other.example", false), ("db:443", "db", true),
    ])
    func `LOOK-113 a handshake may lack a name for the hosts that are listed, and no others`(
        target: String, name: String?, passes: Bool
    ) throws {
        let policy = try policy(
            "destinations: {default: deny, allow: [\"*\"], require_sni_match: {allow_absent: [\"db:443\", \"*.corp.example\"]}}"
        )
        let authority = try #require(Authority(target, defaultPort: nil))
        #expect((policy.refusal(ofServerName: name, inTunnelTo: authority, of: ProxyIdentity()) == nil) == passes)
        let told = try Explanation(policy, RequestHead(method: "CONNECT", target: .authority(authority))).lines
        let mayLackName = policy.refusal(ofServerName: nil, inTunnelTo: authority, of: ProxyIdentity()) == nil
        #expect(
            told.map(\.description).contains(
                "server name  a ClientHello in the tunnel must name \(authority.host)\(mayLackName ? " or nothing" : ""), by "
                    + "destinations.require_sni_match"), "\(told)")
    }

    @Test(arguments: [
        ("{allow_absent: [10.0.0.0/8]}", "\"10.0.0.0/8\" is a network; a tunnel to an address needs no name"),
        ("{allow: [db]}", "unknown key \"allow\""),
        ("[db]", "must be true, false or {allow_absent: [PATTERN, …]}, not a list"),
    ])
    func `LOOK-113 what cannot be meant is refused`(value: String, reason: String) {
        let error = #expect(throws: ConfigurationError.self) {
            _ = try policy("destinations: {default: deny, require_sni_match: \(value)}")
        }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [("0x7f.1", true), ("127.1", true), ("127.0.0.2", false), ("0x7f.2", false)])
    func `LOOK-17 server names are read so, too`(name: String, passes: Bool) throws {
        let authority = try #require(Authority("127.0.0.1:443", defaultPort: nil))
        #expect(
            (try policy("").refusal(ofServerName: name, inTunnelTo: authority, of: ProxyIdentity()) == nil) == passes)
    }

    @Test(arguments: [
        ("", "http://a.example:25/", nil), ("", "https://a.example:22/", nil),
        (
            "listen: \"0.0.0.0:1\"", "http://a.example:25/",
            "destinations.ports auto: 80, 443 and above 1023 only, because 0.0.0.0:1 is not loopback"
        ),
        (
            "listen: \"0.0.0.0:1\"", "http://a.example:1023/",
            "destinations.ports auto: 80, 443 and above 1023 only, because 0.0.0.0:1 is not loopback"
        ),
        ("listen: \"0.0.0.0:1\"", "http://a.example:1024/", nil), ("listen: \"0.0.0.0:1\"", "http://a.example/", nil),
        ("listen: \"0.0.0.0:1\"", "https://a.example/", nil),
        ("listen: \"0.0.0.0:1\"\ndestinations: {ports: any}", "http://a.example:25/", nil),
        ("destinations: {ports: [80, 8080]}", "http://a.example:8080/", nil),
        ("destinations: {ports: [80, 8080]}", "https://a.example/", "destinations.ports [80, 8080]"),
        ("destinations: {ports: 80, deny: [\"*:25\"]}", "http://a.example:25/", "destinations.deny[0] \"*:25\""),
        // A configured upstream implies permission for its port.
        (
            "destinations: {ports: 80}\nroutes: [{name: r, upstream: \"http://b.example:25\"}]", "http://a.example:26/",
            nil
        ),
    ])
    func `LOOK-27 plain requests go to the ports that they may`(yaml: String, url: String, denial: String?) throws {
        #expect(try policy(yaml).decide(try query("GET", url)).destination.denial == denial)
    }

    @Test func `LOOK-26 names that no rule allows need not be looked up`() throws {
        let rules = "destinations: {default: deny, allow: [\"10.0.0.0/8\", a.example]"
        #expect(try policy(rules + "}").decide(try query("GET", "http://b.example/")).destination == .byAddress)
        let off = try policy(rules + ", resolve: off}")
        #expect(
            try off.decide(try query("GET", "http://b.example/")).destination
                == .denied(by: "destinations.default, and destinations.resolve is off, so the name is not looked up"))
        #expect(try off.decide(try query("GET", "http://a.example/")).destination.denial == nil)
        #expect(try off.decide(try query("GET", "http://10.1.2.3/")).destination.denial == nil)
    }

    @Test(arguments: [
        (
            "destinations: {default: deny, allow: [a.example, \"10.0.0.0/8\"]}",
            "destinations.allow[1]: \"10.0.0.0/8\" is a network, so every name that no rule names is looked up before it is "
                + "denied, which tells the name to others; destinations.resolve: off denies it at once"
        ),
        (
            "listen: \"0.0.0.0:1\"\ndestinations: {ports: any}",
            "destinations.ports: is any, and other machines reach 0.0.0.0:1: they reach every port of every destination "
                + "through it; name the ports, or write auto"
        ),
        (
            "destinations: {require_sni_match: {allow_absent: db}}",
            "destinations.require_sni_match.allow_absent: allows nothing more: a ClientHello may lack a server name everywhere, "
                + "because destinations.default is allow"
        ),
    ])
    func `LOOK-26, LOOK-27, LOOK-113 check says what leaks, and what is for nothing`(yaml: String, warning: String)
        throws
    {
        let warnings = Lint(try policy(yaml)).findings.filter { $0.severity == .warning }.map {
            "\($0.path): \($0.message)"
        }
        #expect(warnings == [warning])
    }

    @Test(arguments: [
        "destinations: {default: deny, allow: [a.example, \"10.0.0.0/8\"], resolve: off}", "destinations: {ports: any}",
        "destinations: {allow: [\"10.0.0.0/8\"]}",
    ])
    func `LOOK-26, LOOK-27 check is silent where nothing leaks`(yaml: String) throws {
        #expect(Lint(try policy(yaml)).findings.isEmpty)
    }
}
