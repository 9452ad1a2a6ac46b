// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSession
import PintleSessionTesting
import PintleTesting
import Testing

private typealias Origin = PintleSessionTesting.ScriptedOrigin

/// Waiting for requests, the end of an origin, and behaviour that only a client on raw sockets can see.
@Suite(.timeLimit(.minutes(5))) struct ScriptedOriginLifeTests {
    @Test func `who waits for requests gets them when they have come`() async throws {
        let origin = try Origin { _ in .text("x") }
        async let came = origin.requests(count: 2)
        let api = try HTTPSession(base: origin.url)
        _ = try await api.get("a")
        _ = try await api.get("b")
        #expect(try await came.map(\.target) == ["/a", "/b"])
        #expect(try await origin.requests(count: 1).count == 2)
    }

    @Test func `waiting ends with its task and with the origin`() async throws {
        let origin = try Origin { _ in .text("x") }
        let waiting = Task { try await origin.requests(count: 1) }
        waiting.cancel()
        let cancelled = await #expect(throws: ScriptedOriginError.self) { try await waiting.value }
        #expect(cancelled?.code == .cancelled)
        let other = Task { try await origin.requests(count: 1) }
        await origin.stop()
        let stopped = await #expect(throws: ScriptedOriginError.self) { try await other.value }
        #expect(stopped?.code == .stopped)
        #expect(stopped?.message == "the origin ended when 0 of 1 requests had come")
    }

    @Test func `an origin that stops ends what is under way, and its port refuses`() async throws {
        let origin = try Origin { _ in .never }
        let api = try HTTPSession(base: origin.url)
        let waiting = Task { try await api.post("x") }
        _ = try await origin.requests(count: 1)
        await origin.stop()
        await #expect(throws: SessionError.self) { try await waiting.value }
        var refused = try await #require(throws: SessionError.self) { try await api.post("x") }
        while refused.code == .connectionBroken {
            // A child that another test has just forked holds the listener until it executes its program.
            refused = try await #require(throws: SessionError.self) { try await api.post("x") }
        }
        #expect(refused.code == .connectionRefused)
        #expect(origin.requests.count == 1)
        await origin.stop()
    }

    @Test func `an origin that is let go closes its connections`() async throws {
        try await onThread {
            var origin: Origin? = try Origin { _ in .text("x") }
            let client = try SocketStream(port: try #require(origin).port)
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse().text == "x")
            origin = nil
            #expect(try client.readToEnd().bytes.isEmpty)
        }
    }

    @Test func `the task of an answer is cancelled when the client goes`() async throws {
        let (ended, end) = AsyncStream<Void>.makeStream()
        let origin = try Origin { _ in
            let (never, held) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            held.finish()
            end.yield()
            return .text("late")
        }
        let client = try SocketStream(port: origin.port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await origin.requests(count: 1)
        client.close()
        var ends = ended.makeAsyncIterator()
        #expect(await ends.next() != nil)
    }

    @Test func `a client that waits with its body is told to go on`() async throws {
        try await onThread {
            let origin = try Origin { .text($0.text) }
            let client = try SocketStream(port: origin.port)
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            #expect(try client.readHead().status == 100)
            #expect(origin.requests.isEmpty)
            try client.send("abc")
            #expect(try client.readResponse().text == "abc")
        }
    }

    @Test func `requests that come together are answered in their order`() async throws {
        try await onThread {
            let origin = try Origin { .text($0.target) }
            let client = try SocketStream(port: origin.port)
            try client.send((1...20).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            for number in 1...20 { #expect(try client.readResponse().text == "/\(number)") }
        }
    }

    @Test func `a client of HTTP 1.0 gets pieces until the connection ends`() async throws {
        try await onThread {
            let origin = try Origin { _ in .chunks(["a", "b"]) }
            let client = try SocketStream(port: origin.port)
            try client.send("GET / HTTP/1.0\r\n\r\n")
            let text = String(decoding: try client.readToEnd().bytes, as: UTF8.self)
            #expect(text.hasSuffix("Connection: close\r\n\r\nab"))
        }
    }

    @Test func `what is no request is answered 400 and not recorded`() async throws {
        try await onThread {
            let origin = try Origin { _ in .text("x") }
            let client = try SocketStream(port: origin.port)
            try client.send("this is no request\r\n\r\n")
            #expect(try client.readResponse().status == 400)
            #expect(origin.requests.isEmpty && origin.connectionCount == 1)
        }
    }
}

/// Runs blocking work on a separate thread: a task that blocked would take a thread from the origin that it waits for.
private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        Thread.detachNewThread { done.resume(with: Result { try body() }) }
    }
}
