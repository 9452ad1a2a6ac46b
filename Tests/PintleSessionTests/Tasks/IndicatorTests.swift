// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleSession
import PintleTesting
import Testing

/// An activity indicator that is driven by what a session tells, as a program would drive its own.
@Suite(.timeLimit(.minutes(15))) struct IndicatorTests {
    /// What an indicator without delays did while a session lived.
    private struct Showing: Equatable {
        var shown: [Bool] = []
        var counts: [Int] = []
    }

    private func showing(_ events: AsyncStream<SessionEvent>) async -> Showing {
        var machine = ActivityStateMachine(activationDelay: .zero, completionDelay: .zero)
        var tasks: [Int: TaskParticipation] = [:]
        var showing = Showing()
        for await event in events {
            let change: TaskParticipation.Change
            switch event {
            case .taskResumed(let task): change = tasks[task.id, default: .init(hasURL: true)].resumed()
            case .taskSuspended(let task): change = tasks[task.id, default: .init(hasURL: true)].suspended()
            case .taskCompleted(let task): change = tasks[task.id, default: .init(hasURL: true)].completed()
            default: continue
            }
            let visibility: Bool? =
                switch change {
                case .started: machine.started(at: .now).visibility
                case .ended: machine.ended(at: .now).visibility
                case .none: nil
                }
            if let visibility { showing.shown.append(visibility) }
            showing.counts.append(machine.count)
        }
        return showing
    }

    /// An origin that answers when it may.
    private func origin(waitingFor mayAnswer: Watched<Bool>) throws -> ScriptedOrigin {
        try ScriptedOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "leave to answer") { $0 }
            try connection.send(response("done"))
        }
    }

    @Test(arguments: [true, false])
    func `ACT-01 a request shows once and hides once, whether it succeeds or fails`(succeeds: Bool) async throws {
        let origin = try ScriptedOrigin { connection in
            _ = try connection.readRequest()
            if succeeds { try connection.send(response("done")) }
        }
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        #expect(await (stage.failure(of: request(origin.port)) == nil) == succeeds)
        await stage.session.finishTasksAndInvalidate()
        #expect(await self.showing(events) == Showing(shown: [true, false], counts: [1, 0]))
    }

    @Test func `ACT-03 ACT-11 a task that is suspended and then ends counts once, and the other keeps showing`()
        async throws
    {
        let mayAnswer = Watched(false)
        let origin = try self.origin(waitingFor: mayAnswer)
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let (first, second) = (
            try stage.session.dataTask(request(origin.port)), try stage.session.dataTask(request(origin.port))
        )
        first.resume()
        second.resume()
        first.suspend()
        first.cancel()
        _ = try? await first.value()
        mayAnswer.change { $0 = true }
        #expect(try await second.value().text == "done")
        await stage.session.finishTasksAndInvalidate()
        #expect(await self.showing(events) == Showing(shown: [true, false], counts: [1, 2, 1, 1, 0]))
    }
}
