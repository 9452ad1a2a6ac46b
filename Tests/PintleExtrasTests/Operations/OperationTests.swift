// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// States, events and the end of single operations.
@Suite(.timeLimit(.minutes(15))) struct OperationTests {
    let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    private func operation(
        _ request: SessionRequest, completion: TransferOperation.Completion? = nil
    ) -> TransferOperation {
        TransferOperation(request, in: self.stage.session, completion: completion)
    }

    @Test func `OPS-01 OPS-02 an operation starts when it is ready and its dependencies have finished`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let (first, second) = (self.operation(request(origin.port)), self.operation(request(origin.port)))
        try second.addDependency(first)
        #expect(first.isReady && !second.isReady && second.state == .ready)
        second.start()
        #expect(second.state == .ready)
        first.start()
        #expect(!first.isReady)
        #expect(await first.end() == nil)
        #expect(second.isReady)
        second.start()
        #expect(await second.end() == nil)
        #expect(origin.requests.count == 2 && second.dependencies.isEmpty)
    }

    @Test func `OPS-02 OPS-03 OPS-05 OPS-11 an operation goes from ready to executing to finished, once`() async throws
    {
        let origin = try RawOrigin(answering: response("done"))
        let operation = self.operation(request(origin.port))
        let states = operation.stateStream
        #expect(operation.state == .ready && operation.response == nil && operation.responseData == nil)
        operation.start()
        operation.start()
        operation.resume()
        let result = try await operation.value()
        #expect(String(buffer: result.body) == "done" && result.response.status == 200 && result.file == nil)
        operation.start()
        operation.resume()
        var seen: [TransferOperation.State] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.ready, .executing, .finished])
        #expect(origin.requests.count == 1 && operation.error == nil && !operation.isCancelled)
    }

    @Test func `OPS-04 OPS-10 start, pause and finish are told with the operation`() async throws {
        let origin = try HalfwayOrigin.make()
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let operation = TransferOperation(request(origin.port), in: stage.session)
        await operation.interrupt()
        #expect(await operation.end() == nil)
        await stage.session.finishTasksAndInvalidate()
        var seen: [Bool] = []
        for await event in events {
            guard let (started, of) = event.operation else { continue }
            #expect(of === operation)
            seen.append(started)
        }
        #expect(seen == [true, false, true, false])
    }

    @Test func `OPS-06 OPS-08 a cancelled operation fails as cancelled and names whom it asked`() async throws {
        let origin = try HalfwayOrigin.make()
        let told = Watched<SessionError.Code?>(nil)
        let operation = self.operation(request(origin.port)) { operation in
            told.change { $0 = operation.error?.code }
        }
        operation.start()
        await operation.reach(500)
        operation.cancel()
        let error = await operation.end()
        #expect(error?.code == .cancelled && error?.message.contains("127.0.0.1:\(origin.port)") == true)
        #expect(operation.state == .finished && operation.isCancelled && operation.responseData == nil)
        try await told.reach("the completion") { $0 == .cancelled }
        try origin.waitUntilQuiet()
    }

    @Test func `OPS-07 OPS-09 an operation that is cancelled before its start never executes`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let told = Watched(0)
        let operation = self.operation(request(origin.port)) { _ in told.change { $0 += 1 } }
        let states = operation.stateStream
        operation.cancel()
        operation.start()
        operation.cancel()
        #expect(await operation.end()?.code == .cancelled)
        operation.cancel()
        operation.start()
        var seen: [TransferOperation.State] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.ready, .finished] && origin.connections.isEmpty)
        try await told.reach("the completion") { $0 == 1 }
    }

    @Test func `OPS-09 cancelling what has finished changes nothing`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let operation = self.operation(request(origin.port))
        operation.start()
        #expect(await operation.end() == nil)
        operation.cancel()
        #expect(operation.error == nil && !operation.isCancelled && operation.responseString == "done")
    }

    @Test func `OPS-10 OPS-13 pausing what has ended, and resuming what is not paused, changes nothing`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let operation = self.operation(request(origin.port))
        operation.pause()
        operation.pause()
        #expect(operation.state == .paused)
        operation.start()
        #expect(operation.state == .paused)
        operation.resume()
        operation.resume()
        #expect(await operation.end() == nil)
        operation.pause()
        operation.resume()
        #expect(operation.state == .finished && origin.requests.count == 1)
        let cancelled = self.operation(request(origin.port))
        cancelled.cancel()
        cancelled.pause()
        #expect(await cancelled.end()?.code == .cancelled)
    }

    @Test func `OPS-12 a pause right after the start leaves later operations alone`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        for _ in 0..<50 {
            let operation = self.operation(request(origin.port))
            operation.start()
            operation.pause()
            operation.resume()
            let result = try await operation.value()
            #expect(String(buffer: result.body) == "done")
        }
        #expect(self.stage.session.tasks.isEmpty)
    }

    @Test func `OPS-15 an operation that is cancelled while it is paused finishes`() async throws {
        let origin = try HalfwayOrigin.make()
        let sink = RecordingSink()
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .sink(sink))
        operation.start()
        await operation.reach(500)
        operation.pause()
        #expect(operation.state == .paused)
        operation.cancel()
        #expect(await operation.end()?.code == .cancelled)
        #expect(await sink.closings == 1)
        #expect(operation.state == .finished && origin.requests.count == 1)
    }

    @Test func `OPS-16 bytes are counted both ways`() async throws {
        let origin = try NginxOrigin()
        let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let upload = TransferOperation(
            request(origin.httpPort, "/store/x", method: "PUT"), in: self.stage.session,
            from: .bytes(ByteBuffer(bytes: bytes)))
        upload.start()
        #expect(try await upload.value().response.status == 201 && origin.stored("x") == bytes)
        #expect(upload.progress.sent == 2_000_000 && upload.progress.fractionSent == 1)
        let download = self.operation(request(origin.httpPort, "/store/x"))
        let steps = download.progressStream
        download.start()
        #expect(try await Array(download.value().body.readableBytesView) == bytes)
        var seen: [UInt64] = []
        for await step in steps {
            seen.append(step.received)
            #expect(step.expectedToReceive == (step.received > 0 ? 2_000_000 : step.expectedToReceive))
        }
        #expect(seen == seen.sorted() && seen.last == 2_000_000)
        let unknown = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        }
        let chunked = self.operation(request(unknown.port))
        chunked.start()
        #expect(await chunked.end() == nil && chunked.progress.received == 3)
        #expect(chunked.progress.expectedToReceive == nil)
    }

    @Test func `OPS-28 BAT-03 the completion is called once and let go`() async throws {
        final class Token: Sendable {}
        let origin = try RawOrigin(answering: response("done"))
        let told = Watched<[String?]>([])
        weak let gone: Token?
        let operation: TransferOperation
        do {
            let token = Token()
            gone = token
            operation = self.operation(request(origin.port)) { operation in
                _ = token
                told.change { $0.append(operation.responseString) }
            }
        }
        #expect(gone != nil)
        await TransferQueue().batch([operation])
        #expect(told.current == ["done"])
        #expect(gone == nil)
    }
}
