// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Exchanges that end in a connection of bytes: tunnels and upgrades.
struct TunnelScenarioTests {
    static let connect = ["CONNECT a.test:443"]
    static let offer = ["GET http://a.test/chat", "Connection: upgrade", "Upgrade: websocket, h2c"]

    static let tunnels: [Scenario] = [
        Scenario(
            name: "a tunnel opens", request: connect, events: [.begin, .connected],
            expected: [
                "origin < connection to a.test:443",
                "client < relay 200",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "a CONNECT with content is refused", request: connect + ["Content-Length: 1"], events: [.begin],
            expected: [
                "client < 400",
                "client < problem bad-request: a CONNECT request has no content",
                "client < end",
                "record: failed error 400 up 0 down 0",
            ]),
        Scenario(
            name: "a tunnel to a port that is not for it is refused", policy: "destinations: {connect_ports: [443]}",
            request: ["CONNECT a.test:25"], events: [.begin],
            expected: [
                "client < 403",
                "client < problem destination-denied: a.test:25 is denied by destinations.connect_ports [443]",
                "client < end",
                "record: failed deny 403 up 0 down 0",
            ]),
        Scenario(
            name: "a tunnel for which there is no connection", request: connect,
            events: [.begin, .originFails(.connectionRefused, "a.test refuses")],
            expected: [
                "origin < connection to a.test:443",
                "client < 502",
                "client < problem connect-failure: a.test refuses",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "a tunnel whose connection takes too long", request: connect,
            events: [.begin, .originFails(.connectTimeout, "a.test does not answer")],
            expected: [
                "origin < connection to a.test:443",
                "client < 504",
                "client < problem connect-timeout: a.test does not answer",
                "client < end",
                "record: failed error 504 up 0 down 0",
            ]),
        Scenario(
            name: "a client that leaves before its tunnel opens", request: connect, events: [.begin, .clientLeft],
            expected: [
                "origin < connection to a.test:443",
                "origin cancelled",
                "record: left allow up 0 down 0",
            ]),
        Scenario(
            name: "a tunnel's way is known to a parent",
            policy: "upstream_proxy: {url: \"http://p.test:3128\"}", request: connect + ["Via: 1.1 other"],
            events: [.begin, .connected],
            expected: [
                "origin < connection to a.test:443 {Via: 1.1 other}",
                "client < relay 200",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "there are no more tunnels than may be", policy: "limits: {tunnels: 0}", request: connect,
            events: [.begin],
            expected: [
                "client < 503 {Retry-After: 1}",
                "client < problem overloaded: there are as many tunnels as limits.tunnels (0) allows",
                "client < end",
                "record: failed deny 503 up 0 down 0",
            ]),
        Scenario(
            name: "a tunnel that must be proved and is lost at once", policy: "tunnels: {verify: [a.test]}",
            request: connect, events: [.begin, .connected],
            expected: [
                "origin < connection to a.test:443",
                "client < 502",
                "client < problem connect-failure: the connection to a.test:443 was lost at once",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "a client that leaves before the handshake by its https parent",
            policy: "upstream_proxy: {url: \"https://p.test\"}\ntunnels: {verify: [a.test]}", request: connect,
            events: [.begin, .clientLeft],
            expected: [
                "origin < handshake with a.test:443",
                "origin cancelled",
                "record: left allow up 0 down 0",
            ]),
        Scenario(
            name: "by an https parent a handshake proves nothing without a verdict",
            policy: "upstream_proxy: {url: \"https://p.test\"}\ntunnels: {verify: [a.test]}", request: connect,
            events: [.begin, .connected],
            expected: [
                "origin < handshake with a.test:443",
                "client < 502",
                "client < problem tls-failure: a.test:443 cannot be verified before the tunnel opens",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "by an https parent a handshake that fails is a problem",
            policy: "upstream_proxy: {url: \"https://p.test\"}\ntunnels: {verify: [a.test]}", request: connect,
            events: [.begin, .originFails(.tlsFailure, "no TLS")],
            expected: [
                "origin < handshake with a.test:443",
                "client < 502",
                "client < problem tls-failure: no TLS",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
    ]

    static let upgrades: [Scenario] = [
        Scenario(
            name: "an origin switches to what it was offered", request: offer,
            events: [
                .begin,
                .switched(["Upgrade": "WebSocket", "Connection": "upgrade", "Sec-WebSocket-Accept": "x"], early: "hi"),
            ],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                #"client < relay 101 {Sec-WebSocket-Accept: x, Connection: Upgrade, Upgrade: WebSocket}, early "hi""#,
                "record: completed allow 101 up 0 down 0",
            ]),
        Scenario(
            name: "an origin switches to what it was not offered", request: offer,
            events: [.begin, .switched(["Upgrade": "h2c", "Connection": "upgrade"])],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < 502",
                "client < problem upstream-protocol: the origin switched to a protocol that it was not offered",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "an origin switches and does not say to what", request: offer, events: [.begin, .switched([:])],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < 502",
                "client < problem upstream-protocol: the origin switched to a protocol that it was not offered",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "an origin declines", request: offer,
            events: [.begin, .head(200, [:], 2), .bytes("no"), .originEnds],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < 200, 2 bytes",
                #"client < "no""#,
                "client < end",
                "record: completed allow 200 up 0 down 2",
            ]),
        Scenario(
            name: "an interim response comes before the switch", request: offer,
            events: [.begin, .interim(103), .switched(["Upgrade": "websocket"])],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < interim 103",
                "client < relay 101 {Connection: Upgrade, Upgrade: websocket}",
                "record: completed allow 101 up 0 down 0",
            ]),
        Scenario(
            name: "there are no more upgrades than tunnels may be", policy: "limits: {tunnels: 0}", request: offer,
            events: [.begin],
            expected: [
                "client < 503 {Retry-After: 1}",
                "client < problem overloaded: there are as many tunnels as limits.tunnels (0) allows",
                "client < end",
                "record: failed deny 503 up 0 down 0",
            ]),
        Scenario(
            name: "an upgrade that fails gives its place back", policy: "limits: {tunnels: 1}", request: offer,
            events: [.begin, .originFails(.connectFailure, "nobody there")],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < 502",
                "client < problem connect-failure: nobody there",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "a client that leaves before the switch", request: offer, events: [.begin, .clientLeft],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "origin cancelled",
                "record: left allow up 0 down 0",
            ]),
        Scenario(
            name: "header rules hold for the switch",
            policy: "routes: [{name: a, response: {headers: {set: {X-A: 1}}}}]", request: offer,
            events: [.begin, .switched(["Upgrade": "websocket"])],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < relay 101 {X-A: 1, Connection: Upgrade, Upgrade: websocket}",
                "record: completed allow 101 up 0 down 0",
            ]),
        Scenario(
            name: "a status that is not listed rejects the switch",
            policy: "routes: [{name: a, response: {status: [200]}}]", request: offer,
            events: [.begin, .switched(["Upgrade": "websocket"])],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < 502",
                "client < problem response-status: Request failed: switching protocols (101), expected 200",
                "client < end",
                "record: failed reject 502 up 0 down 0 response-status",
            ]),
        Scenario(
            name: "a status that is not listed marks the switch",
            policy: "routes: [{name: a, response: {status: [200], on_violation: report}}]", request: offer,
            events: [.begin, .switched(["Upgrade": "websocket"])],
            expected: [
                "origin < GET http://a.test/chat offering websocket",
                "client < relay 101 {Pintle-Violation: response-status, Connection: Upgrade, Upgrade: websocket}",
                "record: completed allow 101 up 0 down 0 response-status",
            ]),
        Scenario(
            name: "nothing is offered where bodies are looked at",
            policy: "routes: [{name: a, response: {body: json}}]", request: offer,
            events: [.begin, .head(204), .originEnds],
            expected: [
                "origin < GET http://a.test/chat",
                "client < 204",
                "client < end",
                "record: completed allow 204 up 0 down 0",
            ]),
    ]

    @Test(arguments: Self.tunnels + Self.upgrades)
    func `connections are handed over`(scenario: Scenario) async throws { try await scenario.perform() }
}
