// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Many tasks that have ended in all possible ways leave nothing. They run in separate processes, with no other
/// descriptors.
struct LeakTests {
    @Test func `200 transfers, cancelled at random, leave no descriptor, no file and no task`() async throws {
        let origin = try NginxOrigin(locations: "location /sink { client_max_body_size 0; return 204; }\n")
        try origin.serve(sampleBytes(400_000), as: "big")
        let folder = try TemporaryFolder()
        let up = try folder.write(sampleBytes(400_000), to: "up")
        let growing = folder.path("growing")
        mkdir(growing, 0o700)
        let exit = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [port = origin.httpPort as Int, up = up as String, growing = growing as String] in
            var configuration = SessionConfiguration()
            configuration.temporaryFolder = growing
            // Descriptors that a process opens once are open after this.
            try await Self.run(4, port, up, growing, configuration)
            let before = ProcessFigures.descriptors
            try await Self.run(200, port, up, growing, configuration)
            // A waiter may continue before the last reference to the ended tasks is released.
            var opened = ProcessFigures.opened(since: before)
            for _ in 0..<10_000 {
                if opened.isEmpty { break }
                await Task.yield()
                opened = ProcessFigures.opened(since: before)
            }
            if !opened.isEmpty { note("still open: \(opened)") }
            #expect(opened.isEmpty)
            let left = try FileManager.default.contentsOfDirectory(atPath: growing)
            let strange = left.filter { !$0.hasPrefix("done-") }
            if !strange.isEmpty { note("left: \(strange)") }
            #expect(strange.isEmpty)
        }
        passOn(exit)
    }

    /// Runs this many tasks on a new session.
    private static func run(
        _ count: Int, _ port: Int, _ up: String, _ growing: String, _ configuration: SessionConfiguration
    ) async throws {
        let engine = try Engine(threads: 2)
        let session = try Session(engine: engine, configuration: configuration)
        var numbers = SeededGenerator(seed: Seed.ofThisRun)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let task = try Self.task(number, session, port, up, growing)
                let limit = UInt64.random(in: 0...500_000, using: &numbers)
                group.addTask { await Self.run(task, cancellingAfter: limit) }
            }
            try await group.waitForAll()
        }
        #expect(session.tasks.isEmpty && session.runningTransfers() == 0, "seed \(Seed.ofThisRun)")
        await session.invalidateAndCancel()
        engine.stop()
    }

    private static func task(
        _ number: Int, _ session: Session, _ port: Int, _ up: String, _ growing: String
    ) throws -> SessionTask {
        switch number % 5 {
        case 0:
            return try session.downloadTask(
                request(port, "/files/big"), to: .file("\(growing)/done-\(number)", resuming: false))
        case 1:
            return try session.downloadTask(
                request(port, "/files/big"), to: .choosing { _, _ in "\(growing)/done-\(number)" })
        case 2: return try session.dataTask(request(port, "/files/big"))
        case 3: return try session.uploadTask(request(port, "/sink", method: "PUT"), from: .file(path: up))
        default:
            var paced = request(port, "/sink", method: "PUT")
            paced.throttle = try Throttle(packet: 50_000, delay: .milliseconds(1))
            return try session.uploadTask(paced, from: .file(path: up))
        }
    }

    /// Runs a task to its end, or up to `limit` bytes; some are suspended on the way, some never resumed.
    private static func run(_ task: SessionTask, cancellingAfter limit: UInt64) async {
        let progress = task.progressStream
        if limit > 2000 { task.resume() }
        if limit % 4 == 0 { task.suspend() }
        for await step in progress {
            if step.received + step.sent >= limit || task.state == .suspended { break }
        }
        if limit % 3 == 0 { _ = await task.cancelKeepingPart() } else { task.cancel() }
        _ = try? await task.value()
        if let part = task.partialDownload {
            unlink(part.file)
            unlink("\(part.file).json")
        }
    }
}
