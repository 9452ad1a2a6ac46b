// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Failures between this machine and an origin, each with its own code.
@Suite(.timeLimit(.minutes(15))) struct SessionErrorTests {
    let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    private func code(_ sent: SessionRequest) async -> SessionError.Code? {
        await sessionError { _ = try await self.stage.fetch(sent) }?.code
    }

    /// An origin that reads a request, sends bytes and closes.
    private func origin(sending bytes: String) throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(bytes)
        }
    }

    @Test func `a name that does not resolve is dnsFailure`() async throws {
        #expect(await self.code(request(80, host: "no-such-host.invalid")) == .dnsFailure)
    }

    @Test func `a port where nobody listens is connectionRefused`() async throws {
        #expect(await self.code(request(try FreePort.find())) == .connectionRefused)
    }

    @Test func `silence before the head is timeout`() async throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        #expect(await self.code(request(origin.port, timeout: .milliseconds(200))) == .timeout)
    }

    @Test func `silence within the body is timeout`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
            _ = try connection.waitForEnd()
        }
        #expect(await self.code(request(origin.port, timeout: .milliseconds(200))) == .timeout)
    }

    @Test func `LOOK-58 silence of the reader is no silence of the origin`() async throws {
        let origin = try RawOrigin(answering: response(String(repeating: "x", count: 1 << 20)))
        let response = try await self.stage.session.stream(request(origin.port, timeout: .milliseconds(300)))
        // Another request has a time limit of the same length that begins later, and ends by it.
        try await self.stage.waitForTimeout(300)
        var count = 0
        for try await piece in response.body { count += piece.readableBytes }
        #expect(count == 1 << 20)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ])
    func `a body that is cut is truncated`(bytes: String) async throws {
        let origin = try self.origin(sending: bytes)
        #expect(await self.code(request(origin.port)) == .truncated)
    }

    @Test func `an origin that closes without a word has broken the connection`() async throws {
        let origin = try self.origin(sending: "")
        #expect(await self.code(request(origin.port)) == .connectionBroken)
    }

    @Test(arguments: [
        "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nX Y: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    ])
    func `what is not HTTP is malformedResponse`(bytes: String) async throws {
        let origin = try self.origin(sending: bytes)
        #expect(await self.code(request(origin.port)) == .malformedResponse)
    }

    @Test func `a TLS handshake with something else is tlsFailure`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.stream.readSome()
            try connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        #expect(await self.code(request(origin.port, scheme: .https, host: "localhost")) == .tlsFailure)
    }

    @Test func `after every failure the session goes on`() async throws {
        let bad = try self.origin(sending: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
        let good = try RawOrigin(answering: response("done"))
        for _ in 0..<20 {
            #expect(await self.code(request(bad.port)) == .truncated)
            #expect(try await self.stage.fetch(request(good.port)).text == "done")
        }
        #expect(self.stage.session.runningTransfers() == 0)
    }
}
