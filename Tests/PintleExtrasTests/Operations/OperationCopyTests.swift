// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Operations that are made of others, chosen among others, or fail on the way.
@Suite(.timeLimit(.minutes(15))) struct OperationCopyTests {
    private let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    @Test func `OPS-30 an operation made of another's request, source and output does it again`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let first = TransferOperation(
            request(origin.port, "/x", method: "PUT", fields: ["X-Team": "core"]), in: self.stage.session,
            from: .bytes(ByteBuffer(string: "body")))
        first.cancel()
        #expect(await first.end()?.code == .cancelled)
        let copy = TransferOperation(first.request, in: first.session, from: first.source, to: first.output)
        copy.start()
        #expect(await copy.end() == nil && copy.responseString == "done" && copy.request == first.request)
        #expect(first.error?.code == .cancelled && first.response == nil)
        #expect(origin.requests.map(\.text) == ["body"] && origin.requests[0]["X-Team"] == "core")
    }

    @Test func `OPS-19 a sink that fails on the way has what it took counted, and no more`() async throws {
        let origin = try HalfwayOrigin.make()
        let sink = RecordingSink(room: 500)
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .sink(sink))
        await operation.interrupt()
        let error = await operation.end()
        #expect(error?.code == .cannotWrite && error?.underlying as? RecordingSink.Full == .init(after: 500))
        #expect(operation.progress.received == 500)
        #expect(await sink.bytes == Array(HalfwayOrigin.bytes.prefix(500)))
        #expect(await sink.closings == 1)
    }

    @Test func `HOM-06 some of a queue's operations can be chosen and cancelled`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let queue = TransferQueue(limit: 1)
        queue.suspend()
        let operations = [("GET", "/a"), ("GET", "/b"), ("POST", "/b")].map { method, path in
            TransferOperation(request(origin.port, path, method: method), in: self.stage.session)
        }
        for operation in operations { queue.add(operation) }
        for operation in queue.operations
        where operation.request.method == "GET" && operation.request.url.path == "/b" {
            operation.cancel()
        }
        queue.resume()
        await queue.waitUntilEmpty()
        #expect(operations.map { $0.error?.code } == [nil, .cancelled, nil])
        #expect(origin.requests.map { "\($0.method) \($0.target)" } == ["GET /a", "POST /b"])
    }
}
