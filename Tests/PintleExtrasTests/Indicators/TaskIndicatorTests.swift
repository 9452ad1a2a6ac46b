// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Indicators of one task: spinners, and refreshes that end with their task.
@Suite(.timeLimit(.minutes(15))) struct TaskIndicatorTests {
    private let stage: SessionStage
    private let held: HeldOrigin

    init() throws {
        self.stage = try SessionStage()
        self.held = try HeldOrigin()
    }

    private func task() throws -> SessionTask {
        try self.stage.session.dataTask(request(self.held.origin.port, "/a"))
    }

    /// Waits until the indicator is as it should be.
    private func see(_ isActive: Bool, in indicator: TaskIndicator) async {
        for await now in indicator.activityStream where now == isActive { return }
    }

    @Test func `UIA-01 UIR-01 an indicator is active while its task runs, and no longer`() async throws {
        let (indicator, task) = (TaskIndicator(), try self.task())
        task.resume()
        indicator.bind(to: task)
        #expect(indicator.isActive)
        task.suspend()
        await self.see(false, in: indicator)
        task.resume()
        await self.see(true, in: indicator)
        self.held.releaseAll()
        await self.see(false, in: indicator)
        #expect(task.state == .completed)
    }

    @Test func `UIA-01 UIR-02 one that is bound to a task before its start begins with it`() async throws {
        let (indicator, task) = (TaskIndicator(), try self.task())
        indicator.bind(to: task)
        #expect(!indicator.isActive)
        task.resume()
        await self.see(true, in: indicator)
        // One that is cancelled is about to end.
        task.cancel()
        await self.see(false, in: indicator)
    }

    @Test func `UIA-02 bound to a task that has ended it shows that nothing runs`() async throws {
        let (indicator, running, ended) = (TaskIndicator(), try self.task(), try self.task())
        ended.cancel()
        _ = try? await ended.value()
        running.resume()
        indicator.bind(to: running)
        #expect(indicator.isActive)
        indicator.bind(to: ended)
        #expect(!indicator.isActive)
        running.suspend()
        running.resume()
        #expect(!indicator.isActive)
        running.cancel()
    }

    @Test func `UIA-03 UIR-03 a binding takes the place of the one before, and none leaves things as they are`()
        async throws
    {
        let (indicator, first, second) = (TaskIndicator(), try self.task(), try self.task())
        first.resume()
        indicator.bind(to: first)
        indicator.bind(to: second)
        #expect(!indicator.isActive)
        second.resume()
        await self.see(true, in: indicator)
        first.cancel()
        _ = try? await first.value()
        #expect(indicator.isActive)
        indicator.bind(to: nil)
        self.held.releaseAll()
        _ = try await second.value()
        #expect(indicator.isActive)
    }

    @Test func `UIA-04 UIR-04 an indicator that is gone harms nobody, and no task keeps it`() async throws {
        let task = try self.task()
        weak let gone: TaskIndicator?
        do {
            let indicator = TaskIndicator()
            gone = indicator
            indicator.bind(to: task)
            task.resume()
            await self.see(true, in: indicator)
        }
        task.suspend()
        task.resume()
        self.held.releaseAll()
        _ = try await task.value()
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while gone != nil {
            guard ContinuousClock.now < end else { throw TestFailure("something keeps the indicator") }
            await Task.yield()
        }
    }

    @Test func `UI2-06 an operation is followed as a task is`() async throws {
        let indicator = TaskIndicator()
        let operation = TransferOperation(request(self.held.origin.port, "/a"), in: self.stage.session)
        indicator.bind(to: operation)
        #expect(!indicator.isActive)
        operation.start()
        await self.see(true, in: indicator)
        operation.pause()
        await self.see(false, in: indicator)
        operation.resume()
        await self.see(true, in: indicator)
        self.held.releaseAll()
        await self.see(false, in: indicator)
        #expect(operation.error == nil && operation.response?.status == 200)
    }

    @Test func `a task tells its states, newest first for who is slow, and ends the stream with the last`() async throws
    {
        let task = try self.task()
        var states = task.stateStream.makeAsyncIterator()
        #expect(await states.next() == .suspended)
        task.resume()
        task.suspend()
        task.resume()
        #expect(await states.next() == .running)
        self.held.releaseAll()
        _ = try await task.value()
        #expect(await states.next() == .completed)
        #expect(await states.next() == nil)
        var late: [TaskState] = []
        for await state in task.stateStream { late.append(state) }
        #expect(late == [.completed])
    }
}
