// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
public import PintleMessage
internal import PintleSerialization
internal import PintleSystem

/// A task and the serializer of its response.
public struct HTTPTask<Output: Sendable>: Sendable {
    /// The task, which is suspended until it is resumed.
    public let task: SessionTask
    private let serializer: any ResponseSerializer<Output>
    /// Held, because a program that keeps only the task would otherwise release the session and so end the task.
    private let session: Session

    init(task: SessionTask, serializer: some ResponseSerializer<Output>, session: Session) {
        self.task = task
        self.serializer = serializer
        self.session = session
    }

    /// Waits for the response, and decodes it off the caller's thread. Resumes a task that was never resumed.
    ///
    /// - Throws: ``SessionError``: the reason why the task failed; or `rejected`, with the response and its violation
    ///   as a ``RejectedResponse`` in `underlying`.
    @concurrent public func value() async throws(SessionError) -> HTTPResponse<Output> {
        try await self.decoded(try await self.task.value())
    }

    /// Waits like ``value()``, but leaves it to others to resume the task.
    @concurrent package func end() async throws(SessionError) -> HTTPResponse<Output> {
        try await self.decoded(try await self.task.end())
    }

    @concurrent private func decoded(_ result: TaskResult) async throws(SessionError) -> HTTPResponse<Output> {
        let value = try result.decoded(by: self.serializer, answering: self.task.currentRequest.method)
        return HTTPResponse(value: value, head: result.response, url: result.url, metrics: result.metrics)
    }

    /// Resumes the task and waits like ``value()``. Cancelling the Swift task that waits cancels it.
    public func run() async throws(SessionError) -> HTTPResponse<Output> {
        _ = try await self.task.run()
        return try await self.value()
    }
}

/// A response that satisfies its contract.
public struct HTTPResponse<Value: Sendable>: Sendable {
    /// The value that the serializer made of the body.
    public let value: Value
    /// Status, reason and fields.
    public let head: ResponseHead
    /// The URL that answered, after redirects.
    public let url: HTTPURL
    /// The metrics of its task.
    public let metrics: TaskMetrics

    /// Makes a response, for tests.
    public init(value: Value, head: ResponseHead, url: HTTPURL, metrics: TaskMetrics = TaskMetrics()) {
        self.value = value
        self.head = head
        self.url = url
        self.metrics = metrics
    }
}

extension HTTPResponse<[UInt8]> {
    /// The body as text in UTF-8; invalid bytes become the replacement character.
    public var text: String { String(decoding: self.value, as: UTF8.self) }
}
