// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// A task and the objects that show its progress.
@Suite(.timeLimit(.minutes(15))) struct ProgressBindingTests {
    /// Records its calls.
    private final class Reporter: ProgressReporter {
        struct Told: Sendable {
            var steps: [TaskProgress] = []
            var ends: [SessionError.Code?] = []
        }

        let told = Watched(Told())

        func report(_ progress: TaskProgress) async { self.told.change { $0.steps.append(progress) } }
        func finish(_ error: SessionError?) async { self.told.change { $0.ends.append(error?.code) } }
    }

    /// Shows steps and no end.
    private actor Percentage: ProgressReporter {
        private(set) var fraction: Double?

        func report(_ progress: TaskProgress) { self.fraction = progress.fractionReceived }
    }

    private let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    @Test func `UIP-01 UIP-04 UIW-02 a reporter is told of every change and then of the end`() async throws {
        let reporter = Reporter()
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
            for count in [4, 8, 12] as [UInt64] {
                try connection.send("some")
                try reporter.told.wait(for: "\(count) bytes") { $0.steps.last?.received == count }
            }
        }
        let task = try self.stage.session.dataTask(request(origin.port))
        let binding = task.bindProgress(to: reporter)
        task.resume()
        await binding.wait()
        let told = reporter.told.current
        let fractions = told.steps.compactMap(\.fractionReceived)
        #expect(
            fractions.last == 1 && fractions == fractions.sorted() && Set(fractions).isSuperset(of: [1 / 3, 2 / 3]))
        #expect(told.ends == [nil])
        // A second removal is harmless.
        binding.end()
        binding.end()
        #expect(reporter.told.current.ends == [nil])
    }

    @Test func `UIP-02 without a known length there are counts and no fraction`() async throws {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        let reporter = Reporter()
        let task = try self.stage.session.dataTask(request(origin.port))
        let binding = task.bindProgress(to: reporter)
        task.resume()
        await binding.wait()
        #expect(reporter.told.current.steps.allSatisfy { $0.fractionReceived == nil })
        #expect(reporter.told.current.steps.last?.received == 5)
    }

    @Test func `UIP-03 a task that has ended shows how`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let task = try self.stage.session.dataTask(request(origin.port))
        task.resume()
        _ = try await task.value()
        let reporter = Reporter()
        await task.bindProgress(to: reporter).wait()
        #expect(reporter.told.current.steps.map(\.received) == [4] && reporter.told.current.ends == [nil])
    }

    @Test func `UIP-05 both directions are told, to any number of reporters`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let task = try self.stage.session.uploadTask(
            request(origin.port, method: "PUT"), from: .bytes(ByteBuffer(string: "something")))
        let reporters = [Reporter(), Reporter()]
        let bindings = reporters.map { task.bindProgress(to: $0) }
        task.resume()
        for binding in bindings { await binding.wait() }
        for reporter in reporters {
            let last = try #require(reporter.told.current.steps.last)
            #expect(last.fractionSent == 1 && last.fractionReceived == 1)
        }
    }

    @Test func `a binding that was ended tells nothing more`() async throws {
        let held = try HeldOrigin()
        let task = try self.stage.session.dataTask(request(held.origin.port, "/a"))
        let reporter = Reporter()
        let binding = task.bindProgress(to: reporter)
        try await reporter.told.reach("the first step") { !$0.steps.isEmpty }
        binding.end()
        await binding.wait()
        let steps = reporter.told.current.steps.count
        task.resume()
        held.releaseAll()
        _ = try await task.value()
        #expect(reporter.told.current.steps.count == steps && reporter.told.current.ends.isEmpty)
    }

    @Test func `UIP-04 nothing keeps a reporter, and its end harms nobody`() async throws {
        let held = try HeldOrigin()
        let task = try self.stage.session.dataTask(request(held.origin.port, "/a"))
        weak let gone: Reporter?
        let binding: ProgressBinding
        do {
            let reporter = Reporter()
            gone = reporter
            binding = task.bindProgress(to: reporter)
            try await reporter.told.reach("the first step") { !$0.steps.isEmpty }
        }
        task.resume()
        held.releaseAll()
        _ = try await task.value()
        await binding.wait()
        #expect(gone == nil && task.error == nil)
    }

    @Test func `UI2-05 an operation has a reporter as a task has, and its error is told`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let reporter = Reporter()
        let operation = TransferOperation(request(origin.port), in: self.stage.session)
        let binding = operation.bindProgress(to: reporter)
        operation.start()
        await binding.wait()
        #expect(reporter.told.current.steps.last?.received == 4 && reporter.told.current.ends == [nil])
        let cancelled = TransferOperation(request(origin.port), in: self.stage.session)
        let other = cancelled.bindProgress(to: reporter)
        cancelled.cancel()
        await other.wait()
        #expect(reporter.told.current.ends == [nil, .cancelled])
    }

    @Test func `an actor can show progress, and need not show the end`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let shown = Percentage()
        let task = try self.stage.session.dataTask(request(origin.port))
        let binding = task.bindProgress(to: shown)
        task.resume()
        await binding.wait()
        #expect(await shown.fraction == 1)
    }
}
