// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import NIOCore
internal import PintleMessage
public import PintleSerialization
public import PintleSession
internal import PintleSystem

/// Replaces a service in tests: records the requests and answers them by a script. Nothing is sent over the network.
///
///     let service = try RecordingSession()
///     service.on("GET", "users/1", .json(User(name: "Ada")))
///     let users = Users(api: service.client)
///
/// Its ``client`` is an ``HTTPSession`` like any other, except that no request is sent: serializers, contracts, tasks,
/// progress, redirects, cookies, interceptors and files work as in the program.
public final class RecordingSession: HTTPSending {
    private struct Rule: Sendable {
        let method: String
        let url: HTTPURL
        /// The answers, used one after the other; the last one is used from then on.
        var answers: [@Sendable (RecordedRequest) async throws -> RecordedAnswer]

        var description: String { "\(self.method) \(self.url)" }

        /// True if the rule matches the request. A rule without a query matches every query.
        func fits(_ request: SessionRequest) -> Bool {
            guard self.method == request.method, self.url.isSameOrigin(as: request.url) else { return false }
            return self.url.path == request.url.path
                || !self.url.path.contains("?") && self.url.path == request.url.path.prefix { $0 != "?" }
        }
    }

    private final class Record: Sendable {
        struct State: Sendable {
            var rules: [Rule] = []
            var requests: [RecordedRequest] = []
            var waiting: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
        }

        let state = Locked(State())

        /// Records a request and returns its scripted response.
        func answer(_ request: RecordedRequest, to sent: SessionRequest) async throws -> LocalResponse {
            let (answer, ready) = self.state.withLock { state in
                state.requests.append(request)
                let count = state.requests.count
                let ready = state.waiting.filter { $0.count <= count }
                state.waiting.removeAll { $0.count <= count }
                // The newest rule first, so that a test can replace an answer.
                let index = state.rules.lastIndex { $0.fits(sent) }
                let answer = index.flatMap { index in
                    state.rules[index].answers.count > 1
                        ? state.rules[index].answers.removeFirst() : state.rules[index].answers.first
                }
                return (answer, ready)
            }
            for (_, waiter) in ready { waiter.resume() }
            guard let answer else { throw self.unscripted(request) }
            return try await answer(request).response()
        }

        private func unscripted(_ request: RecordedRequest) -> SessionError {
            let rules = self.state.withLock { $0.rules.map(\.description) }
            return SessionError(
                .hookFailed,
                "no answer is scripted for \(request.method) \(request.url); "
                    + (rules.isEmpty ? "none is at all" : "there are: \(rules.joined(separator: ", "))"))
        }
    }

    /// The session for the program under test. The program may copy it with its own serializers and interceptors; these
    /// must precede the last interceptor, which answers.
    public let client: HTTPSession
    private let record: Record

    /// Creates a service without answers.
    ///
    /// - Parameter base: the base URL of the client, against which the script's URLs are resolved too.
    /// - Throws: ``SessionError`` with `invalidURL`.
    public init(
        base: String = "https://service.test/", configuration: SessionConfiguration = SessionConfiguration(),
        hooks: SessionHooks = SessionHooks()
    ) throws(SessionError) {
        let record = Record()
        var client = try HTTPSession(base: base, configuration: configuration, hooks: hooks)
        client.interceptors = [
            Interceptor { step in
                step.answer = { attempt, body in
                    let request = attempt.request
                    let recorded = RecordedRequest(
                        method: request.method, url: request.url, fields: request.fields,
                        body: body.map { Array($0.readableBytesView) } ?? [])
                    return try await record.answer(recorded, to: request)
                }
            }
        ]
        self.client = client
        self.record = record
    }

    // MARK: The script

    /// Answers a method and a URL: with one answer after the other, and from then on with the last one. A URL without a
    /// query matches every query; later rules take precedence.
    ///
    /// - Throws: ``SessionError`` with `invalidURL`.
    public func on(_ method: String, _ url: String, _ answers: RecordedAnswer...) throws(SessionError) {
        let rule = Rule(
            method: method, url: try self.client.url(url), answers: answers.map { answer in { _ in answer } })
        self.record.state.withLock { $0.rules.append(rule) }
    }

    /// Answers a method and a URL with the result of a closure.
    ///
    /// - Throws: ``SessionError`` with `invalidURL`. An error of `answer` becomes the attempt's outcome, as described at
    ///   ``Interceptor/answer``.
    public func on(
        _ method: String, _ url: String,
        _ answer: @escaping @Sendable (RecordedRequest) async throws -> RecordedAnswer
    ) throws(SessionError) {
        let rule = Rule(method: method, url: try self.client.url(url), answers: [answer])
        self.record.state.withLock { $0.rules.append(rule) }
    }

    // MARK: The record

    /// The requests received so far, in their order, including redirects and retries.
    public var requests: [RecordedRequest] { self.record.state.withLock { $0.requests } }

    /// Waits until at least `count` requests were received.
    public func requests(count: Int) async -> [RecordedRequest] {
        await withCheckedContinuation { waiter in
            let isThere = self.record.state.withLock { state in
                if state.requests.count < count { state.waiting.append((count, waiter)) }
                return state.requests.count >= count
            }
            if isThere { waiter.resume() }
        }
        return self.requests
    }

    // MARK: HTTPSending

    /// The decoders of ``client``.
    public var makeDecoder: @Sendable () -> JSONDecoder { self.client.makeDecoder }

    /// Sends with ``client``.
    public func send<Serializer: ResponseSerializer>(
        _ method: String, _ url: String, body: RequestBody?, as serializer: Serializer, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.client.send(method, url, body: body, as: serializer, shape)
    }

    /// Downloads with ``client``.
    @discardableResult
    public func download(
        _ url: String, to destination: DownloadDestination, method: String, body: RequestBody?,
        accepting contract: ResponseContract, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> TaskResult {
        try await self.client.download(url, to: destination, method: method, body: body, accepting: contract, shape)
    }

    /// Streams with ``client``.
    public func stream(
        _ url: String, method: String, body: RequestBody?, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> SessionResponse {
        try await self.client.stream(url, method: method, body: body, shape)
    }
}
