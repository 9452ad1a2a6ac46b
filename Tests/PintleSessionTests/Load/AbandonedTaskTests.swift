// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Tasks of each kind that were cancelled, timed out or were abandoned leave no descriptor, no thread and no memory. Each
/// kind has its own process.
///
/// There are 200 of each, or the number in PINTLE_ABANDONED:
/// `PINTLE_ABANDONED=10000 scripts/sanitize address --filter AbandonedTaskTests`.
@Suite(.serialized) struct AbandonedTaskTests {
    private enum Kind: String, CaseIterable, Codable {
        case data, upload, download, stream, webSocket, operation, events
    }

    private enum Ending: CaseIterable {
        case cancelled, timedOut, thrownAway
    }

    private static var count: Int {
        ProcessInfo.processInfo.environment["PINTLE_ABANDONED"].flatMap { Int($0) } ?? 200
    }

    /// Begins every answer and ends none.
    private static func origin() throws -> RawOrigin {
        try RawOrigin { connection in
            let head = try connection.stream.readHead()
            if head.startLine.contains("/silent") {
                // Nothing is ever said.
            } else if head["Sec-WebSocket-Key"] != nil {
                try connection.send(WebSocketWire.switching(for: head))
            } else {
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\ndata: first\n\n"
                )
            }
            _ = try connection.waitForEnd()
        }
    }

    @Test(arguments: Kind.allCases)
    private func `tasks that are abandoned leave nothing`(kind: Kind) async throws {
        let origin = try Self.origin()
        let folder = try TemporaryFolder()
        let up = try folder.write(sampleBytes(400_000), to: "up")
        let growing = folder.path("growing")
        mkdir(growing, 0o700)
        let exit = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [kind = kind as Kind, port = origin.port as Int, up = up as String, growing = growing as String] in
            let place = Place(kind: kind, port: port, up: up, growing: growing)
            let count = Self.count
            // Resources that a process makes once, and those for each concurrent task, exist after this.
            try await Self.run(max(64, count / 10), place)
            let (descriptors, threads, memory) = (ProcessFigures.descriptors, Self.threads, ProcessFigures.memory)
            try await Self.run(count, place)
            // A waiter may continue before the last reference to the ended tasks is released.
            for _ in 0..<100_000 where !ProcessFigures.opened(since: descriptors).isEmpty { await Task.yield() }
            let opened = ProcessFigures.opened(since: descriptors)
            if !opened.isEmpty { note("\(kind): still open: \(opened)") }
            #expect(opened.isEmpty)
            #expect(Self.threads <= threads, "\(kind): \(threads) threads became \(Self.threads)")
            // A task's own objects take some kilobytes; memory that the allocator keeps does not depend on the number of
            // tasks.
            let (grown, limit) = (ProcessFigures.memory - memory, 8192 + 3 * count / 16)
            if grown > limit { note("\(kind): \(grown) KiB more") }
            #expect(runsUnderSanitizer || grown <= limit)
            let left = try FileManager.default.contentsOfDirectory(atPath: growing)
            if !left.isEmpty { note("\(kind): left \(left.prefix(3))") }
            #expect(left.isEmpty)
        }
        passOn(exit)
    }

    // MARK: In the process

    private struct Place: Sendable {
        let kind: Kind
        let port: Int
        let up: String
        let growing: String
    }

    private static var threads: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    /// Runs this many tasks of each ending, on a new engine and session.
    private static func run(_ count: Int, _ place: Place) async throws {
        let engine = try Engine(threads: 2)
        var configuration = SessionConfiguration()
        configuration.temporaryFolder = place.growing
        configuration.connectionsPerHost = 0
        let session = try Session(engine: engine, configuration: configuration)
        for ending in Ending.allCases {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    if number >= 64 { await group.next() }
                    group.addTask { await Self.abandon(number, ending, session, place) }
                }
            }
        }
        for task in session.tasks where task.state == .suspended { task.cancel() }
        await session.invalidateAndCancel()
        #expect(session.tasks.isEmpty && session.runningTransfers() == 0)
        engine.stop()
    }

    private static func abandon(_ number: Int, _ ending: Ending, _ session: Session, _ place: Place) async {
        var wanted = request(place.port, place.kind == .upload ? "/up" : "/")
        if place.kind == .upload { wanted.method = "PUT" }
        if ending == .timedOut { wanted.deadline = .now + .milliseconds(number % 20) }
        do {
            switch place.kind {
            case .data: try await Self.abandon(try session.dataTask(wanted), ending, number)
            case .upload:
                try await Self.abandon(session.uploadTask(wanted, from: .file(path: place.up)), ending, number)
            case .download:
                let destination = DownloadDestination.file("\(place.growing)/\(number)", resuming: false)
                try await Self.abandon(session.downloadTask(wanted, to: destination), ending, number)
            case .operation:
                let operation = TransferOperation(wanted, in: session)
                if ending == .thrownAway { return }
                operation.start()
                if ending == .cancelled { operation.cancel() }
                _ = try await operation.value()
            case .stream:
                try await Self.abandon(ending) { [wanted] in
                    let response = try await session.stream(wanted)
                    if ending == .thrownAway { return }
                    for try await _ in response.body {}
                }
            case .events:
                try await Self.abandon(ending) { [wanted] in
                    for try await _ in session.serverSentEvents(wanted, reconnection: nil) {
                        if ending == .thrownAway { return }
                    }
                }
            case .webSocket:
                if ending == .timedOut {
                    wanted = request(place.port, "/silent"); wanted.timeout = .milliseconds(1 + number % 20)
                }
                try await Self.abandon(ending) { [wanted] in
                    let socket = try await session.webSocket(wanted)
                    if ending == .thrownAway { return }
                    while let _ = try await socket.receive() {}
                }
            }
            #expect(ending == .thrownAway, "\(place.kind) went well, though it was \(ending)")
        } catch {
            let code = (error as? SessionError)?.code
            let isMeant = error is CancellationError || code == (ending == .timedOut ? .timeout : .cancelled)
            #expect(isMeant, "\(place.kind), \(ending): \(error)")
        }
    }

    /// A task that is steered.
    private static func abandon(_ task: SessionTask, _ ending: Ending, _ number: Int) async throws {
        if ending == .thrownAway { return }
        task.resume()
        if ending == .cancelled {
            // Every other one before anything has arrived.
            if number % 2 == 0 { for await progress in task.progressStream where progress.received > 0 { break } }
            task.cancel()
        }
        _ = try await task.value()
    }

    /// Work that a Swift task waits for.
    private static func abandon(_ ending: Ending, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let waiting = Task { try await work() }
        if ending == .cancelled { waiting.cancel() }
        try await waiting.value
    }
}
