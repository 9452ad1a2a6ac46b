// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import Testing

@testable import PintlePolicy

/// Rules for users and tags: `users` and `tags` in entries of `destinations` and in `match`.
struct NamedClientsTests {
    static let users = "clients: {basic_auth: {users: users}}\n"
    static let hash = "$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K"
    private static let surroundings = PintlePolicyTests.surroundings(
        files: ["users": ["alice", "bob", "ops-1", "zo\u{E9}"].map { "\($0):\(Self.hash)\n" }.joined()])

    static func policy(_ yaml: String) throws -> Policy {
        try PolicyLoader.policy(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml", surroundings: Self.surroundings)
    }

    private static func problems(_ yaml: String) -> [String] {
        PintlePolicyTests.problems("version: 1\n\(yaml)", Self.surroundings)
    }

    static let (alice, bob, nobody) = (ProxyIdentity(user: "alice"), ProxyIdentity(user: "bob"), ProxyIdentity())

    // MARK: Destinations

    private static let lists = """
        destinations:
          default: deny
          allow:
            - "*.example.com"
            - {host: "*.internal.example", users: [alice, "ops-*"]}
            - {host: registry.example, tags: [ci, "suite-*"]}
            - {host: both.example, users: alice, tags: ci}
          deny: [{host: social.example.com, users: [bob], reason: "not for bob"}, {host: "*:25", tags: "*"}]
        """

    @Test(arguments: [
        ("a.example.com", ProxyIdentity(), "allow[0] \"*.example.com\""),
        ("a.internal.example", ProxyIdentity(user: "alice"), "allow[1] \"*.internal.example\""),
        ("a.internal.example", ProxyIdentity(user: "ops-7", tag: "x"), "allow[1] \"*.internal.example\""),
        ("a.internal.example", ProxyIdentity(user: "Alice"), nil),
        ("a.internal.example", ProxyIdentity(user: "alice2"), nil),
        ("a.internal.example", ProxyIdentity(tag: "alice"), nil), ("a.internal.example", ProxyIdentity(), nil),
        ("registry.example", ProxyIdentity(tag: "ci"), "allow[2] \"registry.example\""),
        ("registry.example", ProxyIdentity(user: "bob", tag: "suite-"), "allow[2] \"registry.example\""),
        ("registry.example", ProxyIdentity(user: "ci"), nil), ("registry.example", ProxyIdentity(tag: ""), nil),
        ("both.example", ProxyIdentity(user: "alice", tag: "ci"), "allow[3] \"both.example\""),
        ("both.example", ProxyIdentity(user: "alice"), nil),
        ("both.example", ProxyIdentity(user: "bob", tag: "ci"), nil),
        ("social.example.com", ProxyIdentity(user: "alice"), "allow[0] \"*.example.com\""),
    ])
    func `an entry holds for clients that have one of its users and one of its tags`(
        host: String, client: ProxyIdentity, rule: String?
    ) throws {
        let rules = try Self.policy(Self.users + Self.lists).destinations
        let decision = rules.judge(Authority(host: host, port: 443), for: rules.rights(of: client))
        if let rule {
            #expect(decision == .allowed(by: DecidingRule("destinations.\(rule)")))
        } else {
            #expect(decision.denial?.hasPrefix("destinations.default, and destinations.allow[") == true, "\(decision)")
            #expect(decision.denial?.hasSuffix("is for other clients") == true, "\(decision)")
        }
    }

    @Test func `a denial for users holds for these alone, and says its reason`() throws {
        let rules = try Self.policy(Self.users + Self.lists).destinations
        let host = Authority(host: "social.example.com", port: 443)
        let denied = rules.judge(host, for: rules.rights(of: Self.bob))
        #expect(denied.objection == "destinations.deny[0] \"social.example.com\": not for bob")
        #expect(rules.judge(host, for: rules.rights(of: Self.nobody)).denial == nil)
        let mail = Authority(host: "a.example.com", port: 25)
        #expect(rules.judge(mail, for: rules.rights(of: Self.alice)).denial == nil, "she has no tag")
        let tagged = rules.rights(of: ProxyIdentity(user: "alice", tag: "t"))
        #expect(rules.judge(mail, for: tagged).denial == "destinations.deny[1] \"*:25\"")
    }

    @Test func `a destination that no entry names is denied by the default alone`() throws {
        let rules = try Self.policy(Self.users + Self.lists).destinations
        let decision = rules.judge(Authority(host: "other.test", port: 443), for: rules.rights(of: Self.alice))
        #expect(decision.denial == "destinations.default")
    }

    @Test func `the address is judged for the client`() throws {
        let rules = try Self.policy(
            Self.users
                + """
                destinations:
                  default: deny
                  allow: [{host: 10.0.0.0/8, users: [alice]}]
                  deny: [{host: 10.1.0.0/16, tags: [ci]}]
                """
        ).destinations
        let (host, address) = (Authority(host: "a.test", port: 80), try #require(IPAddress("10.1.2.3")))
        func judge(_ client: ProxyIdentity) -> DestinationDecision {
            rules.judge(address: address, port: 80, asked: host, for: rules.rights(of: client))
        }
        #expect(rules.judge(host, for: rules.rights(of: Self.alice)) == .byAddress)
        #expect(
            rules.judge(host, for: rules.rights(of: Self.bob)).denial == "destinations.default",
            "no network could allow the name, so that it is not looked up")
        #expect(judge(Self.alice) == .allowed(by: "destinations.allow[0] \"10.0.0.0/8\""))
        #expect(judge(Self.bob).denial == "destinations.default")
        #expect(
            judge(ProxyIdentity(user: "alice", tag: "ci")) == .denied(by: "destinations.deny[0] \"10.1.0.0/16\""))
        let literal = Authority(host: "10.2.0.1", port: 80)
        #expect(rules.judge(literal, for: rules.rights(of: Self.alice)).denial == nil)
        #expect(
            rules.judge(literal, for: rules.rights(of: Self.bob)).denial
                == "destinations.default, and destinations.allow[0] \"10.0.0.0/8\" is for other clients")
    }

    @Test func `a listed name leads into private networks for its clients alone`() throws {
        let rules = try Self.policy(
            Self.users + "destinations: {private_addresses: deny, allow: [{host: intranet.test, users: [alice]}]}"
        ).destinations
        let (host, address) = (Authority(host: "intranet.test", port: 80), try #require(IPAddress("10.1.2.3")))
        for (client, passes) in [(Self.alice, true), (Self.bob, false), (Self.nobody, false)] {
            let decision = rules.judge(address: address, port: 80, asked: host, for: rules.rights(of: client))
            #expect((decision.denial == nil) == passes, "\(client): \(decision)")
        }
    }

    // MARK: Rights

    @Test func `without entries for clients all have the same rights`() throws {
        let rules = try Self.policy(Self.users + "destinations: {allow: [10.0.0.0/8]}").destinations
        #expect(rules.rights(of: Self.alice) == .none && !rules.namesClients)
        let names = try Self.policy(Self.users + Self.lists)
        let query = RouteQuery(
            method: "GET", scheme: .http, authority: Authority(host: "a.internal.example", port: 80), path: "/",
            client: Self.alice)
        #expect(try names.decide(query).rights == .none, "no address is judged")
    }

    @Test func `rights are those that can decide about the addresses of the host`() throws {
        let policy = try Self.policy(
            Self.users
                + """
                destinations:
                  private_addresses: deny
                  allow: [{host: a.test, users: [alice]}, {host: b.test, users: [bob]}, {host: 10.0.0.0/8, tags: [ci]}]
                upstream_proxy: {url: "http://p.test:3128", no_proxy: ["*.test"]}
                """)
        func rights(_ host: String, _ client: ProxyIdentity) throws -> ClientRights {
            let authority = Authority(host: host, port: 80)
            return try policy.decide(
                RouteQuery(method: "GET", scheme: .http, authority: authority, path: "/", client: client)
            ).rights
        }
        #expect(try rights("c.test", Self.alice) == rights("c.test", Self.bob))
        #expect(try rights("a.test", Self.alice) != rights("a.test", Self.bob))
        #expect(try rights("a.test", Self.bob) == rights("a.test", Self.nobody))
        #expect(try rights("c.test", ProxyIdentity(user: "bob", tag: "ci")) != rights("c.test", Self.bob))
        #expect(
            try rights("elsewhere.example", ProxyIdentity(user: "bob", tag: "ci")) == .none,
            "the upstream proxy resolves the name")
    }

    @Test func `the part of the rights that a decision keeps judges addresses as all of them do`() throws {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        let hosts = ["a.test", "b.test", "\"*.test\"", "\"*\"", "10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"]
        let clients = ["", ", tags: [t]", ", tags: [u]", ", tags: [\"*\"]"]
        func list() -> String {
            (0..<4).map { _ in
                "{host: \(hosts.randomElement(using: &random) ?? "")\(clients.randomElement(using: &random) ?? "")}"
            }
            .joined(separator: ", ")
        }
        for _ in 0..<200 {
            let yaml =
                "destinations: {default: \(Bool.random(using: &random) ? "deny" : "allow"), private_addresses: deny, "
                + "allow: [\(list())], deny: [\(list())]}"
            let rules = try Self.policy(yaml).destinations
            for name in ["a.test", "c.test", "10.1.2.3"] {
                for text in ["10.1.2.3", "10.9.9.9", "192.0.2.1", "8.8.8.8"] {
                    for tag in [nil, "t", "u", "v"] {
                        let (host, address) = (Authority(host: name, port: 80), try #require(IPAddress(text)))
                        let all = rules.rights(of: ProxyIdentity(tag: tag))
                        let part = rules.addressRights(all, for: host)
                        #expect(
                            rules.judge(address: address, port: 80, asked: host, for: all)
                                == rules.judge(address: address, port: 80, asked: host, for: part),
                            "seed \(Seed.ofThisRun): \(yaml) \(name) \(text) \(tag ?? "-")")
                    }
                }
            }
        }
    }

    // MARK: Routes

    private static let routes = """
        routes:
          - {name: hers, match: {hosts: [a.test], users: [alice]}}
          - {name: suites, match: {tags: ["suite-*"]}, connect: deny}
          - {name: rest, connect: tunnel}
        """

    private static func plan(_ policy: Policy, _ lines: [String], _ client: ProxyIdentity) throws -> RequestPlan {
        let head = try RequestHead(spelled: lines, minorVersion: 1)
        return RequestPlan(head, try head.bodyFraming(), by: policy, of: client)
    }

    @Test(arguments: [
        ("GET http://a.test/", ProxyIdentity(user: "alice"), "hers"),
        ("GET http://a.test/", ProxyIdentity(user: "bob"), "rest"), ("GET http://a.test/", ProxyIdentity(), "rest"),
        ("GET http://b.test/", ProxyIdentity(user: "alice", tag: "suite-1"), "suites"),
        ("CONNECT a.test:443", ProxyIdentity(user: "alice"), "hers"),
        ("CONNECT b.test:443", ProxyIdentity(user: "bob", tag: "suite-1"), "suites"),
        ("CONNECT b.test:443", ProxyIdentity(user: "bob"), "rest"),
    ])
    func `a route is chosen by the client`(request: String, client: ProxyIdentity, route: String) throws {
        let plan = try Self.plan(try Self.policy(Self.users + Self.routes), [request], client)
        #expect(plan.decision?.route?.name == route)
        #expect((plan.decision?.destination.denial != nil) == (route == "suites" && plan.isTunnel))
    }

    @Test func `a route that is passed over says for whom it is`() throws {
        let policy = try Self.policy(Self.users + Self.routes)
        let head = try RequestHead(spelled: ["GET http://a.test/"], minorVersion: 1)
        let lines = try Explanation(policy, head, of: ProxyIdentity(user: "bob", tag: "x")).lines.map(\.description)
        #expect(lines.contains("client       user bob with tag x"))
        #expect(
            lines.contains("passed over  routes[0] \"hers\": user bob with tag x is none of its users alice"),
            "\(lines)")
        let nameless = try Explanation(policy, head).lines.map(\.description)
        #expect(nameless.contains("client       a client without a name"))
        #expect(
            nameless.contains("passed over  routes[0] \"hers\": a client without a name is none of its users alice"))
    }

    @Test func `the request of a redirect has the client of the first`() throws {
        let policy = try Self.policy(
            Self.users
                + """
                destinations: {deny: [{host: b.test, users: [bob]}]}
                routes: [{name: r, redirects: follow}]
                """)
        for (client, isDenied) in [(Self.alice, false), (Self.bob, true)] {
            let head = try RequestHead(spelled: ["GET http://a.test/"], minorVersion: 1)
            let plan = RequestPlan(head, .none, by: policy, of: client)
            var trail = try #require(RedirectTrail(head, plan))
            trail.wasSent(try plan.request(from: head, .streamed, of: .local).transfer)
            let hop = try #require(
                try trail.next(after: ResponseHead(status: 302, fields: ["Location": "http://b.test/"])))
            let isRefused = if case .refuse = hop.plan.step { true } else { false }
            #expect(isRefused == isDenied && hop.plan.client == client)
        }
    }

    @Test func `a server name in a tunnel to an address is judged for the client`() throws {
        let policy = try Self.policy(Self.users + "destinations: {deny: [{host: b.test, users: [bob]}]}")
        let address = Authority(host: "192.0.2.1", port: 443)
        #expect(policy.refusal(ofServerName: "b.test", inTunnelTo: address, of: Self.alice) == nil)
        #expect(
            policy.refusal(ofServerName: "b.test", inTunnelTo: address, of: Self.bob)
                == "its ClientHello names b.test, which is denied by destinations.deny[0] \"b.test\"")
    }

    @Test func `tcp:// lets every protocol of its clients through`() throws {
        let policy = try Self.policy(
            Self.users
                + "interception: {hosts: [\"*\"]}\n"
                + "destinations: {default: deny, allow: [\"*\", {host: \"tcp://db.test:5432\", users: [alice]}]}\n"
                + "routes: [{name: r, connect: deny}]")
        let query = RouteQuery(
            method: "CONNECT", scheme: .https, authority: Authority(host: "db.test", port: 5432), path: "/")
        for (client, passes) in [(Self.alice, true), (Self.bob, false)] {
            var query = query
            query.client = client
            let decision = policy.decideTunnel(query, TunnelKind(isOpaque: true))
            #expect((decision.destination.denial == nil) == passes, "\(decision.destination)")
        }
    }

    // MARK: Loading

    @Test(arguments: [
        (
            "destinations: {allow: [{host: a.test, users: [alice]}]}",
            "pintle.yaml:2:46: destinations.allow[0].users: no client has a user without clients.basic_auth; configure it, "
                + "or name tags"
        ),
        (
            "routes: [{name: r, match: {users: alice}}]",
            "pintle.yaml:2:35: routes[0].match.users: no client has a user without clients.basic_auth; configure it, or name "
                + "tags"
        ),
        (
            "destinations: {deny: [{host: a.test, tags: []}]}",
            "pintle.yaml:2:44: destinations.deny[0].tags: an empty list means nothing here; leave the key out or name "
                + "something"
        ),
        (
            "destinations: {allow: [{host: a.test, tags: [\"\"]}]}",
            "pintle.yaml:2:46: destinations.allow[0].tags[0]: \"\": no client has an empty name; write \"*\" for any"
        ),
        (
            "routes: [{name: r, match: {tags: \"a:b\"}}]",
            "pintle.yaml:2:34: routes[0].match.tags: \"a:b\": a name has no colon, which ends it in Proxy-Authorization"
        ),
        (
            "destinations: {ask: [{host: a.test, tags: [ci]}]}",
            "pintle.yaml:2:22: destinations.ask[0]: a question is about a pattern, and for every client; allow and deny take "
                + "lists of hosts and name clients"
        ),
        (
            "destinations: {allow: [{tags: [ci]}]}",
            "pintle.yaml:2:24: destinations.allow[0]: the key \"host\" is missing, a pattern, or \"list\", the name "
                + "of a list of hosts"
        ),
        (
            "destinations: {allow: [{host: a.test, reason: x}]}",
            "pintle.yaml:2:39: destinations.allow[0]: unknown key \"reason\"; the keys here are host, list, users, tags"
        ),
    ])
    func `what cannot be meant is refused`(yaml: String, problem: String) {
        #expect(Self.problems(yaml) == [problem])
    }

    @Test func `a map without clients is like its pattern alone`() throws {
        let rules = try Self.policy("destinations: {default: deny, allow: [{host: \"tcp://a.test:22\"}]}").destinations
        let host = Authority(host: "a.test", port: 22)
        #expect(!rules.namesClients && rules.ruleForAnyProtocol(to: host, for: .none) != nil)
        #expect(rules.judge(host, for: .none) == .allowed(by: "destinations.allow[0] \"tcp://a.test:22\""))
    }

    // MARK: Lint

    private static func warnings(_ yaml: String) throws -> [String] {
        Lint(try Self.policy(Self.users + yaml), knowsPublicSuffixes: true).findings
            .filter { $0.severity == .warning && $0.message.first == "\"" }.map { "\($0.path): \($0.message)" }
    }

    @Test func `names that no user has are told, with the one that was probably meant`() throws {
        #expect(
            try Self.warnings(
                """
                destinations:
                  allow: [{host: a.test, users: [alise, alice, "ops-*"]}]
                  deny: [{host: b.test, users: ["dev-*"]}]
                routes: [{name: r, match: {users: [eve]}}]
                """) == [
                    "destinations.allow[0].users: \"alise\" is no user of clients.basic_auth; did you mean alice?",
                    "destinations.deny[0].users: \"dev-*\" matches no user of clients.basic_auth",
                    "routes[0].match.users: \"eve\" is no user of clients.basic_auth",
                ])
    }

    @Test func `a name whose letters are composed otherwise is no user's, since rules compare bytes`() throws {
        func warnings(_ name: String) throws -> [String] {
            try Self.warnings("destinations: {deny: [{host: a.test, users: [\"\(name)\"]}]}")
        }
        #expect(try warnings("zo\u{E9}") == [])
        #expect(try warnings("zoe\u{301}").count == 1)
    }

    @Test func `entries that never hold are told`() throws {
        #expect(
            try Self.warnings(
                """
                destinations:
                  allow: [{host: x.a.test, users: [alice]}, {host: x.b.test, users: [alice]}]
                  deny: ["*.a.test", {host: y.a.test, users: [bob]}, {host: "*.b.test", users: [bob]}, {host: z.b.test, users: bob, tags: t}]
                """) == [
                    "destinations.allow[0]: \"x.a.test\" is never allowed: destinations.deny has \"*.a.test\", and denials come "
                        + "first",
                    "destinations.deny[1]: \"y.a.test\" is never used: \"*.a.test\" comes first, and denies it to the same "
                        + "clients",
                    "destinations.deny[3]: \"z.b.test\" is never used: \"*.b.test\" comes first, and denies it to the same "
                        + "clients",
                ])
    }

    @Test func `a rule for some clients takes nothing from rules for all`() throws {
        #expect(
            try Self.warnings(
                """
                destinations: {default: deny, allow: [{host: a.test, users: [alice]}], deny: [{host: b.test, users: [bob]}], ask: [a.test, b.test]}
                admin: "127.0.0.1:3129"
                routes:
                  - {name: up, match: {hosts: [u.test], users: [alice]}, upstream: "http://a.test/"}
                  - {name: later, match: {hosts: [u.test]}, upstream: "http://a.test/"}
                """
            ).isEmpty)
    }
}
