// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// A step that the tasks of an ``HTTPSession`` pass: it may change their requests, repeat them, and hear of their ends.
/// A closure that is not set changes nothing.
///
///     api.interceptors = [.bearer(tokens), .retry(), .logging(logger)]
///
/// Requests pass the steps in their order. After an attempt, the steps are asked in the same order until one demands
/// another attempt. Asynchronous closures run off the engine's threads; their task waits for them, but cancelling it
/// does not. The others must not block.
public struct Interceptor: Sendable {
    /// A task was made, and nothing was sent for it yet. Called before the program has the task, in the program's own
    /// context: task-local values are available.
    public var created: (@Sendable (_ task: SessionTask) -> Void)?

    /// An attempt is about to begin with this request. Redirects and answers to challenges are part of their attempt
    /// and do not come here.
    ///
    /// - Throws: the error that fails the task, as `underlying` of a `hookFailed`.
    public var adapt: (@Sendable (_ request: inout SessionRequest, _ attempt: Attempt) async throws -> Void)?

    /// A request is about to be sent; this includes redirects and answers to challenges. A returned response is used
    /// instead of sending the request; with nil the request is sent.
    ///
    /// - Parameters:
    ///   - attempt: has the request that would be sent, without the fields that the session adds for its cookies.
    ///   - body: the body that would be sent; nil if there is none. It is collected for this, up to
    ///     ``SessionConfiguration/bodyLimit``.
    /// - Throws: a ``SessionError``, which is the attempt's outcome; any other error fails the attempt, as `underlying`
    ///   of a `hookFailed`.
    public var answer: (@Sendable (_ attempt: Attempt, _ body: ByteBuffer?) async throws -> LocalResponse?)?

    /// An attempt has failed, or has brought the head of a response that would be the task's.
    ///
    /// Also called for a body that broke, if the task keeps it in memory; a body that went to a reader or a file cannot
    /// be repeated. Never called if the task was cancelled or its time is up.
    ///
    /// - Throws: the error that fails the task, as `underlying` of a `hookFailed`.
    public var retry: (@Sendable (_ outcome: Outcome, _ attempt: Attempt) async throws -> RetryDecision)?

    /// The task is over; it succeeded if `error` is nil. Called on an engine thread.
    public var completed: (@Sendable (_ task: SessionTask, _ error: SessionError?) -> Void)?

    /// Makes a step; `set` sets the closures that it needs.
    public init(_ set: (inout Interceptor) -> Void) { set(&self) }

    /// One attempt, from the task's request to an outcome.
    public struct Attempt: Sendable {
        /// The task that makes the attempt.
        public let task: SessionTask
        /// The number of the attempt, counted from 1.
        public let number: Int
        /// The outcomes of the attempts before this one, in their order.
        public let earlier: [Outcome]
        /// The request: for `adapt` the task's own, for `retry` the last one that was sent.
        public let request: SessionRequest
        /// The base of the client that made the task; nil if the client has none.
        public let baseURL: HTTPURL?

        /// True if the request leaves the origin of the client's base, and so must not carry the user's credentials.
        /// Always false without a base.
        public var isElsewhere: Bool { self.baseURL.map { !self.request.url.isSameOrigin(as: $0) } ?? false }
    }

    /// The end of an attempt.
    public enum Outcome: Sendable {
        /// A response whose body was not read yet.
        case response(ResponseHead)
        /// No response, or an incomplete one.
        case failure(SessionError)
    }

    /// The decision of a step about an outcome.
    public enum RetryDecision: Sendable, Hashable {
        /// This step accepts the outcome.
        case accept
        /// The task's request is made again after this time, from the beginning, with redirects, challenges and the
        /// other steps. If its body cannot be read again, the outcome is accepted.
        case retry(after: Duration)
    }
}
