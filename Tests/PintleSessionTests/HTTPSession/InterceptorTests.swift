// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@testable import PintleSession

/// Interceptors of a client's tasks: their changes, their retries, and their notifications.
@Suite(.timeLimit(.minutes(15))) struct InterceptorTests {
    private let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    private func api(_ origin: RawOrigin, _ interceptors: Interceptor...) throws -> HTTPSession {
        var api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.port)")
        api.interceptors = interceptors
        return api
    }

    /// Gives one answer after another, and the last one for ever.
    private func origin(_ answers: String...) throws -> RawOrigin {
        let count = Watched(0)
        return try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let number = count.change { count in
                    defer { count += 1 }
                    return min(count, answers.count - 1)
                }
                try connection.send(answers[number])
            }
        }
    }

    private static let unavailable = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy"
    private static let unauthorized = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"

    /// Repeats without waiting.
    private static func eager(_ limit: Int = 2) -> Interceptor {
        var policy = RetryPolicy()
        policy.firstDelay = .zero
        policy.limit = limit
        return .retry(policy)
    }

    // MARK: Changing requests

    @Test func `steps change the request in their order, and see the base`() async throws {
        let origin = try self.origin(response("done"))
        let first = Interceptor { step in
            step.adapt = { request, attempt in
                request.fields.set("X-Way", "first \(attempt.number) \(attempt.isElsewhere)")
            }
        }
        let second = Interceptor { step in
            step.adapt = { request, _ in request.fields.set("X-Way", "\(request.fields["X-Way"] ?? "")/second") }
        }
        let answer = try await self.api(origin, first, second).get("a")
        #expect(answer.text == "done")
        #expect(origin.requests.map { $0["X-Way"] } == ["first 1 false/second"])
    }

    @Test func `a step that throws fails the task before anything is sent`() async throws {
        let origin = try self.origin(response("done"))
        let step = Interceptor { $0.adapt = { _, _ in throw Refusal(reason: "closed") } }
        let error = await sessionError { _ = try await self.api(origin, step).get("a") }
        #expect(error?.code == .hookFailed && error?.underlying as? Refusal == Refusal(reason: "closed"))
        #expect(origin.connections.isEmpty)
    }

    @Test func `what a step makes of a request must still be one`() async throws {
        let origin = try self.origin(response("done"))
        let step = Interceptor { $0.adapt = { request, _ in request.fields.set("X", "a\r\nb: c") } }
        let error = await sessionError { _ = try await self.api(origin, step).get("a") }
        #expect(error?.code == .invalidRequest && origin.connections.isEmpty)
    }

    @Test func `downloads, streams and operations pass the steps, too`() async throws {
        let origin = try self.origin(response("done"))
        let seen = Watched<[String]>([])
        let step = Interceptor { step in
            step.created = { task in seen.change { $0.append("made \(task.kind)") } }
            step.adapt = { request, _ in request.fields.set("X-Step", "yes") }
            step.completed = { task, error in seen.change { $0.append("over \(task.kind) \(error == nil)") } }
        }
        let api = try self.api(origin, step)
        let folder = try TemporaryFolder()
        try await api.download("a", to: .file("\(folder.path)/a"))
        #expect(try await api.stream("a").body.collect(upTo: 100) == ByteBuffer(string: "done"))
        try await seen.reach("the stream's end") { $0.count == 4 }
        let operation = try api.operation("GET", "a")
        operation.start()
        _ = try await operation.value()
        #expect(origin.requests.map { $0["X-Step"] } == ["yes", "yes", "yes"])
        try await seen.reach("the ends") {
            $0 == [
                "made download", "over download true", "made data", "over data true", "made data", "over data true",
            ]
        }
    }

    // MARK: Making requests again

    @Test func `a status that may pass is asked again, as often as is allowed`() async throws {
        let origin = try self.origin(Self.unavailable, Self.unavailable, response("done"))
        let answer = try await self.api(origin, Self.eager()).get("a")
        #expect(answer.text == "done" && answer.metrics.transactions.count == 3)
        #expect(origin.requests.count == 3)
        let busy = try self.origin(Self.unavailable)
        let error = await sessionError { _ = try await self.api(busy, Self.eager()).get("a") }
        #expect((error?.underlying as? RejectedResponse)?.head.status == 503 && busy.requests.count == 3)
    }

    @Test func `a request that is not idempotent is not made twice, unless the program says so`() async throws {
        let origin = try self.origin(Self.unavailable)
        let api = try self.api(origin, Self.eager())
        let once = await sessionError { _ = try await api.post("a", json: [1]) }
        #expect(once?.code == .rejected && origin.requests.count == 1)
        let told = await sessionError { _ = try await api.post("a", json: [1]) { $0.isIdempotent = true } }
        #expect(told?.code == .rejected && origin.requests.count == 4)
        #expect(origin.requests.allSatisfy { $0.text == "[1]" })
        let other = await sessionError { _ = try await api.put("a", body: .text("x")) { $0.isIdempotent = false } }
        #expect(other?.code == .rejected && origin.requests.count == 5)
    }

    @Test func `what cannot have reached the server is sent again by any method`() async throws {
        let port = try FreePort.find()
        var api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(port)")
        let attempts = Watched<[Int]>([])
        let counting = Interceptor { step in
            step.retry = { _, attempt in
                attempts.change { $0.append(attempt.number) }
                return .accept
            }
        }
        api.interceptors = [counting, Self.eager(3)]
        let error = await sessionError { [api] in _ = try await api.post("a", json: 1) }
        #expect(error?.code == .connectionRefused)
        #expect(attempts.current == [1, 2, 3, 4])
    }

    @Test func `a body that is cut is asked for again, and none of the first is left`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            guard connection.number > 0 else {
                return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            }
            try connection.send(response("whole"))
        }
        let task = try self.api(origin, Self.eager()).task("GET", "a", as: HTTPResponseSerializer())
        #expect(try await task.run().text == "whole")
        #expect(task.task.progress.received == 5 && task.task.metrics.transactions.count == 2)
    }

    @Test func `a stream that is used up keeps the answer that there is`() async throws {
        let origin = try self.origin(Self.unavailable)
        let api = try self.api(origin, Self.eager())
        let (pieces, feed) = AsyncStream<ByteBuffer>.makeStream()
        feed.yield(ByteBuffer(string: "once"))
        feed.finish()
        let error = await sessionError { _ = try await api.put("a", body: .stream(BodyStream(pieces))) }
        #expect((error?.underlying as? RejectedResponse)?.head.status == 503 && origin.requests.count == 1)
        let again = BodyStream {
            AsyncStream<ByteBuffer> {
                $0.yield(ByteBuffer(string: "more")); $0.finish()
            }
        }
        _ = await sessionError { _ = try await api.put("a", body: .stream(again)) }
        #expect(origin.requests.dropFirst().map(\.text) == ["more", "more", "more"])
    }

    @Test func `a wait before the next attempt ends with the task`() async throws {
        let origin = try self.origin(Self.unavailable)
        let waits = Interceptor { $0.retry = { _, _ in .retry(after: .seconds(3600)) } }
        let task = try self.api(origin, waits).task("GET", "a", as: HTTPResponseSerializer())
        task.task.resume()
        try await origin.reachRequests(1)
        task.task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        var wanted = try self.api(origin, waits)
        wanted.interceptors.append(Self.eager())
        let late = await sessionError { [wanted] in
            _ = try await wanted.get("a") { $0.deadline = .now + .milliseconds(100) }
        }
        #expect(late?.code == .timeout && origin.requests.count == 2)
    }

    @Test func `a task that is cancelled asks no step`() async throws {
        let silent = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let asked = Watched(0)
        let step = Interceptor { step in
            step.retry = { _, _ in
                asked.change { $0 += 1 }
                return .retry(after: .zero)
            }
        }
        var api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(silent.port)")
        api.interceptors = [step]
        let task = try api.task("GET", "a", as: HTTPResponseSerializer())
        task.task.resume()
        task.task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(asked.current == 0)
    }

    // MARK: Patience

    private static func head(_ status: UInt16, _ fields: Fields = Fields()) -> ResponseHead {
        ResponseHead(status: status, reason: "", fields: fields)
    }

    @Test(arguments: [
        ("3", Duration.seconds(3)), ("0", .zero), ("Thu, 01 Jan 1970 00:20:00 GMT", .seconds(200)),
        ("Thu, 01 Jan 1970 00:00:00 GMT", .zero), ("61", nil), ("99999999999999999999", nil),
    ])
    func `Retry-After says how long to wait, and whether that is worth it (9110 §10.2.3)`(
        value: String, expected: Duration?
    ) throws {
        var policy = RetryPolicy()
        policy.longestRetryAfter = expected == .seconds(200) ? .seconds(200) : .seconds(60)
        let delay = policy.delay(
            after: .response(Self.head(503, ["Retry-After": value])), of: request(1), attempt: 1, jitter: 1, at: 1000)
        #expect(delay == expected)
    }

    @Test func `waits double up to a limit, and are of random length`() throws {
        var policy = RetryPolicy()
        policy.limit = 100
        policy.firstDelay = .milliseconds(100)
        policy.longestDelay = .seconds(1)
        func delay(_ attempt: Int, _ jitter: Double) -> Duration? {
            policy.delay(after: .response(Self.head(503)), of: request(1), attempt: attempt, jitter: jitter, at: 0)
        }
        #expect((1...6).map { delay($0, 1) } == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
        #expect(delay(99, 1) == .seconds(1) && delay(100, 0.5) == .milliseconds(500) && delay(101, 1) == nil)
        #expect(delay(1, 0) == .zero && delay(2, 0.25) == .milliseconds(50))
        let odd = Self.head(503, ["Retry-After": "soon"])
        #expect(policy.delay(after: .response(odd), of: request(1), attempt: 1, jitter: 1, at: 0) == .milliseconds(100))
    }

    // MARK: Tokens

    @Test func `a token is had once, given with every request, and renewed once for all that find it refused`()
        async throws
    {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let isGood = request["Authorization"] == "Bearer new"
                try connection.send(isGood ? response("done") : Self.unauthorized)
            }
        }
        let renewals = Watched<[String?]>([])
        let tokens = BearerTokens("old") { refused in
            renewals.change { $0.append(refused) }
            // All requests are refused before there is a new one.
            try await origin.reachRequests(20)
            return "new"
        }
        let api = try self.api(origin, .bearer(tokens))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await api.get("a").text } }
            for try await text in group { #expect(text == "done") }
        }
        #expect(renewals.current == ["old"] && tokens.current == "new" && origin.requests.count == 40)
        #expect(try await api.get("a").text == "done" && origin.requests.count == 41)
    }

    @Test func `a token is renewed once for a task; the second 401 is its answer`() async throws {
        let origin = try self.origin(Self.unauthorized)
        let renewals = Watched(0)
        let tokens = BearerTokens { _ in "token \(renewals.change { $0 += 1; return $0 })" }
        let error = await sessionError { _ = try await self.api(origin, .bearer(tokens)).get("a") }
        #expect((error?.underlying as? RejectedResponse)?.head.status == 401)
        #expect(origin.requests.map { $0["Authorization"] } == ["Bearer token 1", "Bearer token 2"])
    }

    @Test func `a renewal that fails is the error of who waits, and the next request tries again`() async throws {
        let origin = try self.origin(response("done"))
        let fails = Watched(true)
        let tokens = BearerTokens { _ in
            if fails.current { throw Refusal(reason: "no sign-in") }
            return "token"
        }
        let api = try self.api(origin, .bearer(tokens))
        let error = await sessionError { _ = try await api.get("a") }
        #expect(error?.code == .hookFailed && error?.underlying as? Refusal == Refusal(reason: "no sign-in"))
        fails.change { $0 = false }
        #expect(try await api.get("a").text == "done" && origin.requests.count == 1)
    }

    @Test func `a token stays with the service, and gives way to a field that is there`() async throws {
        let origin = try self.origin(response("done"))
        let other = try self.origin(response("done"))
        let api = try self.api(origin, .bearer(BearerTokens("secret") { _ in "secret" }))
        _ = try await api.get("http://127.0.0.1:\(other.port)/a")
        _ = try await api.get("a") { $0.fields.set("Authorization", "Own") }
        #expect(other.requests.map { $0["Authorization"] } == [nil])
        #expect(origin.requests.map { $0["Authorization"] } == ["Own"])
    }
}
