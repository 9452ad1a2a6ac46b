// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Steering from several threads, and at moments when something else happens.
@Suite(.timeLimit(.minutes(15))) struct SteeringTests {
    @Test func `a task that is steered by two threads does in the end what its state says`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        for _ in 0..<200 {
            let task = try stage.session.dataTask(request(origin.port))
            task.resume()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for _ in 0..<5 { task.suspend() } }
                group.addTask { for _ in 0..<5 { task.resume() } }
            }
            task.resume()
            #expect(try await String(buffer: task.value().body) == "done")
        }
    }

    @Test func `events of resuming and suspending take turns, whichever thread they come from`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let task = try stage.session.dataTask(request(origin.port))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100 {
                        task.resume()
                        task.suspend()
                    }
                }
            }
        }
        await stage.session.invalidateAndCancel()
        var resumed: [Bool] = []
        for await event in events {
            switch event {
            case .taskResumed: resumed.append(true)
            case .taskSuspended: resumed.append(false)
            default: break
            }
        }
        #expect(resumed.enumerated().allSatisfy { $0.element == ($0.offset % 2 == 0) } && resumed.count > 100)
    }

    @Test func `a session may be let go as soon as its task is resumed`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let engine = try Engine(threads: 1)
        for _ in 0..<100 {
            let task = try Session(engine: engine).dataTask(request(origin.port))
            // Nothing but this call holds the session.
            task.resume()
            _ = try? await task.value()
        }
        for _ in 0..<100 {
            var session: Session? = try Session(engine: engine)
            let task = try #require(session).dataTask(request(origin.port))
            task.resume()
            session = nil
            #expect(try await String(buffer: task.value().body) == "done")
        }
        engine.stop()
    }

    @Test func `a task that is steered while it ends leaves no timer behind`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        var configuration = SessionConfiguration()
        configuration.resourceTimeout = .milliseconds(50)
        let stage = try SessionStage(configuration: configuration)
        for _ in 0..<100 {
            let task = try stage.session.dataTask(request(origin.port))
            task.resume()
            async let ended = try? task.value()
            for _ in 0..<20 {
                task.suspend()
                task.resume()
            }
            _ = await ended
        }
        // A timer that fires for a run that is gone would trap; all of them are over by now.
        let last = try stage.session.dataTask(request(origin.port))
        last.resume()
        _ = try? await last.value()
        try await stage.engine.loops[0].scheduleTask(in: .milliseconds(100)) {}.futureResult.get()
    }

    @Test func `a task whose response ended while it was suspended can be cancelled`() async throws {
        let answered = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send(response("done"))
                answered.change { $0 = true }
            }
        }
        let stage = try SessionStage()
        for _ in 0..<50 {
            answered.change { $0 = false }
            let task = try stage.session.dataTask(request(origin.port))
            task.resume()
            try await answered.reach("the answer") { $0 }
            task.suspend()
            task.resume()
            task.cancel()
            _ = try? await task.value()
            #expect(task.state == .completed)
        }
        #expect(stage.session.tasks.isEmpty)
    }

    @Test func `an invalidation that comes while a session is reset is not lost`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        for _ in 0..<100 {
            let stage = try SessionStage()
            _ = try await stage.session.data(for: request(origin.port))
            async let reset: Void = stage.session.reset()
            async let end: Void = stage.session.invalidateAndCancel()
            _ = await (reset, end)
            #expect(throws: SessionError.self) { _ = try stage.session.dataTask(request(origin.port)) }
        }
    }
}
