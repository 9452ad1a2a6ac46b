// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Codings that are broken, or made to fill memory.
@Suite(.timeLimit(.minutes(15))) struct UnfoldingTests {
    private func stage(_ decompression: Decompression = .on, bodyLimit: Int = 64 << 20) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.decompression = decompression
        configuration.bodyLimit = bodyLimit
        return try SessionStage(configuration: configuration)
    }

    @Test(arguments: Coding.allCases)
    func `a coding that is broken, cut off or followed by something else fails the task`(coding: Coding) async throws {
        let coded = try coding.encode(sampleBytes(300_000))
        var broken = coded
        for index in 1000..<1100 { broken[index] ^= 0x55 }
        let stage = try self.stage()
        for (bytes, what) in [
            (broken, "broken"), (Array(coded.dropLast()), "cut off"), (Array(coded.prefix(3)), "cut off"),
            (coded + [7, 7], "follow"),
        ] {
            let origin = try CodedOrigin(bytes, "Content-Encoding: \(coding.name)")
            let error = try #require(await stage.failure(of: request(origin.port)), "\(what)")
            #expect(error.code == .undecodable && error.message.hasPrefix("the body of 127.0.0.1:"))
            if what != "broken" { #expect(error.message.contains(what), "\(error)") }
        }
    }

    @Test func `a response that is cut is truncated, whatever its coding`() async throws {
        let coded = try Coding.gzip.encode(sampleBytes(100_000))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n")
            try connection.stream.send(Array(coded.dropLast(10)))
        }
        #expect(try await self.stage().failure(of: request(origin.port))?.code == .truncated)
    }

    @Test func `a body that unfolds too far is given up, and where it is meant it may`() async throws {
        let origin = try CodedOrigin(Coding.zeros(64), "Content-Encoding: gzip")
        let error = try #require(await self.stage().failure(of: request(origin.port)))
        #expect(error.code == .tooLarge && error.message.contains("over 250 times its size"), "\(error)")
        let size = 64 << 20
        let free = try self.stage(.on(ratio: 2000))
        #expect(try await free.data(for: request(origin.port)).body.readableBytes == size)
        #expect(try await self.stage(.on(limit: size, ratio: .max)).data(for: request(origin.port)).status == 200)
        let limited = try #require(
            await self.stage(.on(limit: size - 1, ratio: 2000)).failure(of: request(origin.port)))
        #expect(limited.code == .tooLarge && limited.message.contains("over \(size - 1) bytes"), "\(limited)")
        let held = try #require(
            await self.stage(.on(ratio: 2000), bodyLimit: size - 1).failure(of: request(origin.port)))
        #expect(held.code == .tooLarge && held.message.contains("raise bodyLimit"), "\(held)")
    }

    @Test func `whatever is below 8 MiB may unfold as far as it can`() async throws {
        let origin = try CodedOrigin(Coding.zeros(8), "Content-Encoding: gzip")
        #expect(try await self.stage(.on(ratio: 1)).data(for: request(origin.port)).body.readableBytes == 8 << 20)
    }

    @Test(.disabled(if: runsUnderSanitizer, "sanitizers take most of the time"))
    func `a body that unfolds for long keeps no loop, and others are answered meanwhile`() async throws {
        let origin = try CodedOrigin(Coding.zeros(512), "Content-Encoding: gzip")
        let stage = try self.stage(.on(ratio: 2000))
        let stream = try await stage.session.stream(request(origin.port))
        var (count, other) = (0, 0)
        for try await piece in stream.body {
            count += piece.readableBytes
            guard count >= (other + 1) * (100 << 20) else { continue }
            other += 1
            let small = try CodedOrigin(Coding.gzip.encode([1]), "Content-Encoding: gzip")
            #expect(try await stage.data(for: request(small.port)).body.readableBytes == 1)
        }
        #expect(count == 512 << 20 && other == 5)
        let times = stage.engine.turnTimes
        note("turns: \(times.turns), the longest \(times.longest / 1000) µs")
        // Each turn handles a piece of what was decoded elsewhere. On a machine that is busy with other tests some turns
        // are interrupted.
        #expect(times.turns > 1000 && times.turns(over: 10_000_000) < times.turns / 50)
    }

    @Test(.disabled(if: runsUnderSanitizer, "sanitizers keep memory of their own"))
    func `what is unfolded waits for a reader that is slow`() async throws {
        let origin = try CodedOrigin(Coding.zeros(256), "Content-Encoding: gzip")
        let folder = try TemporaryFolder()
        let (port, path) = (origin.port, folder.path("out"))
        let exit = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [port = port as Int, path = path as String] in
            var configuration = SessionConfiguration()
            configuration.decompression = .on(ratio: 2000)
            let stage = try SessionStage(configuration: configuration)
            ProcessFigures.resetPeak()
            let before = ProcessFigures.memory
            _ = try await stage.session.download(request(port), to: .file(path, resuming: false))
            let stream = try await stage.session.stream(request(port))
            var iterator = stream.body.makeAsyncIterator()
            _ = try await iterator.next()
            // Another task that is read to its end shows that time has passed.
            let other = try await stage.session.stream(request(port))
            for try await _ in other.body {}
            let peak = ProcessFigures.peakMemory
            note("unfolding 256 MiB: \(before) KiB resident before, \(peak) KiB at most")
            #expect(peak - before < 24 << 10)
        }
        passOn(exit)
    }

    @Test func `a task that is suspended in the middle of a piece gives nothing until it is resumed`() async throws {
        let origin = try CodedOrigin(Coding.zeros(32), "Content-Encoding: gzip")
        let received = Watched(0)
        let hooks = RecordedHooks { answers in
            answers.note = { word, task in
                guard word == "data", task?.originalRequest.url.path == "/watched" else { return }
                if received.change({
                    $0 += 1; return $0
                }) == 3 {
                    task?.suspend()
                }
            }
        }
        var configuration = SessionConfiguration()
        configuration.decompression = .on(ratio: 2000)
        let stage = try SessionStage(configuration: configuration, hooks: hooks)
        let task = try stage.session.dataTask(request(origin.port, "/watched"))
        task.resume()
        try await received.reach("the third piece") { $0 >= 3 }
        // Other work on the same loop shows that time has passed.
        for _ in 0..<20 { _ = try await stage.fetch(request(origin.port)) }
        let seen = received.current
        #expect(task.state == .suspended && seen == 3)
        task.resume()
        #expect(try await task.value().body.readableBytes == 32 << 20)
        #expect(received.current > 3)
    }

    @Test func `a task that is cancelled in the middle of a piece ends at once, and so does one that has no reader`()
        async throws
    {
        let origin = try CodedOrigin(Coding.zeros(512), "Content-Encoding: gzip")
        let stage = try self.stage(.on(ratio: 2000))
        let stream = try await stage.session.stream(request(origin.port))
        var count = 0
        let error = await sessionError {
            for try await piece in stream.body {
                count += piece.readableBytes
                stream.task.cancel()
            }
        }
        #expect(error?.code == .cancelled && count < 8 << 20)
        let task: SessionTask
        do {
            let unread = try await stage.session.stream(request(origin.port))
            task = unread.task
        }
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
    }
}
