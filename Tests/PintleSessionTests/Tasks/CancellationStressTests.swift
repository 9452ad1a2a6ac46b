// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Nothing is left of tasks that are cancelled at any moment of their lives.
@Suite(.timeLimit(.minutes(15))) struct CancellationStressTests {
    private static let taskCount = 1000
    /// The source of random choices; the order in which tasks use it cannot be repeated.
    private static let choices = Watched(SeededGenerator(seed: Seed.ofThisRun))

    private static func choice(_ range: ClosedRange<Int>) -> Int {
        self.choices.change { Int.random(in: range, using: &$0) }
    }

    /// A hook that now and then lets its task wait for the next step of another.
    private static func slowHooks(_ steps: Watched<Int>) -> RecordedHooks {
        let wait: @Sendable () async -> Void = {
            guard Self.choice(0...1) == 1 else { return }
            for _ in 0..<Self.choice(1...50) { await Task.yield() }
        }
        return RecordedHooks { answers in
            answers.redirect = { request, _ in
                await wait()
                return request
            }
            answers.response = { _, _ in
                await wait()
                return .allow
            }
            answers.body = {
                await wait()
                return .bytes(ByteBuffer(repeating: 7, count: 10_000))
            }
            answers.note = { _, _ in steps.change { $0 += 1 } }
        }
    }

    private static func task(_ number: Int, _ session: Session, _ port: Int, _ folder: String) throws -> SessionTask {
        let bytes = ByteBuffer(repeating: 7, count: 200_000)
        switch number % 6 {
        case 0: return try session.dataTask(request(port, "/files/big"))
        case 1: return try session.dataTask(request(port, "/go"))
        case 2: return try session.uploadTask(request(port, "/store/\(number)", method: "PUT"), from: .bytes(bytes))
        case 3:
            let stream = BodyStream { pieces(.pattern(100_000), .pattern(200_000)) }
            return try session.uploadTask(request(port, "/store/\(number)", method: "PUT"), from: .stream(stream))
        case 4: return try session.uploadTask(request(port, "/store/\(number)", method: "PUT"), from: nil)
        default: return try session.downloadTask(request(port, "/files/big"), to: .file("\(folder)/\(number)"))
        }
    }

    /// Steers a task at random, and ends it for sure.
    private static func harass(_ task: SessionTask, _ steps: Watched<Int>) async {
        for _ in 0..<self.choice(0...6) {
            if self.choice(0...1) == 1 { task.resume() } else { task.suspend() }
            for _ in 0..<self.choice(0...20) { await Task.yield() }
        }
        task.resume()
        if self.choice(0...2) > 0 {
            // A moment that depends on the other tasks: after a few more steps of theirs, or of this one.
            let goal = steps.current + self.choice(0...3)
            for _ in 0..<10_000 where steps.current < goal && task.state != .completed { await Task.yield() }
            if self.choice(0...3) == 0 { _ = await task.cancelKeepingPart() } else { task.cancel() }
        }
        do {
            _ = try await task.value()
        } catch {
            if error.code != .cancelled { Issue.record("\(error), seed \(Seed.ofThisRun)") }
        }
    }

    /// Begins `taskCount` tasks, a hundred at a time, and ends them all.
    private static func storm(_ engine: Engine, _ nginx: NginxOrigin, _ folder: TemporaryFolder) async throws {
        let steps = Watched(0)
        let stage = try SessionStage(hooks: Self.slowHooks(steps), sharing: engine)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.taskCount {
                let task = try self.task(number, stage.session, nginx.httpPort, folder.path)
                group.addTask { await Self.harass(task, steps) }
                if number >= 100 { try await group.next() }
            }
            try await group.waitForAll()
        }
        #expect(stage.session.tasks.isEmpty && stage.session.runningTransfers() == 0, "seed \(Seed.ofThisRun)")
        // The session still works.
        #expect(try await stage.data(for: request(nginx.httpPort, "/hello")).text == "hello\n")
        await stage.session.finishTasksAndInvalidate()
    }

    @Test func `LOOK-58 a thousand tasks that are cancelled at random leave nothing behind`() async {
        // A separate process: the descriptors of other tests come and go.
        await #expect(processExitsWith: .success) {
            let nginx = try NginxOrigin(locations: "location = /go { return 307 /files/big; }\n")
            try nginx.serve(.pattern(300_000), as: "big")
            let folder = try TemporaryFolder()
            let before = OwnSockets.descriptorCount
            do {
                let engine = try Engine(threads: 2)
                try await Self.storm(engine, nginx, folder)
                engine.stop()
            }
            // A loop closes its own with its last reference, which a task that has just ended may hold for a moment.
            for _ in 0..<200_000 where OwnSockets.descriptorCount != before { await Task.yield() }
            #expect(OwnSockets.descriptorCount == before, "seed \(Seed.ofThisRun)")
        }
    }
}
