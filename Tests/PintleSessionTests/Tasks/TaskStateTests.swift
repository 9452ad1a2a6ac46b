// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The states of a task, the events that change them, and the lists that have the task.
@Suite(.timeLimit(.minutes(15))) struct TaskStateTests {
    /// Performs the actions that a program can apply to a task.
    private static func steer(_ task: SessionTask) {
        task.suspend()
        task.resume()
        task.cancel()
    }

    @Test func `a task is suspended until it is resumed, and nothing happens before`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        let other = try stage.session.dataTask(request(origin.port))
        #expect(task.state == .suspended && task.response == nil && task.error == nil)
        #expect(task.progress.sent == 0 && task.metrics.transactions.isEmpty)
        other.resume()
        _ = try await other.value()
        #expect(task.state == .suspended && origin.connections.count == 1)
        task.resume()
        #expect(try await task.value().text == "done")
        #expect(task.state == .completed && task.response?.status == 200 && task.error == nil)
    }

    @Test func `a task that has ended stays as it is`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        _ = try await task.value()
        Self.steer(task)
        #expect(task.state == .completed && task.error == nil)
        #expect(await task.cancelKeepingPart() == nil)
        #expect(try await task.value().text == "done" && origin.requests.count == 1)
    }

    @Test func `resuming twice and suspending twice is as good as once`() async throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "leave to answer") { $0 }
            try connection.send(response("done"))
        }
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        task.suspend()
        #expect(task.state == .suspended)
        task.resume()
        task.resume()
        #expect(task.state == .running)
        try await origin.reachRequests(1)
        task.suspend()
        task.suspend()
        #expect(task.state == .suspended)
        mayAnswer.change { $0 = true }
        task.resume()
        #expect(try await task.value().text == "done" && origin.requests.count == 1)
    }

    @Test func `a suspended task reads nothing, and holds its origin back`() async throws {
        let total = 16 << 20
        let (sent, isSuspended) = (Watched(0), Watched(false))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let block = [UInt8](repeating: 7, count: 1 << 16)
            for _ in 0..<(total >> 16) {
                try connection.stream.send(block)
                sent.change { $0 += block.count }
            }
        }
        let hooks = RecordedHooks { answers in
            // At the head, before any byte of the body can come.
            answers.response = { task, _ in
                task.suspend()
                isSuspended.change { $0 = true }
                return .allow
            }
        }
        let stage = try SessionStage(hooks: hooks)
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        try await isSuspended.reach("the head") { $0 }
        try await stage.waitUntilStill(sent)
        #expect(sent.current < total, "the session took the whole body from the origin")
        #expect(task.state == .suspended && task.progress.received == 0)
        task.resume()
        #expect(try await task.value().body.readableBytes == total)
    }

    @Test func `LOOK-58 a suspended upload sends nothing more`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let (stream, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
        let hooks = RecordedHooks()
        let stage = try SessionStage(hooks: hooks)
        let source = UploadSource.stream(BodyStream(stream))
        let task = try stage.session.uploadTask(request(origin.port, method: "PUT"), from: source)
        task.resume()
        feed.yield(ByteBuffer(string: "first"))
        try await hooks.sentCount.reach("the first piece to be sent") { $0 == 5 }
        task.suspend()
        feed.yield(ByteBuffer(repeating: 7, count: 1 << 20))
        feed.yield(ByteBuffer(string: "last"))
        feed.finish()
        try await stage.waitForTimeout(500)
        #expect(hooks.sentCount.current <= 70_000)
        task.resume()
        _ = try await task.value()
        #expect(origin.requests.first?.body.count == (1 << 20) + 9)
    }

    @Test func `a task that is cancelled before it was resumed ends without a connection`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        task.cancel()
        #expect([.cancelling, .completed].contains(task.state))
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(task.state == .completed && task.error?.code == .cancelled && stage.session.tasks.isEmpty)
        Self.steer(task)
        #expect(task.state == .completed && origin.connections.isEmpty)
    }

    @Test func `TDL-01 a suspended task can be cancelled too`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
            _ = try connection.waitForEnd()
        }
        let hooks = RecordedHooks()
        let stage = try SessionStage(hooks: hooks)
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        try await hooks.received.reach("the first bytes") { !$0.isEmpty }
        task.suspend()
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `everybody who waits for a task is told`() async throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "leave to answer") { $0 }
            try connection.send(response("done"))
        }
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await task.value().text } }
            // Ending a wait ends nothing else.
            let impatient = Task { try await task.value() }
            impatient.cancel()
            mayAnswer.change { $0 = true }
            for try await text in group { #expect(text == "done") }
        }
    }

    @Test func `SES-05 SES-06 every task has a number and a request of its own`() async throws {
        let stage = try SessionStage()
        let asked = (1...3).map { request($0, "/\($0)") }
        let tasks = try asked.map { try stage.session.dataTask($0) }
        #expect(tasks.map(\.id) == [1, 2, 3] && tasks.map(\.originalRequest) == asked)
        #expect(try SessionStage().session.dataTask(asked[0]).id == 1)
        for task in tasks { task.cancel() }
    }

    @Test func `SES-09 SES-38 tasks are listed by kind until they have ended`() async throws {
        let stage = try SessionStage()
        let session = stage.session
        let asked = request(1)
        let download = try session.downloadTask(asked, to: .temporary)
        let upload = try session.uploadTask(asked, from: .bytes(ByteBuffer()))
        let second = try session.uploadTask(asked, from: nil)
        let data = try session.dataTask(asked)
        #expect(session.tasks.map(\.id) == [data, upload, second, download].map(\.id))
        #expect(session.dataTasks.map(\.id) == [data.id] && session.downloadTasks.map(\.id) == [download.id])
        #expect(session.uploadTasks.map(\.id) == [upload.id, second.id])
        #expect([data.kind, upload.kind, download.kind] == [.data, .upload, .download])
        upload.cancel()
        _ = try? await upload.value()
        #expect(session.tasks.map(\.id) == [data, second, download].map(\.id))
        await session.invalidateAndCancel()
        #expect(session.tasks.isEmpty)
    }

    @Test func `TDL-08 a transport error is the task's, and what had arrived of the response is still there`()
        async throws
    {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
        }
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        #expect(await sessionError { _ = try await task.value() }?.code == .truncated)
        #expect(task.error?.code == .truncated && task.response?.status == 200 && task.progress.received == 4)
    }

    @Test(arguments: [204, 404, 500])
    func `TDL-09 TDL-20 any complete response is a data task's result`(status: Int) async throws {
        let nginx = try NginxOrigin()
        let result = try await SessionStage().data(for: request(nginx.httpPort, "/status/\(status)"))
        #expect(result.status == UInt16(status) && (result.body.readableBytes == 0) == (status == 204))
    }

    @Test func `a response that is longer than the limit is an error that says what to do`() async throws {
        let origin = try RawOrigin(answering: response("0123456789"))
        var configuration = SessionConfiguration()
        configuration.bodyLimit = 9
        let stage = try SessionStage(configuration: configuration)
        let error = await stage.failure(of: request(origin.port))
        #expect(error?.code == .tooLarge && error?.message.contains("raise bodyLimit") == true)
        #expect(stage.session.runningTransfers() == 0)
    }
}
