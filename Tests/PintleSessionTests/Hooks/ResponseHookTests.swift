// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Hooks that get a response, and hooks that get a task's progress.
@Suite(.timeLimit(.minutes(15))) struct ResponseHookTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func `a response that the hook allows is the result, and the hook saw its head before any byte`() async throws
    {
        let origin = try RawOrigin(answering: answer(201, ["X-Test: 1"], "body"))
        let seen = Watched<ResponseHead?>(nil)
        let hooks = RecordedHooks { answers in
            answers.response = { task, head in
                seen.change { $0 = head }
                #expect(task.progress.received == 0 && task.response == head)
                return .allow
            }
        }
        let result = try await SessionStage(hooks: hooks).data(for: request(origin.port))
        #expect(result.status == 201 && result.text == "body" && seen.current?.fields["X-Test"] == "1")
    }

    @Test func `a response that the hook declines ends the task, and nobody reads its body`() async throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nsome")
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        let hooks = RecordedHooks { $0.response = { _, _ in .cancel } }
        let stage = try SessionStage(hooks: hooks)
        #expect(await stage.failure(of: request(origin.port))?.code == .cancelled)
        try await ended.reach("the connection to end") { $0 }
        #expect(hooks.calls.current == ["response", "metrics", "completed"])
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `what the response hook throws is behind the task's error`() async throws {
        let origin = try RawOrigin(answering: response("body"))
        let hooks = RecordedHooks { $0.response = { _, _ in throw Refusal(reason: "too old") } }
        let error = try await SessionStage(hooks: hooks).failure(of: request(origin.port))
        #expect(error?.code == .hookFailed && error?.underlying as? Refusal == Refusal(reason: "too old"))
        #expect(error?.message.contains("too old") == true)
    }

    @Test func `SES-40 a data task that becomes a download is the same task, and its bytes are in the file`()
        async throws
    {
        let bytes = [UInt8].pattern(500_000)
        let nginx = try NginxOrigin()
        try nginx.serve(bytes, as: "data")
        let path = "\(self.folder.path)/became"
        let hooks = RecordedHooks { $0.response = { _, _ in .becomeDownload(.file(path)) } }
        let stage = try SessionStage(hooks: hooks)
        let task = try stage.session.dataTask(request(nginx.httpPort, "/files/data"))
        let id = task.id
        let progress = task.progressStream
        task.resume()
        let result = try await task.value()
        #expect(result.file == path && result.body.readableBytes == 0 && fileBytes(path) == bytes)
        #expect(task.kind == .download && task.id == id)
        #expect(hooks.calls.current == ["response", "became", "wrote", "destination", "metrics", "completed"])
        var last: TaskProgress?
        for await step in progress { last = step }
        #expect(last?.fractionReceived == 1)
    }

    @Test func `SES-40 a task whose response is streamed cannot become a download`() async throws {
        let origin = try RawOrigin(answering: response("body"))
        let path = "\(self.folder.path)/never"
        let hooks = RecordedHooks { $0.response = { _, _ in .becomeDownload(.file(path)) } }
        let stage = try SessionStage(hooks: hooks)
        let error = await sessionError { _ = try await stage.fetch(request(origin.port)) }
        #expect(error?.code == .hookFailed && fileBytes(path) == nil)
    }

    @Test func `SES-42 SES-43 SES-44 the hook's place for a download goes before the task's own`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let (mine, own) = ("\(self.folder.path)/hook", "\(self.folder.path)/task")
        let hooks = RecordedHooks { $0.destination = { fileBytes($0) == Array("done".utf8) ? mine : nil } }
        let result = try await SessionStage(hooks: hooks).download(request(origin.port), to: .file(own))
        #expect(result.file == mine && fileBytes(mine) == Array("done".utf8) && fileBytes(own) == nil)
        let silent = try await SessionStage(hooks: RecordedHooks()).download(request(origin.port), to: .file(own))
        #expect(silent.file == own && fileBytes(own) == Array("done".utf8))
        let throwing = RecordedHooks { $0.destination = { _ in throw Refusal(reason: "no room") } }
        let stage = try SessionStage(hooks: throwing)
        let error = await sessionError { _ = try await stage.download(request(origin.port), to: .file(own)) }
        #expect(error?.code == .hookFailed && error?.underlying as? Refusal == Refusal(reason: "no room"))
    }

    @Test func `SES-41 the data hook gets every byte, after the task has counted it`() async throws {
        let bytes = [UInt8].pattern(700_000)
        let nginx = try NginxOrigin()
        try nginx.serve(bytes, as: "data")
        let counted = Watched<[UInt64]>([])
        let hooks = RecordedHooks { answers in
            answers.note = { word, task in
                if word == "data", let task { counted.change { $0.append(task.progress.received) } }
            }
        }
        let result = try await SessionStage(hooks: hooks).data(for: request(nginx.httpPort, "/files/data"))
        #expect(hooks.received.current == bytes && Array(result.body.readableBytesView) == bytes)
        #expect(counted.current.last == UInt64(bytes.count) && counted.current.first ?? 0 > 0)
        #expect(counted.current == counted.current.sorted())
    }

    @Test func `SES-34 a Content-Length gives a stream of unknown length its length`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let bytes = [UInt8](repeating: 7, count: 1234)
        let fields: [Fields] = [["Content-Length": "1234"], [:]]
        for (fields, expected) in zip(fields, [UInt64?.some(1234), nil]) {
            let hooks = RecordedHooks()
            let upload = request(origin.port, method: "PUT", fields: fields)
            _ = try await SessionStage(hooks: hooks).data(
                for: upload, from: .stream(BodyStream(pieces(bytes))))
            #expect(hooks.sent.current.allSatisfy { $0.expectedToSend == expected })
            #expect(hooks.sent.current.last?.sent == 1234 && hooks.sentCount.current == 1234)
            let seen = try #require(origin.requests.last)
            #expect(seen.body == bytes && seen["Content-Length"] == expected.map(String.init))
        }
    }

    @Test func `SES-34 a stream that is not as long as it said is an error`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        for (length, word) in [(3, "more"), (7, "only 5")] {
            let stream = BodyStream(pieces([1, 2, 3, 4, 5]), length: UInt64(length))
            let error = await stage.failure(of: request(origin.port, method: "PUT"), from: .stream(stream))
            #expect(error?.code == .unreadableSource)
            #expect(error?.message == "the body was to have \(length) bytes, and has \(word)")
        }
    }

    @Test func `SES-35 TDL-07 sent bytes are told with the task's own counts`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let bytes = [UInt8].pattern(400_000)
        let hooks = RecordedHooks()
        let path = try self.folder.write(bytes, to: "up")
        _ = try await SessionStage(hooks: hooks).data(
            for: request(origin.port, method: "PUT"), from: .file(path: path))
        let steps = hooks.sent.current
        #expect(steps.map(\.sent) == steps.map(\.sent).sorted() && steps.last?.fractionSent == 1)
        #expect(hooks.sentCount.current == bytes.count && steps.allSatisfy { $0.expectedToSend == 400_000 })
    }

    @Test func `SES-36 a task ends in this order: list, result, metrics, completion, event`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let states = Watched<[String]>([])
        let hooks = RecordedHooks { answers in
            answers.note = { word, task in
                guard let task, word == "metrics" || word == "completed" else { return }
                states.change { $0.append("\(word) \(task.state) \(task.response?.status ?? 0)") }
            }
        }
        let stage = try SessionStage(hooks: hooks)
        var events = stage.session.eventStream().makeAsyncIterator()
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        guard case .taskResumed = await events.next(), case .taskCompleted(let ended) = await events.next() else {
            Issue.record("the events came in another order")
            return
        }
        #expect(ended === task && stage.session.tasks.isEmpty)
        #expect(states.current == ["metrics completed 200", "completed completed 200"])
        #expect(hooks.calls.current == ["response", "data", "metrics", "completed"])
    }

    @Test func `SES-36 the completion hook is told of the task's error`() async throws {
        let origin = try RawOrigin { connection in _ = try connection.readRequest() }
        let hooks = RecordedHooks()
        let stage = try SessionStage(hooks: hooks)
        let error = await stage.failure(of: request(origin.port))
        #expect(error?.code == .connectionBroken)
        try await hooks.errors.reach("the completion") { $0.count == 1 }
        #expect(hooks.errors.current.first??.code == .connectionBroken)
    }

    @Test func `SES-39 metrics are told before the completion, one entry for each request`() async throws {
        let origin = try origin { $0.target == "/go" ? answer(302, ["Location: /there"]) : answer(200, [], "there") }
        let hooks = RecordedHooks()
        let stage = try SessionStage(hooks: hooks)
        let result = try await stage.data(for: request(origin.port, "/go"))
        try await hooks.metrics.reach("the metrics") { $0.count == 1 }
        let metrics = try #require(hooks.metrics.current.first)
        #expect(metrics.transactions.count == 2 && metrics.redirectCount == 1 && metrics == result.metrics)
        #expect(
            metrics.transactions.allSatisfy { $0.address == "127.0.0.1" && $0.httpVersion == "1.1" && $0.total > .zero }
        )
        #expect(metrics.transactions.map(\.reusedConnection) == [false, true])
        #expect(metrics.total == metrics.transactions[0].total + metrics.transactions[1].total)
    }
}
