// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
public import PintleMessage
internal import PintleSystem

/// A task and what becomes of its response.
public struct HTTPTask<Output: Sendable>: Sendable {
    /// The task: suspended, to be resumed, observed and cancelled.
    public let task: SessionTask
    private let serializer: any ResponseSerializer<Output>
    /// Held, or a program that keeps only the task would end it with its session.
    private let session: Session

    init(task: SessionTask, serializer: some ResponseSerializer<Output>, session: Session) {
        self.task = task
        self.serializer = serializer
        self.session = session
    }

    /// Waits for the response, and decodes it off the caller's thread. A task that was never resumed is set going.
    ///
    /// - Throws: ``SessionError``: why the task failed, or `rejected`, behind which are the response and its violation
    ///   as ``RejectedResponse``.
    @concurrent public func value() async throws(SessionError) -> HTTPResponse<Output> {
        try await self.decoded(try await self.task.value())
    }

    /// Waits as ``value()`` does, and leaves it to others to set the task going.
    @concurrent func end() async throws(SessionError) -> HTTPResponse<Output> {
        try await self.decoded(try await self.task.end())
    }

    @concurrent private func decoded(_ result: TaskResult) async throws(SessionError) -> HTTPResponse<Output> {
        let value = try result.decoded(by: self.serializer, answering: self.task.currentRequest.method)
        return HTTPResponse(value: value, head: result.response, url: result.url, metrics: result.metrics)
    }

    /// Sets the task going and waits as ``value()`` does. Cancelling the Swift task that waits cancels it.
    public func run() async throws(SessionError) -> HTTPResponse<Output> {
        _ = try await self.task.run()
        return try await self.value()
    }
}

/// A response that has kept its contract.
public struct HTTPResponse<Value: Sendable>: Sendable {
    /// What the serializer made of the body.
    public let value: Value
    /// Status, reason and fields.
    public let head: ResponseHead
    /// The URL that it came from, after redirects.
    public let url: HTTPURL
    /// How its task went.
    public let metrics: TaskMetrics

    /// Makes a response, as tests do.
    public init(value: Value, head: ResponseHead, url: HTTPURL, metrics: TaskMetrics = TaskMetrics()) {
        self.value = value
        self.head = head
        self.url = url
        self.metrics = metrics
    }
}

extension HTTPResponse<[UInt8]> {
    /// The body as text in UTF-8; what is none becomes the replacement character.
    public var text: String { String(decoding: self.value, as: UTF8.self) }
}
