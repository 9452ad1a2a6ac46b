// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleSessionTesting
import PintleTesting
import Testing

/// A service of a program, which asks whatever it is given.
private struct Users: Sendable {
    struct User: Codable, Sendable, Equatable {
        var id: Int?
        var name: String
    }

    let api: any HTTPSending

    func named(_ name: String) async throws(SessionError) -> [User] {
        try await self.api.get("users", parameters: ["name": .string(name)], as: [User].self)
    }

    func add(_ user: User) async throws(SessionError) -> User {
        try await self.api.post("users", json: user, as: User.self) { $0.timeout = .seconds(3) }
    }

    func remove(_ id: Int) async throws(SessionError) { try await self.api.delete("users/\(id)") }
}

/// A service that answers as its script says, and remembers.
@Suite(.timeLimit(.minutes(15))) struct RecordingSessionTests {
    private typealias User = Users.User

    private let service: RecordingSession

    init() throws { self.service = try RecordingSession() }

    private func failure(_ work: () async throws(SessionError) -> Void) async -> SessionError? {
        do throws(SessionError) {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a service is tested without a network, and what it sent is on record`() async throws {
        let (ada, eve) = (User(id: 1, name: "Ada"), User(id: nil, name: "Eve"))
        try self.service.on("GET", "users", .json([ada]))
        try self.service.on("POST", "users") { request in
            var user = try request.json(as: User.self)
            user.id = 2
            return .json(user, status: 201)
        }
        try self.service.on("DELETE", "users/1", .status(204))
        let users = Users(api: self.service)
        #expect(try await users.named("Ada & Co") == [ada])
        #expect(try await users.add(eve) == User(id: 2, name: "Eve"))
        try await users.remove(1)
        let requests = self.service.requests
        #expect(requests.map(\.method) == ["GET", "POST", "DELETE"])
        #expect(
            requests.map(\.url.description) == [
                "https://service.test/users?name=Ada%20%26%20Co", "https://service.test/users",
                "https://service.test/users/1",
            ])
        #expect(requests[1].text == #"{"name":"Eve"}"# && requests[1].fields["Content-Type"] == "application/json")
    }

    @Test func `an answer that breaks its contract is the error that a real one is`() async throws {
        try self.service.on("GET", "users", .text("gone", status: 410), .text("[]"), .json(["name"]))
        let users = Users(api: self.service.client)
        let gone = await self.failure { () async throws(SessionError) in _ = try await users.named("a") }
        #expect(gone?.code == .rejected && (gone?.underlying as? RejectedResponse)?.head.status == 410)
        let typed = await self.failure { () async throws(SessionError) in _ = try await users.named("a") }
        #expect(typed?.message.contains("text/plain") == true)
        let strange = await self.failure { () async throws(SessionError) in _ = try await users.named("a") }
        #expect(strange?.code == .rejected)
        // The last answer is repeated for ever.
        let again = await self.failure { () async throws(SessionError) in _ = try await users.named("a") }
        #expect(again?.message == strange?.message)
    }

    @Test func `a request without an answer says which there are`() async throws {
        let empty = await self.failure { () async throws(SessionError) in try await self.service.delete("a") }
        #expect(
            empty?.message == "no answer is scripted for DELETE https://service.test/a; none is at all",
            "\(String(describing: empty))")
        try self.service.on("GET", "a?b=1", .status(200))
        let other = await self.failure { () async throws(SessionError) in _ = try await self.service.get("a") }
        #expect(
            other?.code == .hookFailed
                && other?.message.hasSuffix("GET https://service.test/a; there are: GET https://service.test/a?b=1")
                    == true
        )
        #expect(self.service.requests.count == 2)
    }

    @Test func `errors are scripted like answers, and pass the client's interceptors`() async throws {
        let broken = SessionError(.connectionBroken, "the connection broke")
        try self.service.on("GET", "a", .failure(broken), .status(503), .text("at last"))
        var policy = RetryPolicy()
        policy.firstDelay = .zero
        var client = self.service.client
        client.interceptors.insert(.retry(policy), at: 0)
        #expect(try await client.get("a").text == "at last")
        #expect(self.service.requests.count == 3)
        try self.service.on("GET", "b", .failure(broken))
        let error = await self.failure { () async throws(SessionError) in _ = try await self.service.get("b") }
        #expect(error?.code == .connectionBroken && error?.message == broken.message)
    }

    @Test func `redirects are followed, and forms are recorded as they would be sent`() async throws {
        try self.service.on("POST", "old", .redirect(to: "/new", status: 307))
        try self.service.on("POST", "new", .status(201))
        var form = MultipartForm()
        form.append(name: "size", text: "12")
        let answer = try await self.service.post("old", body: .multipart(form))
        #expect(answer.head.status == 201 && answer.url.path == "/new")
        let requests = self.service.requests
        #expect(
            requests.count == 2 && requests[0].body == requests[1].body && requests[1].text.contains("\r\n\r\n12\r\n"))
        #expect(requests[1].fields["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
    }

    @Test func `a body arrives piece by piece, no faster than it is read, and a download is a file`() async throws {
        let (given, gate) = (Watched(0), AsyncStream<ByteBuffer>.makeStream())
        let pieces = BodyStream {
            AsyncStream {
                given.change { $0 += 1 }
                return given.current > 1000 ? nil : ByteBuffer(repeating: 7, count: 64 * 1024)
            }
        }
        let large = LocalResponse(ResponseHead(status: 200), body: pieces)
        try self.service.on("GET", "large", .response(large))
        try self.service.on(
            "GET", "gated", .response(LocalResponse(ResponseHead(status: 200), body: BodyStream(gate.stream))))
        let response = try await self.service.stream("large")
        var (count, pause) = (0, 0)
        for try await piece in response.body {
            count += piece.readableBytes
            if pause == 0 { pause = given.current }
        }
        #expect(count == 1000 * 64 * 1024 && pause < 100)

        let gated = try await self.service.stream("gated")
        gate.continuation.yield(ByteBuffer(string: "first"))
        var body = gated.body.makeAsyncIterator()
        #expect(try await body.next().map { String(buffer: $0) } == "first")
        gate.continuation.finish()
        #expect(try await body.next() == nil)

        let folder = try TemporaryFolder()
        try self.service.on("GET", "file", .text("content"))
        try await self.service.download("file", to: .file("\(folder.path)/file"))
        #expect(try String(contentsOfFile: "\(folder.path)/file", encoding: .utf8) == "content")
    }

    @Test func `a task that is cancelled does not wait for its answer, and requests can be waited for`() async throws {
        let never = AsyncStream<ByteBuffer>.makeStream()
        try self.service.on(
            "GET", "slow", .response(LocalResponse(ResponseHead(status: 200), body: BodyStream(never.stream))))
        let client = self.service.client
        let asking = Task { await self.failure { () async throws(SessionError) in _ = try await client.get("slow") } }
        #expect(await self.service.requests(count: 1).map(\.url.path) == ["/slow"])
        asking.cancel()
        #expect(await asking.value?.code == .cancelled)
    }

    @Test func `an interim status is no answer, and a WebSocket is not opened by one`() async throws {
        try self.service.on("GET", "a", .status(101))
        let error = await self.failure { () async throws(SessionError) in _ = try await self.service.get("a") }
        #expect(error?.code == .hookFailed)
        try self.service.on("GET", "b", .status(403))
        let refused = await self.failure { () async throws(SessionError) in
            _ = try await self.service.client.webSocket("b")
        }
        #expect(refused?.code == .rejected)
    }
}
