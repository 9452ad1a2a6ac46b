// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The steps of a task's progress that its readers see.
@Suite(.timeLimit(.minutes(15))) struct ProgressReaderTests {
    @Test func `TDL-02 a reader that keeps up sees every step`() async throws {
        let seen = Watched<[UInt64]>([])
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
            for count in [4, 8, 12] as [UInt64] {
                try connection.send("some")
                try seen.wait(for: "\(count) bytes to be seen") { $0.last == count }
            }
        }
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        let steps = task.progressStream
        task.resume()
        for await step in steps where step.received > 0 { seen.change { $0.append(step.received) } }
        #expect(seen.current == [4, 8, 12])
        _ = try await task.value()
    }

    @Test func `TDL-02 a reader that is slow misses steps, and not the last one`() async throws {
        let nginx = try NginxOrigin()
        try nginx.serve([UInt8].pattern(2_000_000), as: "big")
        let pieces = Watched(0)
        let stage = try SessionStage(
            hooks: RecordedHooks { $0.note = { word, _ in if word == "data" { pieces.change { $0 += 1 } } } })
        let task = try stage.session.dataTask(request(nginx.httpPort, "/files/big"))
        var steps = task.progressStream.makeAsyncIterator()
        #expect(await steps.next()?.received == 0)
        task.resume()
        _ = try await task.value()
        #expect(pieces.current > 1)
        let last = await steps.next()
        #expect(last == task.progress && last?.fractionReceived == 1)
        #expect(await steps.next() == nil)
    }

    @Test func `SES-35 a length that a field gives to a stream is known to task and hook`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let hooks = RecordedHooks()
        let stage = try SessionStage(hooks: hooks)
        let task = try stage.session.uploadTask(
            request(origin.port, method: "PUT", fields: ["Content-Length": "5"]),
            from: .stream(BodyStream(pieces([1, 2], [3, 4, 5]))))
        task.resume()
        _ = try await task.value()
        #expect(task.progress.expectedToSend == 5 && task.progress.fractionSent == 1)
        #expect(hooks.sent.current.map(\.expectedToSend).allSatisfy { $0 == 5 } && hooks.sent.current.last?.sent == 5)
    }
}
