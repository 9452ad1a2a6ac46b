// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// `destinations.ask`, `destinations: {default: ask}` and `ask`.
struct AskRuleTests {
    private static let lists = """
        destinations:
          default: ask
          allow: [api.example.com, "10.1.0.0/16"]
          deny: ["*.ads.example", "10.1.66.0/24"]
          ask: ["*.example.com", "tool.example:8443", x.ads.example]
        """

    private static func authority(_ text: String) throws -> Authority {
        try #require(Authority(text, defaultPort: 443))
    }

    @Test(arguments: [
        ("api.example.com", DestinationDecision.allowed(by: "destinations.allow[0] \"api.example.com\"")),
        ("www.example.com", .asked(by: "destinations.ask[0] \"*.example.com\"")),
        ("tool.example:8443", .asked(by: "destinations.ask[1] \"tool.example:8443\"")),
        ("tool.example", .asked(by: "destinations.default")),
        ("x.ads.example", .denied(by: "destinations.deny[0] \"*.ads.example\"")),
        ("10.1.2.3", .allowed(by: "destinations.allow[1] \"10.1.0.0/16\"")),
        ("10.1.66.3", .denied(by: "destinations.deny[1] \"10.1.66.0/24\"")),
        ("192.0.2.1", .denied(by: "destinations.default, and an address is never asked about")),
        ("3221225985", .denied(by: "destinations.default, and an address is never asked about")),
    ])
    func `questions come after denials and permissions, and are about names alone`(
        authority: String, expected: DestinationDecision
    ) throws {
        #expect(try policy(Self.lists).destinations.judge(try Self.authority(authority), for: .none) == expected)
    }

    @Test func `a star asks about every name and no address`() throws {
        let rules = try policy("destinations: {default: deny, ask: [\"*\"]}").destinations
        #expect(rules.judge(try Self.authority("a.example"), for: .none) == .asked(by: "destinations.ask[0] \"*\""))
        #expect(rules.judge(try Self.authority("[::1]"), for: .none) == .denied(by: "destinations.default"))
    }

    @Test(arguments: [
        ("www.example.com", "192.0.2.1", DestinationDecision.asked(by: "destinations.ask[0] \"*.example.com\"")),
        ("www.example.com", "10.1.2.3", .allowed(by: "destinations.allow[1] \"10.1.0.0/16\"")),
        ("www.example.com", "10.1.66.3", .denied(by: "destinations.deny[1] \"10.1.66.0/24\"")),
    ])
    func `the address that an answer leads to is judged by the rules about addresses`(
        host: String, address: String, expected: DestinationDecision
    ) throws {
        let address = try #require(IPAddress(address))
        let rules = try policy(Self.lists).destinations
        #expect(rules.judge(address: address, port: 443, asked: try Self.authority(host), for: .none) == expected)
    }

    @Test func `a private address is not dialled for a name that was allowed by an answer`() throws {
        let rules = try policy("destinations: {ask: [a.example], private_addresses: deny}").destinations
        let address = try #require(IPAddress("10.0.0.1"))
        #expect(
            rules.judge(address: address, port: 443, asked: try Self.authority("a.example"), for: .none)
                == .prohibited(by: "destinations.private_addresses deny: 10.0.0.0/8 is private use"))
    }

    @Test(arguments: [
        ("ports: [80]", "http://a.example:81/", "destinations.ports [80]"),
        ("connect_ports: [443]", "CONNECT a.example:81", "destinations.connect_ports [443]"),
    ])
    func `other rules deny without a question`(rule: String, request: String, denial: String) throws {
        let plan = try self.plan(request, "destinations: {ask: [a.example], \(rule)}")
        guard case .refuse(let problem) = plan.step else {
            Issue.record("\(plan.step)")
            return
        }
        #expect(problem.detail.hasSuffix("is denied by \(denial)"), "\(problem.detail)")
    }

    private func plan(_ request: String, _ rules: String) throws -> RequestPlan {
        let words = request.split(separator: " ")
        let target: RequestTarget
        if words.count == 2 {
            target = .authority(try Self.authority(String(words[1])))
        } else {
            let query = try query("GET", request)
            target = .absolute(scheme: query.scheme, authority: query.authority, path: query.path)
        }
        return RequestPlan(
            RequestHead(method: words.count == 2 ? "CONNECT" : "GET", target: target, minorVersion: 1), .none,
            by: try policy(rules))
    }

    @Test func `a plan asks before everything else, and an answer stands for the rule`() throws {
        for request in ["http://a.example/x", "CONNECT a.example:443"] {
            let plan = try self.plan(request, "destinations: {ask: [a.example]}")
            guard case .ask(let rule, _) = plan.step else {
                Issue.record("\(plan.step)")
                continue
            }
            let granted = plan.granted(by: rule.granted("granted on the page, once"))
            if case .ask = granted.step { Issue.record("\(request) asks again") }
            #expect(
                granted.decision?.destination
                    == .allowed(by: "destinations.ask[0] \"a.example\", granted on the page, once"))
            #expect(granted.decision?.authority == plan.decision?.authority)
        }
    }

    @Test func `with enforcement report the request passes, and the sentence says what would be`() throws {
        let policy = try policy("enforcement: report\n\(Self.lists)")
        let decision = try policy.decide(try query("GET", "http://www.example.com/"))
        #expect(decision.question == nil && decision.destination.denial == nil)
        #expect(decision.reportedRule == "destinations.ask[0] \"*.example.com\"")
        #expect(
            decision.reportedBreach
                == "www.example.com:80 would wait for an answer, by destinations.ask[0] \"*.example.com\"")
    }

    @Test func `a name that asks has an address in a captured network`() throws {
        let policy = try policy("destinations: {default: deny, ask: [a.example]}")
        #expect(policy.denial(ofName: "a.example") == nil && policy.denial(ofName: "b.example") != nil)
    }

    @Test func `a handshake in a tunnel to an address may not name a host that asks`() throws {
        let policy = try policy("destinations: {allow: [\"192.0.2.0/24\"], ask: [a.example], default: deny}")
        let reason = policy.refusal(
            ofServerName: "a.example", inTunnelTo: try Self.authority("192.0.2.1"), of: ProxyIdentity())
        #expect(reason == nil, "the address is allowed by a network")
        let other = try PintlePolicyTests.policy("destinations: {ask: [a.example]}")
        #expect(
            other.refusal(ofServerName: "a.example", inTunnelTo: try Self.authority("192.0.2.1"), of: ProxyIdentity())
                == "its ClientHello names a.example, which waits for an answer, by destinations.ask[0] \"a.example\"; "
                + "a CONNECT to the name is asked about")
    }

    @Test(arguments: [
        ("destinations: {ask: [10.0.0.1]}", "2:21: destinations.ask: \"10.0.0.1\" is"),
        ("destinations: {ask: [\"10.0.0.0/8\"]}", "2:21: destinations.ask: \"10.0.0.0/8\" is"),
        ("destinations: {ask: [\"tcp://a.example:22\"]}", "2:22: destinations.ask[0]: "),
        ("destinations: {default: asks}", "2:25: destinations.default: \"asks\": must be allow, deny or ask"),
        ("ask: {timeout: 10ms}", "2:16: ask.timeout: \"10ms\": must be from 1s to 1d"),
        ("ask: {waiting: 0}", "2:16: ask.waiting: \"0\": must be a whole number from 1 to 1000"),
        ("ask: {time_out: 1s}", "2:7: ask: unknown key \"time_out\"; did you mean \"timeout\"?"),
    ])
    func `slips are told with their place`(yaml: String, message: String) throws {
        let found = problems("version: 1\n\(yaml)")
        #expect(found.count == 1 && found[0].hasPrefix("pintle.yaml:\(message)"), "\(found)")
    }

    @Test func `the keys are read`() throws {
        let given = try load("version: 1\nask: {timeout: 5s, waiting: 3}\ndestinations: {default: ask, ask: a.example}")
        #expect(given.ask.timeout == .seconds(5) && given.ask.waiting == 3)
        #expect(given.destinations.fallback == .ask && given.destinations.ask.map(\.description) == ["a.example"])
        let standard = AskConfiguration()
        #expect(standard.timeout == .seconds(60) && standard.waiting == 16)
    }

    private static let webhook = "ask: {webhook: {url: \"https://ask.example/x\", secret: \"env:S\"}}"

    @Test func `a webhook is read`() throws {
        let surroundings = surroundings(environment: ["S": "0123456789abcdef"])
        let webhook = try load("version: 1\n\(Self.webhook)", surroundings).ask.webhook
        #expect(webhook?.url.description == "https://ask.example/x" && webhook?.secret == "0123456789abcdef")
        #expect(webhook?.variable == "S" && webhook?.trust == nil)
        #expect(try load("version: 1\nask: {webhook: off}").ask.webhook == nil)
    }

    @Test(arguments: [
        (
            "url: \"https://a.example/\", secret: plain-words-in-the-file",
            "ask.webhook.secret: must be env:NAME or file:PATH"
        ),
        (
            "url: \"https://a.example/\", secret: \"env:SHORT\"",
            "ask.webhook.secret: \"env:SHORT\": a secret has 16 to 4096"
        ),
        ("url: \"http://a.example/\", secret: \"env:S\"", "ask.webhook.url: \"http://a.example/\": must be https"),
        ("url: \"https://a.example/\"", "ask.webhook: the key \"secret\" is missing"),
        ("url: \"http://127.0.0.1:3128/\", secret: \"env:S\"", "ask.webhook.url: 127.0.0.1:3128 is this proxy"),
        ("url: \"https://a.example/\", secret: \"env:S\", trust: a", "ask.webhook.trust: there is no trust policy"),
    ])
    func `a webhook that could be forged, or that asks itself, is refused`(keys: String, message: String) {
        let surroundings = surroundings(environment: ["S": "0123456789abcdef", "SHORT": "0123456789"])
        let found = problems("version: 1\nask: {webhook: {\(keys)}}", surroundings)
        #expect(found.count == 1 && found[0].contains(message) && !found[0].contains("plain-words"), "\(found)")
    }

    @Test(arguments: [
        ("", true), ("admin: \"127.0.0.1:3129\"", false), ("enforcement: report", false),
    ])
    func `check tells of questions that nothing can answer`(more: String, isTold: Bool) throws {
        let findings = Lint(try policy("destinations: {ask: [a.example]}\n\(more)")).findings
        #expect(findings.contains { $0.message.hasPrefix("under serve nothing can answer") } == isTold)
    }

    @Test func `names that are never asked about are told`() throws {
        let rules =
            "destinations: {allow: [\"*.a.example\"], deny: [b.example], ask: [x.a.example, b.example, c.example]}"
        let messages = Lint(try policy(rules)).findings.filter { $0.path.hasPrefix("destinations.ask[") }.map(\.message)
        #expect(
            messages == [
                "\"x.a.example\" is never asked about: destinations.allow has \"*.a.example\", and permissions come first",
                "\"b.example\" is never asked about: destinations.deny has \"b.example\", and denials come first",
            ])
    }
}
