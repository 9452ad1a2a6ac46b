// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// Rules for commands in networks of their own, and for captured connections (contract §7).
struct IsolationRuleTests {
    private func decide(_ yaml: String, _ target: String, _ kind: TunnelKind) throws -> Decision {
        let authority = try #require(Authority(target, defaultPort: nil))
        return try policy(yaml).decideTunnel(
            RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/"), kind)
    }

    private static let opaque = TunnelKind(isOpaque: true, isCaptured: true)

    @Test func `connections are captured, and other protocols refused, unless the file says otherwise`() throws {
        #expect(Configuration().isolation == IsolationConfiguration())
        let given = try load("version: 1\nisolate: {capture: off, other_tcp: allow}").isolation
        #expect(!given.captures && given.otherTCP == .allow)
        #expect(
            problems("version: 1\nisolate: {other_tcp: maybe, exposed: []}") == [
                "pintle.yaml:2:22: isolate.other_tcp: \"maybe\": must be allow or deny",
                "pintle.yaml:2:29: isolate: unknown key \"exposed\"; did you mean \"expose\"?",
            ])
    }

    @Test func `sockets and descriptors are exposed`() throws {
        let given = try load("version: 1\nisolate: {expose: [/run/user/*/bus, \"fd:7\"]}").isolation.exposed
        #expect(given == [.sockets("/run/user/*/bus"), .descriptor(7)])
        #expect(try load("version: 1\nisolate: {expose: []}").isolation.exposed.isEmpty)
        #expect(try load("version: 1\nisolate: {expose: /run/a}").isolation.exposed == [.sockets("/run/a")])
        let remedy = "must be the absolute path of a Unix socket, or fd: and the number of a descriptor from 3 on"
        #expect(
            problems("version: 1\nisolate: {expose: [run/bus, \"fd:2\", \"fd:x\"]}") == [
                "pintle.yaml:2:20: isolate.expose[0]: \"run/bus\": \(remedy)",
                "pintle.yaml:2:29: isolate.expose[1]: \"fd:2\": \(remedy)",
                "pintle.yaml:2:37: isolate.expose[2]: \"fd:x\": \(remedy)",
            ])
    }

    @Test(
        arguments: [
            (
                "", "db.example:5432",
                "isolate.other_tcp deny; destinations.allow with \"tcp://db.example:5432\" lets every protocol through"
            ),
            ("isolate: {other_tcp: allow}", "db.example:5432", nil),
            ("destinations: {allow: [\"tcp://db.example:5432\"]}", "db.example:5432", nil),
            ("destinations: {allow: [\"tcp://*.example:5432\"], default: deny}", "db.example:5432", nil),
            ("destinations: {allow: [\"tcp://10.0.0.0/8:22\"]}", "10.1.2.3:22", nil),
            (
                "destinations: {allow: [\"db.example\"], default: deny}", "db.example:5432",
                "isolate.other_tcp deny; destinations.allow with \"tcp://db.example:5432\" lets every protocol through"
            ),
            (
                "destinations: {allow: [\"tcp://db.example:5432\"], deny: [\"*.example\"]}", "db.example:5432",
                "destinations.deny[0] \"*.example\""
            ),
            (
                "destinations: {allow: [\"tcp://db.example:5432\"], default: deny}", "db.example:22",
                "destinations.default"
            ),
        ] as [(String, String, String?)])
    func `a captured protocol that cannot be read needs a rule of its own`(
        yaml: String, target: String, denial: String?
    ) throws {
        #expect(try self.decide(yaml, target, Self.opaque).destination.denial == denial)
    }

    @Test func `what is asked for with CONNECT, or can be read, needs none`() throws {
        for kind in [TunnelKind(isOpaque: true), TunnelKind(isCaptured: true), TunnelKind()] {
            #expect(try self.decide("", "db.example:5432", kind).destination.denial == nil)
        }
    }

    @Test func `a rule for every protocol lets pass what a route could not keep`() throws {
        let route = "routes: [{name: a, match: {hosts: [db.example]}, response: {body: json}}]"
        let rule = "destinations: {allow: [\"tcp://db.example:5432\"]}\n"
        for kind in [Self.opaque, TunnelKind(isOpaque: true)] {
            #expect(try self.decide(rule + route, "db.example:5432", kind).destination.denial == nil)
        }
        #expect(try self.decide(rule + route, "db.example:5432", TunnelKind()).destination.denial != nil)
    }

    @Test func `with enforcement report it is only told`() throws {
        let decision = try self.decide("enforcement: report", "db.example:5432", Self.opaque)
        #expect(decision.destination.denial == nil && decision.reportedBreach?.contains("isolate.other_tcp") == true)
    }

    @Test(
        arguments: [
            (
                "allow: [\"tcp://db.example\"]",
                "tcp:// is followed by a host and a port, as in tcp://db.example.com:5432"
            ),
            ("allow: [\"tcp://\"]", "a host pattern is not empty"),
            (
                "allow: [\"udp://db.example:53\"]",
                "a host pattern has no scheme: give the host alone, as in api.example.com"
            ),
            (
                "deny: [\"tcp://db.example:22\"]",
                "a host pattern has no scheme: give the host alone, as in api.example.com"
            ),
        ])
    func `a rule for every protocol names host and port, and allows`(rules: String, reason: String) {
        let found = problems("version: 1\ndestinations: {\(rules)}")
        #expect(found.count == 1 && found[0].hasSuffix(reason), "\(found)")
    }

    @Test(
        arguments: [
            ("", "any.example", nil),
            ("destinations: {deny: [\"*.ads.example\"]}", "x.ads.example", "destinations.deny[0] \"*.ads.example\""),
            ("destinations: {deny: [\"*.ads.example:80\"]}", "x.ads.example", nil),
            ("destinations: {default: deny, allow: [\"api.example:8443\"]}", "api.example", nil),
            ("destinations: {default: deny, allow: [\"api.example:8443\"]}", "other.example", "destinations.default"),
            ("destinations: {default: deny, allow: [\"10.0.0.0/8\"]}", "other.example", nil),
            (
                "destinations: {default: deny, allow: [real.example]}\nroutes: [{name: a, match: {hosts: [local.example]}, "
                    + "upstream: \"https://real.example\"}]", "local.example", nil
            ),
            (
                "destinations: {default: deny}\nroutes: [{name: a, match: {hosts: [local.example]}, "
                    + "upstream: \"https://real.example\"}]", "local.example", "destinations.default"
            ),
        ] as [(String, String, String?)])
    func `a name may be looked up if some connection to it could be allowed`(
        yaml: String, name: String, denial: String?
    ) throws {
        #expect(try policy(yaml).denial(ofName: name) == denial)
    }
}
