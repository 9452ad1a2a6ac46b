// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage
public import PintleTrust

/// What a program wants to decide, or to know, while the tasks of a session run. What is not set leaves things as they
/// are.
///
///     let session = try Session(hooks: SessionHooks {
///         $0.willRedirect = { task, request, _ in
///             request.url.isSameOrigin(as: task.originalRequest.url) ? request : nil
///         }
///     })
///
/// Decisions are asynchronous and run off the engine's threads; their task waits, and cancelling it does not wait for
/// them. The two about a handshake, and all notices of tasks, are called on an engine thread, in the order of what they
/// tell of: they must not block. A session keeps its hooks, so one that they hold never goes by itself.
public struct SessionHooks: Sendable {
    // MARK: Decisions

    /// A redirect is about to be followed.
    ///
    /// - Returns: the request to make: the proposed one, another, or nil to stop here. Then the redirect itself is the
    ///   task's response.
    /// - Throws: what fails the task, as `underlying` of a `hookFailed`.
    public var willRedirect:
        (
            @Sendable (_ task: SessionTask, _ proposed: SessionRequest, _ response: ResponseHead) async throws
                -> SessionRequest?
        )?

    /// A server, with 401, or a proxy, with 407, asks for credentials.
    ///
    /// - Throws: what fails the task, as `underlying` of a `hookFailed`.
    public var wasChallenged: (@Sendable (_ task: SessionTask, _ challenge: Challenge) async throws -> ChallengeAnswer)?

    /// A body is needed again that cannot be made again, or, for an upload without a source, at first.
    ///
    /// - Returns: nil where there is none; the task then fails as `cannotRewind`, or sends no body.
    public var needsBody: (@Sendable (_ task: SessionTask) async throws -> UploadSource?)?

    /// The head of the response that is the task's result has arrived, and none of its body.
    public var receivedResponse:
        (@Sendable (_ task: SessionTask, _ response: ResponseHead) async throws -> ResponseDisposition)?

    /// The response of a task is about to be offered to the cache, also a 304 to the program's own conditions; what a 304 to the
    /// cache's conditions confirms is there already.
    ///
    /// - Returns: what is offered, of which head and body count; nil for nothing.
    public var willCache: (@Sendable (_ task: SessionTask, _ response: CachedResponse) async -> CachedResponse?)?

    /// A download is whole, in a temporary file.
    ///
    /// - Returns: where it is to be moved; nil for the task's own destination.
    public var finishedDownload:
        (
            @Sendable (_ task: SessionTask, _ temporaryFile: String, _ response: ResponseHead) async throws
                -> String?
        )?

    // MARK: The handshake

    /// A server shows its chain. What this says goes, the policy's pins included; without it the session's policy
    /// decides.
    public var decidesTrust: (@Sendable (_ session: Session, _ trust: ServerTrust) -> TrustDecision)?

    /// A server asks for a certificate. Without it the configuration's is shown.
    public var choosesIdentity:
        (@Sendable (_ session: Session, _ request: ClientCertificateRequest) -> ClientIdentity?)?

    // MARK: Notices

    /// Bytes of the request's body were taken by the connection: `count` since the last notice, `progress` all of them,
    /// and how many there will be.
    public var sentBody: (@Sendable (_ task: SessionTask, _ count: Int, _ progress: TaskProgress) -> Void)?

    /// Bytes of the response's body arrived, for a task that keeps them in memory or streams them.
    public var receivedBody: (@Sendable (_ task: SessionTask, _ bytes: ByteBuffer) -> Void)?

    /// Bytes of a download were written to its file.
    public var wroteDownload: (@Sendable (_ task: SessionTask, _ count: Int, _ progress: TaskProgress) -> Void)?

    /// A download goes on where an earlier one had ended.
    public var resumedDownload: (@Sendable (_ task: SessionTask, _ offset: UInt64, _ progress: TaskProgress) -> Void)?

    /// A data task has become a download, as its ``ResponseDisposition/becomeDownload(_:)`` wanted. It is the same task.
    public var becameDownload: (@Sendable (_ task: SessionTask) -> Void)?

    /// How the task went; before ``completed``.
    public var collectedMetrics: (@Sendable (_ task: SessionTask, _ metrics: TaskMetrics) -> Void)?

    /// The task is over, and no longer listed; well when `error` is nil.
    public var completed: (@Sendable (_ task: SessionTask, _ error: SessionError?) -> Void)?

    /// The session takes no more tasks, and the last one has ended. This one is called off the engine's threads.
    public var becameInvalid: (@Sendable (_ session: Session) -> Void)?

    /// Makes hooks of which `set` sets some.
    public init(_ set: (inout SessionHooks) -> Void = { _ in }) { set(&self) }
}
