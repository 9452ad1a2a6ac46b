// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Findings of a probe if no handshake succeeds.
@Suite struct ProbeFailureTests {
    private let stage: ProbeStage

    init() throws { self.stage = try ProbeStage(trusting: TestPKI().root()) }

    @Test func `nothing listens there`() async throws {
        let result = try await self.stage.probe(port: FreePort.find())
        #expect(result.failure == .refused)
        #expect(result.presented.isEmpty && result.verdict == nil)
    }

    @Test func `plain text is told from TLS by its first byte, and quoted without what steers terminals`() async throws
    {
        let server = try RawOrigin { connection in
            try connection.send("HTTP/1.1 400 Bad \"Request\"\r\n\u{1B}[2J")
            _ = try connection.waitForEnd()
        }
        let failure = try #require(try await self.stage.probe(port: server.port).failure)
        #expect(
            "\(failure)" == "it does not speak TLS: it answered \"HTTP/1.1 400 Bad .Request....[2J\"")
    }

    @Test func `a server that never answers is given up at the time limit, and holds up nobody else`() async throws {
        let silent = try RawOrigin { connection in _ = try connection.waitForEnd() }
        async let slow = self.stage.probe(port: silent.port, timeLimit: .milliseconds(300))
        let refused = try await self.stage.probe(port: FreePort.find())
        #expect(refused.failure == .refused)
        let result = try await slow
        #expect(result.failure == .timedOut(.handshaking))
        #expect(result.duration >= .milliseconds(300))
    }

    @Test func `a server that closes within the handshake`() async throws {
        // The head of a record that announces 90 bytes, and two of them.
        let server = try RawOrigin { connection in try connection.send("\u{16}\u{03}\u{03}\u{00}\u{5A}ab") }
        let result = try await self.stage.probe(port: server.port)
        // The kernel resets a connection that is closed with a hello unread.
        #expect([.handshake(.closed(afterBytes: 7)), .reset(afterBytes: 7)].contains(result.failure))
    }

    @Test func `a server that sends records without end`() async throws {
        let server = try RawOrigin { connection in
            // Handshake records of an unknown type.
            let record = "\u{16}\u{03}\u{03}\u{00}\u{04}\u{63}\u{00}\u{00}\u{00}"
            while true { try connection.send(String(repeating: record, count: 1000)) }
        }
        guard case .handshake(.misbehaved(let reason)) = try await self.stage.probe(port: server.port).failure else {
            Issue.record("it was not noticed")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test func `cancelling ends a probe`() async throws {
        let silent = try RawOrigin { connection in _ = try connection.waitForEnd() }
        let task = Task { try await self.stage.probe(port: silent.port) }
        while silent.connections.isEmpty { await Task.yield() }
        task.cancel()
        #expect(try await task.value.failure == .cancelled)
        try silent.waitUntilQuiet()
    }

    @Test func `a probe that was cancelled before it began does not connect`() async throws {
        let silent = try RawOrigin { connection in _ = try connection.waitForEnd() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await self.stage.probe(port: silent.port)
        }
        #expect(try await task.value.failure == .cancelled)
        #expect(silent.connections.isEmpty)
    }

    @Test func `a device that is not there`() async throws {
        let failure = try await self.stage.probe(port: 1, interface: "pintle-none").failure
        guard case .local(let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.hasPrefix("the device pintle-none: "))
    }

    @Test func `names are resolved to every address, and addresses to themselves`() async throws {
        let loop = self.stage.loop
        func addresses(_ host: String) async throws -> [String?] {
            try await HostResolver.addresses(of: host, port: 443, within: .seconds(60), on: loop).map(\.ipAddress)
        }
        #expect(try await addresses("localhost").contains("127.0.0.1"))
        #expect(try await addresses("::1") == ["::1"])
        #expect(try await addresses("127.0.0.9") == ["127.0.0.9"])
        await #expect(throws: HostResolver.Failure.self) { try await addresses("no-such-name.invalid") }
    }
}
