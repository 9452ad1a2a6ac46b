// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleTesting
import Testing

@testable import PintleSession

/// Negotiate without Kerberos.
@Suite(.timeLimit(.minutes(15))) struct NegotiateTests {
    private func stage(_ hooks: RecordedHooks) throws -> SessionStage { try SessionStage(hooks: hooks) }

    @Test func `where the library is missing, what to install is said`() {
        let error = #expect(throws: SessionError.self) { try NegotiateContext(host: "a.example", library: nil) }
        #expect(error?.code == .cannotSend)
        #expect(error?.message.contains("install libgssapi-krb5-2 (Debian, Ubuntu)") == true)
    }

    @Test(.enabled(if: GSSLibrary.shared != nil, "libgssapi-krb5-2 is not installed"))
    func `without a ticket the task fails, and says how to get one`() async throws {
        let origin = try origin { _ in answer(401, ["WWW-Authenticate: Negotiate"]) }
        let stage = try self.stage(RecordedHooks { $0.challenge = { _ in .negotiate } })
        // A host that no key distribution centre knows, should there be one.
        let error = try #require(await stage.failure(of: request(origin.port)))
        #expect(error.code == .cannotSend && error.message.contains("kinit") && error.cause?.isEmpty == false)
        #expect(origin.requests.count == 1)
    }

    @Test func `other schemes are not answered by it`() async throws {
        let origin = try origin { _ in answer(401, ["WWW-Authenticate: Bearer, Basic realm=\"r\""]) }
        let hooks = RecordedHooks { $0.challenge = { _ in .negotiate } }
        #expect(try await self.stage(hooks).data(for: request(origin.port)).status == 401)
        #expect(hooks.challenges.current.map(\.scheme) == ["bearer", "basic"] && origin.requests.count == 1)
    }

    @Test(.enabled(if: GSSLibrary.shared != nil, "libgssapi-krb5-2 is not installed"))
    func `a token that is no base64 is the server's fault`() throws {
        let context = try NegotiateContext(host: "a.example")
        let error = #expect(throws: SessionError.self) { try context.authorization(answering: "…") }
        #expect(error?.code == .malformedResponse)
    }
}

private let negotiatePort = ProcessInfo.processInfo.environment["PINTLE_NEGOTIATE_PORT"].flatMap { Int($0) }

/// Negotiate with the Kerberos and the Apache that `scripts/negotiate` starts.
@Suite(
    .timeLimit(.minutes(15)),
    .enabled(if: negotiatePort != nil, "scripts/negotiate starts what these tests need"))
struct NegotiateServerTests {
    private func request(_ method: String = "GET", host: String = "localhost", path: String = "/") throws
        -> SessionRequest
    {
        try SessionRequest(method, "http://\(host):\(try #require(negotiatePort))\(path)")
    }

    @Test func `the user of a ticket is let in`() async throws {
        let hooks = RecordedHooks { $0.challenge = { _ in .negotiate } }
        let stage = try SessionStage(hooks: hooks)
        let result = try await stage.data(for: self.request())
        #expect(result.status == 200 && result.text == "inside\n")
        #expect(result.response.fields["X-User"] == "alice@PINTLE.TEST")
        #expect(hooks.challenges.current.map(\.scheme) == ["negotiate"])
        #expect(result.metrics.transactions.count == 2)
    }

    @Test func `many are let in at the same time`() async throws {
        let hooks = RecordedHooks { $0.challenge = { _ in .negotiate } }
        let stage = try SessionStage(hooks: hooks)
        try await withThrowingTaskGroup(of: UInt16.self) { group in
            for _ in 0..<20 { group.addTask { try await stage.data(for: self.request()).status } }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test func `a service that is not known fails the task, in the words of Kerberos`() async throws {
        let stage = try SessionStage(hooks: RecordedHooks { $0.challenge = { _ in .negotiate } })
        let error = try #require(await stage.failure(of: self.request(host: "127.0.0.1")))
        #expect(error.code == .cannotSend && error.cause?.contains("not found in Kerberos database") == true)
    }

    @Test func `a server that takes no ticket is not asked for ever, and a redirect carries none along`() async throws {
        let stubborn = try origin { _ in answer(401, ["WWW-Authenticate: Negotiate"]) }
        let hooks = RecordedHooks { $0.challenge = { $0.previousFailureCount == 0 ? .negotiate : .reject } }
        let stage = try SessionStage(hooks: hooks)
        let url = "http://localhost:\(stubborn.port)/"
        #expect(try await stage.data(for: SessionRequest("GET", url)).status == 401)
        #expect(stubborn.requests.map { $0["Authorization"]?.hasPrefix("Negotiate YI") } == [nil, true])
        let fickle = try origin { request in
            if request.target == "/there" { return answer(200, [], request["Authorization"] ?? "none") }
            guard request["Authorization"] != nil else { return answer(401, ["WWW-Authenticate: Negotiate"]) }
            return answer(302, ["Location: /there"])
        }
        let result = try await stage.data(for: SessionRequest("GET", "http://localhost:\(fickle.port)/"))
        #expect(result.text == "none")
    }

    @Test func `what a server answers to a ticket that does not belong to it is a refusal`() async throws {
        for token in ["oRQwEqADCgEA", "AAAA", "!"] {
            let site = try origin { request in
                answer(401, ["WWW-Authenticate: Negotiate\(request["Authorization"] == nil ? "" : " \(token)")"])
            }
            let hooks = RecordedHooks { $0.challenge = { $0.previousFailureCount == 0 ? .negotiate : .reject } }
            let stage = try SessionStage(hooks: hooks)
            let result = try await stage.data(for: SessionRequest("GET", "http://localhost:\(site.port)/"))
            // A challenge that the grammar does not allow is none.
            let failures = token == "!" ? [0] : [0, 1]
            #expect(result.status == 401 && hooks.challenges.current.map(\.previousFailureCount) == failures)
            #expect(site.requests.count == 2)
        }
    }

    @Test func `without the hook's word nothing is said`() async throws {
        let result = try await SessionStage().data(for: self.request())
        #expect(result.status == 401 && result.metrics.transactions.count == 1)
    }
}
