// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Everything that can come while a tunnel opens.
struct TunnelMatrixTests {
    static let connecting = State(
        name: "while a tunnel connects",
        request: TunnelScenarioTests.connect,
        prelude: [.begin],
        rows: [
            Row(
                "it is connected", [.connected],
                [
                    "client < relay 200",
                    "record: completed allow 200 up 0 down 0",
                ]),
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .clientCaughtUp, .connected],
                [
                    "origin paused",
                    "origin reads on",
                    "client < relay 200",
                    "record: completed allow 200 up 0 down 0",
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "origin cancelled",
                    "record: left allow up 0 down 0",
                ]),
            Row(
                "the client fails", [.clientFails(Problem(.requestTimeout, "too late"))],
                [
                    "origin cancelled",
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 0 down 0",
                ]),
            Row(
                "the name is not found", [.originFails(.dnsFailure, "no a.test")],
                [
                    "client < 502",
                    "client < problem dns-failure: no a.test",
                    "client < end",
                    "record: failed error 502 up 0 down 0",
                ]),
            Row(
                "it takes too long", [.originFails(.connectTimeout, "silent")],
                [
                    "client < 504",
                    "client < problem connect-timeout: silent",
                    "client < end",
                    "record: failed error 504 up 0 down 0",
                ]),
            Row(
                "the address is denied", [.originFails(.addressDenied, "not there")],
                [
                    "client < 403",
                    "client < problem destination-denied: not there",
                    "client < end",
                    "record: failed deny 403 up 0 down 0",
                ]),
            Row(
                "the turn ends", [.turn],
                [
                    "origin cancelled",
                    "record: left allow up 0 down 0",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [.reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .connected],
                [
                    "client < relay 200",
                    "record: completed allow 200 up 0 down 0",
                ]),
        ])

    static let connectingToProve = State(
        name: "while a tunnel connects that must be proved",
        policy: "tunnels: {verify: [a.test]}",
        request: TunnelScenarioTests.connect,
        prelude: [.begin],
        settings: .init(hasListener: true),
        rows: [
            Row(
                "it was proved before", [.isProved(true), .connected],
                [
                    "client < relay 200, watched",
                    "record: completed allow 200 up 0 down 0",
                ]),
            Row(
                "it has failed before", [.isProved(false), .connected],
                [
                    "client < 502",
                    "client < problem pin-mismatch: no pin",
                    "client < end",
                    "record: failed reject 502 up 0 down 0 pin-mismatch",
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "origin cancelled",
                    "record: left allow up 0 down 0",
                ]),
            Row(
                "it takes too long", [.originFails(.connectTimeout, "silent")],
                [
                    "client < 504",
                    "client < problem connect-timeout: silent",
                    "client < end",
                    "record: failed error 504 up 0 down 0",
                ]),
        ])

    static let proving = State(
        name: "while a tunnel is proved",
        // A proof is made over a real connection, and a busy machine may take its time for it.
        policy: """
            routes: [{name: patient, match: {hosts: [a.test]}, connect: verify, request: {connect_timeout: 5m}}]
            """,
        request: TunnelScenarioTests.connect,
        prelude: [.begin, .connected],
        settings: .init(hasListener: true),
        rows: [
            Row(
                "the connection breaks", [.listenerBreaks, .until("client < end")],
                [
                    "client < 502",
                    "client < problem tls-failure: a.test:443 cannot be verified before the tunnel opens",
                    "client < end",
                    "record: failed error 502 up 0 down 0",
                ]),
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .clientCaughtUp],
                [
                    "record: left allow up 0 down 0"
                ]),
            Row(
                "the client leaves", [.clientLeft, .listenerBreaks, .gone],
                [
                    "record: left allow up 0 down 0"
                ]),
            Row(
                "the client fails", [.clientFails(Problem(.requestTimeout, "too late")), .listenerBreaks, .gone],
                [
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 0 down 0",
                ]),
            Row(
                "the turn ends", [.turn],
                [
                    "record: left allow up 0 down 0"
                ]),
            Row(
                "another configuration comes and the worker drains",
                [.reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .listenerBreaks, .until("client < end")],
                [
                    "client < 502",
                    "client < problem tls-failure: a.test:443 cannot be verified before the tunnel opens",
                    "client < end",
                    "record: failed error 502 up 0 down 0",
                ]),
        ])

    @Test(arguments: [Self.connecting, Self.connectingToProve, Self.proving].flatMap(\.scenarios))
    func `while a tunnel opens every event has its outcome`(scenario: Scenario) async throws {
        try await scenario.perform()
    }
}
