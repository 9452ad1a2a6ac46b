// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// The end of a session, and its new beginning.
@Suite(.timeLimit(.minutes(15))) struct InvalidationTests {
    /// An origin that answers when it may.
    private func waiting(_ mayAnswer: Watched<Bool>) throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try mayAnswer.wait(for: "leave to answer") { $0 }
                try connection.send(response("done"))
            }
        }
    }

    @Test func `SES-01 a session without a configuration has the default one`() throws {
        let engine = try Engine(threads: 1)
        let session = try Session(engine: engine)
        #expect(session.policy == .default && !session.reportsOnly)
        #expect(session.configuration.cookies == .pass && session.configuration.connectionsPerHost == 64)
        #expect(session.configuration.cachePolicy == .protocol && session.configuration.resourceTimeout == nil)
        session.close()
        engine.stop()
    }

    @Test func `SES-13 finishing lets tasks run to their end, and takes no more`() async throws {
        let mayAnswer = Watched(false)
        let origin = try self.waiting(mayAnswer)
        let stage = try SessionStage()
        let session = stage.session
        let task = try session.dataTask(request(origin.port))
        task.resume()
        try await origin.reachRequests(1)
        let ending = Task { await session.finishTasksAndInvalidate() }
        // The session accepts no more tasks once it has begun to end.
        while true {
            guard let extra = try? session.dataTask(request(origin.port)) else { break }
            extra.cancel()
            _ = try? await extra.value()
        }
        #expect(task.state == .running)
        mayAnswer.change { $0 = true }
        #expect(try await task.value().text == "done")
        await ending.value
        #expect(session.tasks.isEmpty && session.runningTransfers() == 0)
    }

    @Test func `SES-11 SES-13 cancelling ends every task at once, and the session for good`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let stage = try SessionStage()
        let session = stage.session
        let running = try session.dataTask(request(origin.port))
        let suspended = try session.dataTask(request(origin.port))
        running.resume()
        try await origin.reachRequests(1)
        await session.invalidateAndCancel()
        for task in [running, suspended] {
            #expect(task.state == .completed && task.error?.code == .cancelled)
        }
        for _ in 0..<2 {
            let refused = await sessionError { _ = try session.dataTask(request(origin.port)) }
            #expect(refused?.code == .invalidated && refused?.message == "the session takes no more tasks")
            // Neither resetting nor invalidating it again makes it new.
            await session.reset()
            await session.finishTasksAndInvalidate()
        }
        #expect(await session.failure(of: request(origin.port))?.code == .invalidated)
        #expect(await sessionError { _ = try await stage.fetch(request(origin.port)) }?.code == .invalidated)
        #expect(session.runningTransfers() == 0)
    }

    @Test func `SES-12 a session that is reset is as good as new`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let hooks = RecordedHooks()
        let stage = try SessionStage(hooks: hooks)
        let session = stage.session
        var events = session.eventStream().makeAsyncIterator()
        let first = try await session.data(for: request(origin.port))
        let abandoned = try session.dataTask(request(origin.port))
        await session.reset()
        #expect(abandoned.error?.code == .cancelled)
        let second = try await session.data(for: request(origin.port))
        #expect(first.text == "done" && second.text == "done")
        #expect(second.metrics.transactions.first?.reusedConnection == false && origin.connections.count == 2)
        #expect(!hooks.calls.current.contains("invalid"))
        // The session's listeners are still there.
        guard case .taskResumed = await events.next() else { return _ = Issue.record("no event") }
        await session.finishTasksAndInvalidate()
        var last: SessionEvent?
        while let event = await events.next() { last = event }
        guard case .sessionInvalidated = last else { return _ = Issue.record("the last event is missing") }
    }

    @Test func `SES-12 a reset may let tasks finish`() async throws {
        let mayAnswer = Watched(false)
        let origin = try self.waiting(mayAnswer)
        let stage = try SessionStage()
        let session = stage.session
        let task = try session.dataTask(request(origin.port))
        task.resume()
        try await origin.reachRequests(1)
        let resetting = Task { await session.reset(cancellingTasks: false) }
        mayAnswer.change { $0 = true }
        #expect(try await task.value().text == "done")
        await resetting.value
        #expect(try await session.data(for: request(origin.port)).text == "done")
    }

    @Test func `SES-12 a reset forgets what was verified`() async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let nginx = try NginxOrigin(https: [pki.leaf(ip: ["127.0.0.1"], signedBy: root)])
        let hooks = RecordedHooks()
        let stage = try SessionStage(
            policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])), hooks: hooks)
        let asked = request(nginx.httpsPort, "/connection", scheme: .https)
        for _ in 0..<2 {
            #expect(try await stage.data(for: asked).text.hasSuffix(" ."))
            await stage.session.reset()
        }
        #expect(hooks.calls.current.filter { $0 == "trust" }.count == 2)
    }

    @Test func `SES-14 a session can be invalidated from everywhere at once`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let hooks = RecordedHooks()
        let stage = try SessionStage(hooks: hooks)
        let session = stage.session
        let events = session.eventStream()
        for _ in 0..<20 { try session.dataTask(request(origin.port)).resume() }
        await withTaskGroup { group in
            for number in 0..<30 {
                group.addTask {
                    switch number % 3 {
                    case 0: await session.finishTasksAndInvalidate()
                    case 1: await session.invalidateAndCancel()
                    default: await session.reset()
                    }
                }
            }
        }
        var ends = 0
        for await event in events { if case .sessionInvalidated = event { ends += 1 } }
        #expect(ends == 1 && hooks.calls.current.filter { $0 == "invalid" }.count == 1)
        #expect(session.tasks.isEmpty && session.runningTransfers() == 0)
    }

    @Test func `a session that is let go ends the tasks that were never resumed`() async throws {
        let engine = try Engine(threads: 1)
        var session: Session? = try Session(engine: engine)
        let task = try #require(session).dataTask(request(1))
        session = nil
        #expect(await sessionError { _ = try await task.value() }?.code == .invalidated)
        task.resume()
        task.cancel()
        #expect(task.state == .completed && task.error?.code == .invalidated)
        engine.stop()
    }

    @Test func `a session that is let go stays until its running tasks have ended`() async throws {
        let mayAnswer = Watched(false)
        let origin = try self.waiting(mayAnswer)
        let engine = try Engine(threads: 1)
        let task = try Session(engine: engine).dataTask(request(origin.port))
        #expect(await sessionError { _ = try await task.value() }?.code == .invalidated)
        var session: Session? = try Session(engine: engine)
        let running = try #require(session).dataTask(request(origin.port))
        running.resume()
        try await origin.reachRequests(1)
        session = nil
        mayAnswer.change { $0 = true }
        #expect(try await running.value().text == "done")
        engine.stop()
    }
}
