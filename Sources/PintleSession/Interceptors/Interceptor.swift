// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// A step that the tasks of an ``HTTPSession`` pass: it may change their requests, have them made again, and know of
/// their ends. What is not set lets everything pass.
///
///     api.interceptors = [.bearer(tokens), .retry(), .logging(logger)]
///
/// Requests pass the steps in their order. Of an outcome, the steps are asked in the same order until one wants another
/// attempt. Closures that are asynchronous run off the engine's threads; their task waits, and cancelling it does not
/// wait for them. The others must not block.
public struct Interceptor: Sendable {
    /// A task was made, and nothing was sent for it. Called before the program has it, in the program's own context:
    /// task-local values are there.
    public var created: (@Sendable (_ task: SessionTask) -> Void)?

    /// An attempt is about to begin with this request. Redirects and answers to challenges belong to their attempt and
    /// are not seen here.
    ///
    /// - Throws: what fails the task, as `underlying` of a `hookFailed`.
    public var adapt: (@Sendable (_ request: inout SessionRequest, _ attempt: Attempt) async throws -> Void)?

    /// A request is about to be sent, redirects and answers to challenges among them. What is given here is the response, and
    /// nothing goes out; nil lets the request go its way.
    ///
    /// - Parameters:
    ///   - attempt: its request is the one that would be sent, without the fields that the session adds for its cookies.
    ///   - body: what it would send; nil where there is none. It is collected for this, up to
    ///     ``SessionConfiguration/bodyLimit``.
    /// - Throws: a ``SessionError``, which is the attempt's outcome; what else is thrown fails the attempt, as `underlying` of
    ///   a `hookFailed`.
    public var answer: (@Sendable (_ attempt: Attempt, _ body: ByteBuffer?) async throws -> LocalResponse?)?

    /// An attempt has brought the head of a response that would be the task's, or has failed.
    ///
    /// Asked of a body that broke, too, where the task keeps it in memory; what has gone to a reader or a file cannot
    /// be had again. Never asked where the task was cancelled or its time is up.
    ///
    /// - Throws: what fails the task, as `underlying` of a `hookFailed`.
    public var retry: (@Sendable (_ outcome: Outcome, _ attempt: Attempt) async throws -> RetryDecision)?

    /// The task is over; well when `error` is nil. Called on an engine thread.
    public var completed: (@Sendable (_ task: SessionTask, _ error: SessionError?) -> Void)?

    /// Makes a step of which `set` sets some closures.
    public init(_ set: (inout Interceptor) -> Void) { set(&self) }

    /// One way from the task's request to an outcome.
    public struct Attempt: Sendable {
        /// Whose attempt it is.
        public let task: SessionTask
        /// Counted from 1.
        public let number: Int
        /// The outcomes of the attempts before this one, in their order.
        public let earlier: [Outcome]
        /// The request: for `adapt` as the task has it, for `retry` the last one that was sent.
        public let request: SessionRequest
        /// The base of the client that made the task; nil where it has none.
        public let baseURL: HTTPURL?

        /// True where the request leaves the origin of the client's base: what the service may know of the user is no
        /// business of this one. Without a base no request does.
        public var isElsewhere: Bool { self.baseURL.map { !self.request.url.isSameOrigin(as: $0) } ?? false }
    }

    /// The end of an attempt.
    public enum Outcome: Sendable {
        /// A response whose body was not read yet.
        case response(ResponseHead)
        /// No response, or not the whole.
        case failure(SessionError)
    }

    /// The answer to an outcome.
    public enum RetryDecision: Sendable, Hashable {
        /// It stands, as far as this step is concerned.
        case accept
        /// The task's request is made again after this time, from the beginning: redirects, challenges and the other
        /// steps included. A body that cannot be had again makes this `accept`.
        case retry(after: Duration)
    }
}
