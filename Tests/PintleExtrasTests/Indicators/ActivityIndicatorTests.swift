// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The activity indicator, with real sessions.
@Suite(.timeLimit(.minutes(15))) struct ActivityIndicatorTests {
    private let stage: SessionStage
    private let shown = Watched<[Bool]>([])

    init() throws { self.stage = try SessionStage() }

    private func indicator(_ activation: Duration = .zero, _ completion: Duration = .zero) -> ActivityIndicator {
        let indicator = ActivityIndicator(activationDelay: activation, completionDelay: completion) { [shown] visible in
            shown.change { $0.append(visible) }
        }
        indicator.observe(self.stage.session)
        return indicator
    }

    /// Answers a connection's request when the test says so.
    private struct Gate {
        let isOpen = Watched(false)
        let origin: RawOrigin

        init() throws {
            self.origin = try RawOrigin { [isOpen] connection in
                while true {
                    _ = try connection.readRequest()
                    _ = try isOpen.wait(for: "the gate") { $0 }
                    try connection.send(response("done"))
                }
            }
        }
    }

    @Test(arguments: [true, false]) func `ACT-01 a request shows once and hides once, however it ends`(
        succeeds: Bool
    ) async throws {
        let indicator = self.indicator()
        let origin = try RawOrigin(answering: succeeds ? response("done") : "no HTTP\r\n\r\n")
        _ = try? await self.stage.session.data(for: request(origin.port))
        try await self.shown.reach("the end") { $0 == [true, false] }
        #expect(indicator.count == 0 && !indicator.isVisible)
    }

    @Test func `ACT-03 overlapping tasks show once and hide once`() async throws {
        let indicator = self.indicator()
        let gate = try Gate()
        let tasks = try (0..<3).map { _ in try self.stage.session.dataTask(request(gate.origin.port)) }
        for task in tasks { task.resume() }
        try await gate.origin.reachRequests(3)
        try await self.shown.reach("the beginning") { $0 == [true] }
        gate.isOpen.change { $0 = true }
        for task in tasks { _ = try await task.value() }
        try await self.shown.reach("the end") { $0 == [true, false] }
        #expect(indicator.count == 0)
    }

    @Test func `ACT-05 a request that is over within the activation delay never shows`() async throws {
        let indicator = self.indicator(.seconds(3600))
        let origin = try RawOrigin(answering: response("done"))
        _ = try await self.stage.session.data(for: request(origin.port))
        // A later edge of another kind shows that the first has been seen.
        let other = ActivityIndicator(activationDelay: .zero, completionDelay: .zero) { [shown] _ in
            shown.change { $0.append(true) }
        }
        other.started()
        #expect(self.shown.current == [true] && !indicator.isVisible)
    }

    @Test func `ACT-08 ACT-09 ACT-10 turned off it counts and is hidden, turned on it waits for the next change`()
        async throws
    {
        let indicator = self.indicator()
        indicator.started()
        #expect(self.shown.current == [true] && indicator.isVisible)
        indicator.isEnabled = false
        #expect(self.shown.current == [true, false] && !indicator.isVisible)
        indicator.started()
        #expect(indicator.count == 2 && !indicator.isVisible)
        indicator.isEnabled = true
        #expect(!indicator.isVisible)
        indicator.ended()
        #expect(self.shown.current == [true, false, true] && indicator.count == 1)
        indicator.ended()
        indicator.ended()
        #expect(self.shown.current == [true, false, true, false] && indicator.count == 0)
    }

    @Test func `ACT-11 a task that is suspended and then ends lowers the count once`() async throws {
        let indicator = self.indicator()
        let gate = try Gate()
        let other = try self.stage.session.dataTask(request(gate.origin.port))
        other.resume()
        let task = try self.stage.session.dataTask(request(gate.origin.port))
        task.resume()
        try await gate.origin.reachRequests(2)
        task.suspend()
        task.cancel()
        _ = try? await task.value()
        // Another task that begins and ends tells when the events of this one were taken.
        let origin = try RawOrigin(answering: response("done"))
        _ = try await self.stage.session.data(for: request(origin.port))
        #expect(self.shown.current == [true])
        gate.isOpen.change { $0 = true }
        _ = try await other.value()
        try await self.shown.reach("the end") { $0 == [true, false] }
        #expect(indicator.count == 0)
    }

    @Test func `ACT-06 a pause that is shorter than the completion delay hides nothing`() async throws {
        let indicator = self.indicator(.zero, .seconds(3600))
        let origin = try RawOrigin(answering: response("done"))
        for _ in 0..<5 { _ = try await self.stage.session.data(for: request(origin.port)) }
        try await self.shown.reach("the beginning") { $0 == [true] }
        #expect(indicator.isVisible)
    }

    @Test func `the delays run out by themselves`() async throws {
        let indicator = self.indicator(.milliseconds(20), .milliseconds(20))
        indicator.started()
        try await self.shown.reach("the activation") { $0 == [true] }
        indicator.ended()
        try await self.shown.reach("the completion") { $0 == [true, false] }
    }

    @Test func `an indicator keeps no session, and a session no indicator`() async throws {
        weak var indicator: ActivityIndicator?
        weak var session: Session?
        do {
            let stage = try SessionStage()
            let own = ActivityIndicator { _ in }
            own.observe(stage.session)
            (indicator, session) = (own, stage.session)
            #expect(indicator != nil && session != nil)
        }
        let gone = Watched(false)
        while indicator != nil || session != nil { await Task.yield() }
        gone.change { $0 = true }
        #expect(gone.current)
    }
}
