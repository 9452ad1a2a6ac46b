// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The events that a session sends to all listeners.
@Suite(.timeLimit(.minutes(15))) struct TaskEventTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// The events as words, each with the number of its task.
    private func words(_ events: AsyncStream<SessionEvent>) async -> [String] {
        var words: [String] = []
        for await event in events { words.append(Self.word(event)) }
        return words
    }

    private static func word(_ event: SessionEvent) -> String {
        switch event {
        case .taskResumed(let task): "resumed \(task.id)"
        case .taskSuspended(let task): "suspended \(task.id)"
        case .taskCompleted(let task): "completed \(task.id)"
        case .downloadMoved(let task, _): "moved \(task.id)"
        case .downloadMoveFailed(let task, _, _, _): "not moved \(task.id)"
        case .operationStarted: "operation started"
        case .operationStopped: "operation stopped"
        case .sessionInvalidated: "invalidated"
        }
    }

    // A WebSocket's task is never had before it runs.
    @Test(arguments: SessionTask.Kind.allCases.filter { $0 != .webSocket })
    func `SES-45 resume, suspend, resume is told in this order for every kind of task`(
        kind: SessionTask.Kind
    ) async throws {
        let isSteered = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try isSteered.wait(for: "the task to be steered") { $0 }
            try connection.send(response("done"))
        }
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let asked = request(origin.port, method: kind == .upload ? "PUT" : "GET")
        let task =
            switch kind {
            case .data: try stage.session.dataTask(asked)
            case .upload: try stage.session.uploadTask(asked, from: .bytes(ByteBuffer(string: "up")))
            case .download: try stage.session.downloadTask(asked, to: .file("\(self.folder.path)/file"))
            case .webSocket: throw TestFailure("a WebSocket's task cannot be made alone")
            }
        task.resume()
        task.suspend()
        task.resume()
        isSteered.change { $0 = true }
        _ = try await task.value()
        await stage.session.finishTasksAndInvalidate()
        let end = kind == .download ? ["moved 1"] : []
        #expect(
            await self.words(events) == ["resumed 1", "suspended 1", "resumed 1"] + end + [
                "completed 1", "invalidated",
            ])
    }

    @Test func `SES-46 SES-48 what changes nothing is not told`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let task = try stage.session.dataTask(request(origin.port))
        task.suspend()
        for _ in 0..<3 { task.resume() }
        _ = try await task.value()
        task.suspend()
        task.resume()
        task.cancel()
        await stage.session.finishTasksAndInvalidate()
        #expect(await self.words(events) == ["resumed 1", "completed 1", "invalidated"])
    }

    @Test func `SES-46 however many threads resume and suspend, each change is told once`() async throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "leave to answer") { $0 }
            try connection.send(response("done"))
        }
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let task = try stage.session.dataTask(request(origin.port))
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask { if number.isMultiple(of: 2) { task.resume() } else { task.suspend() } }
            }
        }
        task.resume()
        mayAnswer.change { $0 = true }
        _ = try await task.value()
        await stage.session.finishTasksAndInvalidate()
        let words = await self.words(events)
        let resumed = words.filter { $0 == "resumed 1" }.count
        // The task was suspended at first and ran in the end, so it was resumed once more than it was suspended.
        #expect(resumed >= 1 && resumed == words.filter { $0 == "suspended 1" }.count + 1)
        #expect(words.suffix(2) == ["completed 1", "invalidated"])
    }

    @Test func `SES-14 the hook hears of the end of a session before everybody else`() async throws {
        let order = Watched<[String]>([])
        let hooks = RecordedHooks { answers in
            answers.note = { word, _ in if word == "invalid" { order.change { $0.append("hook") } } }
        }
        let stage = try SessionStage(hooks: hooks)
        let events = stage.session.eventStream()
        let listener = Task { for await _ in events { order.change { $0.append("event") } } }
        await stage.session.invalidateAndCancel()
        await listener.value
        #expect(order.current == ["hook", "event"] && hooks.calls.current == ["invalid"])
    }

    @Test func `TDL-18 the completion of a task that failed is told too, though nobody waits for it`() async throws {
        let origin = try RawOrigin { connection in _ = try connection.readRequest() }
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        for await event in events {
            guard case .taskCompleted(let ended) = event else { continue }
            #expect(ended === task && ended.state == .completed && ended.error?.code == .connectionBroken)
            break
        }
    }

    @Test func `SES-06 every session tells of its own tasks only, to any number of listeners`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let (stage, other) = (try SessionStage(), try SessionStage())
        let listeners = [stage.session.eventStream(), stage.session.eventStream(), other.session.eventStream()]
        _ = try await stage.data(for: request(origin.port))
        for session in [stage.session, other.session] { await session.finishTasksAndInvalidate() }
        var heard: [[String]] = []
        for listener in listeners { heard.append(await self.words(listener)) }
        let all = ["resumed 1", "completed 1", "invalidated"]
        #expect(heard == [all, all, ["invalidated"]])
        // A late listener gets no events, and does not wait.
        #expect(await self.words(stage.session.eventStream()).isEmpty)
    }

    @Test func `the events of a session that is let go end`() async throws {
        var stage: SessionStage? = try SessionStage()
        let events = try #require(stage).session.eventStream()
        stage = nil
        #expect(await self.words(events).isEmpty)
    }
}
