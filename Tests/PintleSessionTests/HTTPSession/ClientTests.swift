// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// The copies, errors and progress of a client.
@Suite(.timeLimit(.minutes(15))) struct ClientTests {
    private let stage: SessionStage
    private let origin: RawOrigin
    private let api: HTTPSession

    init() throws {
        self.stage = try SessionStage()
        self.origin = try PintleTesting.origin { _ in answer(200, ["Content-Type: application/json"], "[1]") }
        self.api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(self.origin.port)/v1")
    }

    private func serializer(team: String) throws -> HTTPRequestSerializer {
        var serializer = HTTPRequestSerializer()
        try serializer.setField("X-Team", to: team)
        return serializer
    }

    @Test func `HSM-25 a copy shares the session, and nothing that is set afterwards`() async throws {
        var api = self.api
        let copy = api
        api.requestSerializer = try self.serializer(team: "core")
        _ = try await api.get("a")
        _ = try await copy.get("a")
        #expect(self.origin.requests.map { $0["X-Team"] } == ["core", nil])
        #expect(copy.session === api.session && copy.baseURL == api.baseURL && self.origin.connections.count == 1)
    }

    @Test func `a task keeps the session that its client made`() async throws {
        let task = try HTTPSession(base: "http://127.0.0.1:\(self.origin.port)").task(
            "GET", "a", as: HTTPResponseSerializer())
        #expect(try await task.run().text == "[1]")
    }

    @Test func `HOM-03 an operation is what its client was when it was made`() async throws {
        var api = self.api
        api.requestSerializer = try self.serializer(team: "core")
        let operation = try api.operation("GET", "a")
        api.requestSerializer = try self.serializer(team: "other")
        operation.start()
        _ = try await operation.value()
        #expect(operation.session === self.stage.session)
        #expect(self.origin.requests.map { $0["X-Team"] } == ["core"])
    }

    @Test func `HSM-12 the error of a query block reaches who asks, and nothing is sent`() async throws {
        let refusal = SerializationError(.refused, "not today")
        var serializer = HTTPRequestSerializer()
        serializer.queryBlock = { (_, _) throws(SerializationError) -> String? in throw refusal }
        var api = self.api
        api.requestSerializer = serializer
        let error = await sessionError { _ = try await api.get("a", parameters: ["key": "value"]) }
        #expect(error?.code == .invalidRequest && error?.underlying as? SerializationError == refusal)
        #expect(self.stage.session.tasks.isEmpty && self.origin.connections.isEmpty)
    }

    @Test func `SER-REQ-06 a fragment is no part of the request, and parameters do not end up behind it`() async throws
    {
        _ = try await self.api.get("a#part", parameters: ["k": 1])
        _ = try await self.api.get("a?x=1#part", parameters: ["k": 1])
        #expect(self.origin.requests.map(\.target) == ["/v1/a?k=1", "/v1/a?x=1&k=1"])
    }

    /// Counts how often it is asked.
    private struct CountingSerializer: ResponseSerializer {
        let asked = Watched(0)

        var contract: ResponseContract { ResponseContract() }

        func decode(_ head: ResponseHead, body: [UInt8], requestMethod: String) -> [UInt8] {
            self.asked.change { $0 += 1 }
            return body
        }
    }

    @Test func `TDL-08 no serializer is asked about a response that broke off`() async throws {
        let broken = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
        }
        let serializer = CountingSerializer()
        let error = await sessionError {
            _ = try await self.api.get("http://127.0.0.1:\(broken.port)/", as: serializer)
        }
        #expect(error?.code == .truncated && serializer.asked.current == 0)
        #expect(try await self.api.get("a", as: serializer).value == Array("[1]".utf8) && serializer.asked.current == 1)
    }

    @Test func `TDL-03 TDL-04 what a client sends and gets has progress up to 1, parameters and forms too`()
        async throws
    {
        let text = String(repeating: "Pintle", count: 4_000)
        var form = MultipartForm()
        try form.append(name: "file", bytes: Array(text.utf8), fileName: "file", type: "text/html")
        let tasks = [
            try self.api.task("GET", "a", as: JSONResponseSerializer()),
            try self.api.task("POST", "a", body: .parameters(.string(text)), as: JSONResponseSerializer()),
            try self.api.task("POST", "a", body: .multipart(form), as: JSONResponseSerializer()),
        ]
        for task in tasks {
            var last: TaskProgress?
            let steps = task.task.progressStream
            #expect(try await task.run().value == [1])
            for await step in steps { last = step }
            #expect(last?.fractionReceived == 1 && last?.received == 3)
            #expect(last?.fractionSent == (task.task.kind == .data ? nil : 1))
        }
        #expect(tasks.map { $0.task.progress.sent } == [0, UInt64(text.utf8.count + 1), form.contentLength])
    }
}
