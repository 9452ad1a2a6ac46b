// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// The time limits of a session, and the events that each of them waits for.
@Suite(.timeLimit(.minutes(15))) struct TimeoutTests {
    /// An origin that takes a request and says `beginning`, then nothing more.
    private func silent(_ beginning: String = "") throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(beginning)
            _ = try connection.waitForEnd()
        }
    }

    @Test func `a handshake that does not come to an end is a connect time-out`() async throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        var configuration = SessionConfiguration()
        configuration.connectTimeout = .milliseconds(300)
        let stage = try SessionStage(configuration: configuration)
        let error = await stage.failure(of: request(origin.port, scheme: .https))
        #expect(error?.code == .connectTimeout)
        #expect(error?.message == "no connection to 127.0.0.1:\(origin.port) within 300 ms")
        var asked = request(origin.port, scheme: .https)
        asked.connectTimeout = .milliseconds(100)
        #expect(await stage.failure(of: asked)?.message.hasSuffix("within 100 ms") == true)
    }

    @Test func `requests that wait for one handshake name the whole time that they had`() async throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        var configuration = SessionConfiguration()
        configuration.connectTimeout = .milliseconds(300)
        let stage = try SessionStage(configuration: configuration)
        let tasks = try (0..<3).map { _ in try stage.session.dataTask(request(origin.port, scheme: .https)) }
        for task in tasks { task.resume() }
        for task in tasks {
            let error = await sessionError { _ = try await task.value() }
            #expect(error?.code == .connectTimeout)
            #expect(error?.message == "no connection to 127.0.0.1:\(origin.port) within 300 ms")
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome"])
    func `a server that falls silent is a time-out`(beginning: String) async throws {
        let origin = try self.silent(beginning)
        var configuration = SessionConfiguration()
        configuration.timeout = .milliseconds(200)
        let stage = try SessionStage(configuration: configuration)
        let error = await sessionError {
            _ = try await stage.data(for: SessionRequest("GET", "http://127.0.0.1:\(origin.port)/"))
        }
        #expect(error?.code == .timeout && error?.message == "127.0.0.1:\(origin.port) was silent for 200 ms")
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `a request's own patience goes before the configuration's`() async throws {
        let origin = try self.silent()
        let stage = try SessionStage()
        let error = await stage.failure(of: request(origin.port, timeout: .milliseconds(150)))
        #expect(error?.code == .timeout && error?.message.hasSuffix("for 150 ms") == true)
    }

    @Test func `a body that does not come is no silence of the server`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let (stream, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
        let stage = try SessionStage()
        let upload = request(origin.port, method: "PUT", timeout: .milliseconds(150))
        let task = try stage.session.uploadTask(upload, from: .stream(BodyStream(stream)))
        task.resume()
        // Waits as long as another task needs to time out twice.
        let silent = try self.silent()
        for _ in 0..<2 {
            let error = await stage.failure(of: request(silent.port, timeout: .milliseconds(150)))
            #expect(error?.code == .timeout)
        }
        #expect(task.state == .running)
        feed.yield(ByteBuffer(string: "at last"))
        feed.finish()
        #expect(try await task.value().text == "done" && origin.requests.first?.text == "at last")
    }

    @Test func `a task as a whole has its time, however busy its server is`() async throws {
        let isOver = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while (try? isOver.wait(for: "the end", seconds: 0.01) { $0 }) == nil { try connection.send("1\r\nx\r\n") }
        }
        defer { isOver.change { $0 = true } }
        var configuration = SessionConfiguration()
        configuration.resourceTimeout = .milliseconds(300)
        let stage = try SessionStage(configuration: configuration)
        let error = await stage.failure(of: request(origin.port))
        #expect(error?.code == .timeout && error?.message.contains("the task was not done") == true)
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `the time of a task runs through redirects`() async throws {
        let origin = try origin { _ in answer(302, ["Location: /again"]) }
        var configuration = SessionConfiguration()
        configuration.resourceTimeout = .milliseconds(200)
        configuration.redirectLimit = .max
        let stage = try SessionStage(configuration: configuration)
        #expect(await stage.failure(of: request(origin.port))?.code == .timeout)
    }

    @Test func `while a task is suspended no time counts`() async throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "the task to be suspended") { $0 }
            try connection.send(response("done"))
        }
        let silent = try self.silent()
        var configuration = SessionConfiguration()
        // Ample for one request on a busy machine, and used up by the task that waits.
        configuration.resourceTimeout = .seconds(4)
        let stage = try SessionStage(configuration: configuration)
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        task.suspend()
        // Another task uses all of its time up, after this one was suspended.
        #expect(await stage.failure(of: request(silent.port))?.code == .timeout)
        #expect(task.state == .suspended)
        mayAnswer.change { $0 = true }
        task.resume()
        #expect(try await task.value().text == "done")
    }

    @Test(arguments: [true, false])
    func `waiting for a connection is no silence of the server`(keeps: Bool) async throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try mayAnswer.wait(for: "leave to answer") { $0 }
                try connection.send(response("done", fields: keeps ? "" : "Connection: close\r\n"))
            }
        }
        var configuration = SessionConfiguration()
        configuration.connectionsPerHost = 1
        // The connect timeout does not apply to a waiting task, either.
        configuration.connectTimeout = .milliseconds(200)
        let stage = try SessionStage(configuration: configuration)
        let first = try stage.session.dataTask(request(origin.port))
        first.resume()
        try await origin.reachRequests(1)
        let waiting = try stage.session.dataTask(request(origin.port, timeout: .milliseconds(300)))
        waiting.resume()
        let silent = try self.silent()
        for _ in 0..<3 {
            let error = await stage.failure(of: request(silent.port, timeout: .milliseconds(300)))
            #expect(error?.code == .timeout)
        }
        mayAnswer.change { $0 = true }
        #expect(try await first.value().text == "done")
        #expect(try await waiting.value().text == "done")
    }

    @Test func `waiting for a connection takes nothing of the time for making it`() async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let nginx = try NginxOrigin(https: [pki.leaf(ip: ["127.0.0.1"], signedBy: root)])
        try nginx.serve([1], as: "big")
        try nginx.growServed("big", to: 64 << 20)
        var configuration = SessionConfiguration()
        configuration.connectionsPerHost = 1
        configuration.httpVersion = .http1
        configuration.connectTimeout = .milliseconds(500)
        let stage = try SessionStage(
            policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])), configuration: configuration)
        let first = try await stage.session.stream(request(nginx.httpsPort, "/files/big", scheme: .https))
        let waiting = try stage.session.dataTask(request(nginx.httpsPort, "/hello", scheme: .https))
        waiting.resume()
        let silent = try self.silent()
        for _ in 0..<4 { _ = await stage.failure(of: request(silent.port, timeout: .milliseconds(300))) }
        first.task.cancel()
        #expect(try await waiting.value().text == "hello\n")
    }

    @Test func `connecting has a time-out of its own, however short the other is`() async throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        var asked = request(origin.port, scheme: .https, timeout: .milliseconds(50))
        asked.connectTimeout = .milliseconds(300)
        #expect(await (try SessionStage()).failure(of: asked)?.code == .connectTimeout)
    }

    @Test(arguments: [1 << 20, 1000])
    func `the rest of a redirection is not waited for`(length: Int) async throws {
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            if request.target == "/there" { return try connection.send(response("there")) }
            try connection.send("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: \(length)\r\n\r\nsome")
            _ = try connection.waitForEnd()
        }
        let stage = try SessionStage()
        #expect(try await stage.data(for: request(origin.port, timeout: .seconds(600))).text == "there")
    }
}
