// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleSession
import Testing

@testable import PintleProxy

/// Calls that no stream makes: every state of an exchange traps on them, with a message that begins with `BUG:`.
struct TrapTests {
    /// Names a state and the call in it, since a child process cannot be given a closure.
    static let bugs = [
        "a body comes that nobody takes", "a body ends twice", "a head comes without an origin", "a second head comes",
        "an interim response follows a head", "a body comes without a head", "trailers come without a head",
        "a response ends that has not begun", "a connection comes that nobody asked for", "it is over and ends again",
    ]

    static func provoke(_ bug: String) async throws {
        let admitting = AdmissionScenarioTests.users
        let waits = PassingTests.post + [AdmissionScenarioTests.right]
        let head = ResponseHead(status: 200)
        switch bug {
        case "a body comes that nobody takes":
            try await Self.play(admitting, waits, []) { $0.received(ByteBuffer(string: "x")) }
        case "a body ends twice": try await Self.play("", nil, []) { $0.receivedEndOfBody(trailers: Fields()) }
        case "a head comes without an origin":
            try await Self.play(admitting, waits, []) { $0.originAnswered(head, length: 0) }
        case "a second head comes":
            try await Self.play("", nil, [.head(200)]) { $0.originAnswered(head, length: 0) }
        case "an interim response follows a head":
            try await Self.play("", nil, [.head(200)]) { $0.originSent(interim: ResponseHead(status: 103)) }
        case "a body comes without a head":
            try await Self.play("", nil, []) { exchange in [1].withUnsafeBytes { exchange.originSent($0) } }
        case "trailers come without a head": try await Self.play("", nil, []) { $0.originSent(trailers: ["A": "b"]) }
        case "a response ends that has not begun":
            try await Self.play("", nil, []) { $0.originEnded(nil, TransferMetrics()) }
        case "a connection comes that nobody asked for":
            try await Self.play(admitting, waits, []) {
                $0.originHandedOver(ConnectionHandoff(connection: EstablishedConnection(socket: -1)), TransferMetrics())
            }
        default:
            try await Self.play("", nil, [.head(200, [:], 0), .originEnds]) { $0.refuse(Problem(.badRequest, "")) }
        }
    }

    private static func play(
        _ policy: String, _ request: [String]?, _ events: [Event], _ bug: @escaping @Sendable (Exchange) -> Void
    ) async throws {
        let scenario = Scenario(
            name: "", policy: policy, request: request ?? ["GET http://a.test/"], events: [.begin] + events)
        try await ExchangeStage(scenario).provoke(bug)
    }

    @Test(arguments: Self.bugs)
    func `what cannot be traps`(bug: String) async {
        await #expect(processExitsWith: .failure) { [bug] in try await TrapTests.provoke(bug) }
    }
}
