// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Many operations: order, limits, dependencies and batches.
@Suite(.timeLimit(.minutes(15))) struct TransferQueueTests {
    let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    /// An origin that answers when the test says so, and knows its number of concurrent requests.
    private final class GatedOrigin: Sendable {
        struct Load: Sendable {
            var open = false
            var now = 0
            var most = 0
        }

        let load = Watched(Load())
        let origin: RawOrigin

        init() throws {
            let load = self.load
            self.origin = try RawOrigin { connection in
                while true {
                    _ = try connection.readRequest()
                    load.change { load in
                        load.now += 1
                        load.most = max(load.most, load.now)
                    }
                    defer { load.change { $0.now -= 1 } }
                    try load.wait(for: "the gate") { $0.open }
                    try connection.send(response("done"))
                }
            }
        }

        deinit { self.open() }

        func open() { self.load.change { $0.open = true } }

        var paths: [String] { self.origin.requests.map { String($0.head.startLine.split(separator: " ")[1]) } }
    }

    private func operations(
        _ count: Int, _ port: Int, completion: TransferOperation.Completion? = nil
    ) -> [TransferOperation] {
        (0..<count).map {
            TransferOperation(request(port, "/\($0)"), in: self.stage.session, completion: completion)
        }
    }

    @Test func `OPS-05 a queue holds its operations until they have finished`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let queue = TransferQueue()
        await queue.waitUntilEmpty()
        let operations = self.operations(20, origin.port)
        for operation in operations { queue.add(operation) }
        await queue.waitUntilEmpty()
        #expect(queue.operations.isEmpty && operations.allSatisfy { $0.state == .finished && $0.error == nil })
        queue.add(operations[0])
        #expect(queue.operations.isEmpty && origin.requests.count == 20)
    }

    @Test(arguments: [
        (TransferQueue.Order.firstInFirstOut, ["/0", "/1", "/2", "/3"]), (.lastInFirstOut, ["/3", "/2", "/1", "/0"]),
    ])
    func `HOM-06 a suspended queue holds operations back, then starts them in its order`(
        order: TransferQueue.Order, paths: [String]
    ) async throws {
        let origin = try RawOrigin(answering: response("done"))
        let queue = TransferQueue(limit: 1, order: order)
        queue.suspend()
        let operations = self.operations(4, origin.port)
        for operation in operations { queue.add(operation) }
        operations[0].start()
        #expect(queue.isSuspended && operations.allSatisfy { $0.state == .ready } && queue.operations.count == 4)
        #expect(origin.connections.isEmpty)
        queue.resume()
        await queue.waitUntilEmpty()
        #expect(origin.requests.map { String($0.head.startLine.split(separator: " ")[1]) } == paths)
    }

    @Test func `HOM-06 cancelling the queue cancels all`() async throws {
        let gated = try GatedOrigin()
        let queue = TransferQueue(limit: 2)
        let operations = self.operations(10, gated.origin.port)
        for operation in operations { queue.add(operation) }
        try await gated.origin.reachRequests(2)
        queue.cancelAll()
        await queue.waitUntilEmpty()
        #expect(operations.allSatisfy { $0.error?.code == .cancelled } && gated.origin.requests.count == 2)
    }

    @Test func `HOM-06 the maximum holds also when operations that wait or are paused are cancelled`() async throws {
        let gated = try GatedOrigin()
        let queue = TransferQueue(limit: 3)
        let operations = self.operations(30, gated.origin.port)
        for operation in operations { queue.add(operation) }
        try await gated.origin.reachRequests(3)
        for operation in operations[10..<20] { operation.cancel() }
        operations[25].pause()
        operations[25].resume()
        operations[26].pause()
        operations[26].cancel()
        #expect(operations[25].state == .ready)
        for operation in operations[10..<20] { #expect(await operation.end()?.code == .cancelled) }
        operations[2].pause()
        #expect(queue.operations.count { $0.state == .executing } == 2)
        operations[2].resume()
        gated.open()
        await queue.waitUntilEmpty()
        #expect(gated.load.current.most <= 3)
        #expect(operations.count { $0.error == nil } == 19)
        #expect(operations[10..<20].allSatisfy { $0.response == nil })
    }

    @Test func `OPS-01 OPS-10 an operation that is paused while it waits is passed over until it is resumed`()
        async throws
    {
        let origin = try RawOrigin(answering: response("done"))
        let queue = TransferQueue(limit: 1)
        queue.suspend()
        let operations = self.operations(3, origin.port)
        for operation in operations { queue.add(operation) }
        operations[0].pause()
        queue.resume()
        #expect(await operations[2].end() == nil)
        #expect(operations[0].state == .paused && queue.operations.count == 1)
        operations[0].resume()
        await queue.waitUntilEmpty()
        #expect(operations[0].error == nil && origin.requests.count == 3)
    }

    @Test func `OPS-01 dependencies finish first, also across queues and when they fail`() async throws {
        let gated = try GatedOrigin()
        let (first, second) = (TransferQueue(), TransferQueue(limit: 1))
        let operations = self.operations(4, gated.origin.port)
        first.add(operations[0])
        second.add(operations[1])
        second.add(operations[2])
        second.add(operations[3])
        // Added while it waits.
        try operations[3].addDependency(operations[0])
        try operations[2].addDependency(operations[0])
        try operations[2].addDependency(operations[3])
        try await gated.origin.reachRequests(2)
        operations[1].cancel()
        #expect(await operations[1].end()?.code == .cancelled)
        #expect(operations[2].state == .ready && operations[3].state == .ready)
        operations[0].cancel()
        try await gated.origin.reachRequests(3)
        gated.open()
        await second.waitUntilEmpty()
        #expect(gated.paths.dropFirst(2) == ["/3", "/2"])
        #expect(operations[2].error == nil && operations[3].error == nil)
    }

    @Test func `OPS-01 a cycle of dependencies is refused`() throws {
        let operations = self.operations(3, 80)
        try operations[0].addDependency(operations[1])
        try operations[1].addDependency(operations[2])
        #expect(operations[0].dependencies.map(ObjectIdentifier.init) == [ObjectIdentifier(operations[1])])
        for (from, to) in [(2, 0), (1, 0), (0, 0)] {
            let error = #expect(throws: DependencyCycle.self) { try operations[from].addDependency(operations[to]) }
            #expect(error?.operation === operations[from] && error?.dependency === operations[to])
        }
        #expect(operations[2].dependencies.isEmpty)
    }

    @Test func `BAT-01 an empty batch is over at once`() async {
        var calls = 0
        await TransferQueue().batch([]) { _, _ in calls += 1 }
        #expect(calls == 0)
    }

    @Test func `BAT-02 BAT-04 a batch tells of each member, failed or not, and ends with the last`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let operations = self.operations(3, origin.port)
        let broken = TransferOperation(
            request(origin.port, "/"), in: self.stage.session, to: .sink(RecordingSink(room: 0)))
        operations[1].cancel()
        var steps: [[Int]] = []
        let members = operations + [broken]
        let queue = TransferQueue(limit: 1)
        await queue.batch(members) { finished, total in steps.append([finished, total]) }
        #expect(steps == [[1, 4], [2, 4], [3, 4], [4, 4]])
        #expect(members.allSatisfy { $0.state == .finished } && queue.operations.isEmpty)
        #expect(members.map { $0.error?.code } == [nil, .cancelled, nil, .cannotWrite])
        #expect(origin.requests.map { String($0.head.startLine.split(separator: " ")[1]) } == ["/0", "/2", "/"])
    }

    @Test func `BAT-03 BAT-05 a batch ends after the completions of all members`() async throws {
        let gated = try GatedOrigin()
        let quick = try RawOrigin(answering: response("done"))
        let told = Watched<[String]>([])
        let completion: TransferOperation.Completion = { operation in
            await Task.yield()
            told.change { $0.append(operation.request.url.path) }
            // The other origin answers when the completion of this one has returned.
            if operation.request.url.path == "/quick" { gated.open() }
        }
        let members = [
            TransferOperation(request(gated.origin.port, "/slow"), in: self.stage.session, completion: completion),
            TransferOperation(request(quick.port, "/quick"), in: self.stage.session, completion: completion),
        ]
        await TransferQueue().batch(members)
        #expect(told.current == ["/quick", "/slow"] && members.allSatisfy { $0.error == nil })
    }

    @Test func `BAT-05 cancelling who waits for a batch cancels its members`() async throws {
        let gated = try GatedOrigin()
        let operations = self.operations(3, gated.origin.port)
        let waiting = Task { await TransferQueue(limit: 1).batch(operations) }
        try await gated.origin.reachRequests(1)
        waiting.cancel()
        await waiting.value
        #expect(operations.allSatisfy { $0.error?.code == .cancelled })
    }

    @Test func `HOM-01 HOM-02 HOM-03 a client's requests are queued as operations`() async throws {
        let origin = try RawOrigin { connection in
            while true {
                let isHead = try connection.readRequest().head.startLine.hasPrefix("HEAD")
                let answer = response("[1]", fields: "Content-Type: application/json\r\n")
                try connection.send(isHead ? String(answer.dropLast(3)) : answer)
            }
        }
        let api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.port)/v1")
        let queue = TransferQueue(limit: 1)
        #expect(TransferQueue().limit == nil)
        var operations: [TransferOperation] = []
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            operations.append(try api.operation(method, "a", body: .parameters(["x": 1])))
        }
        var form = MultipartForm()
        form.append(name: "x", bytes: Array("y".utf8))
        operations.append(try api.operation("POST", "form", body: .multipart(form)))
        for operation in operations { queue.add(operation) }
        await queue.waitUntilEmpty()
        let lines = origin.requests.map { $0.head.startLine.dropLast(" HTTP/1.1".count) }
        #expect(
            lines == [
                "GET /v1/a?x=1", "HEAD /v1/a?x=1", "POST /v1/a", "PUT /v1/a", "PATCH /v1/a", "DELETE /v1/a?x=1",
                "POST /v1/form",
            ])
        #expect(origin.requests[2].text == "x=1" && origin.requests[6].text.contains("name=\"x\""))
        for operation in operations {
            let value = try await operation.value(decodedBy: JSONResponseSerializer())
            #expect(value == (operation.request.method == "HEAD" ? nil : [1]))
        }
    }

    @Test func `HOM-04 a request that cannot be serialized is an error and no operation`() async throws {
        let api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:1")
        let error = await sessionError { _ = try api.operation("GET", "a", body: .parameters([1])) }
        #expect(error?.code == .invalidRequest && error?.underlying is SerializationError)
    }
}
