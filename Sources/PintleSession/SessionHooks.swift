// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage
public import PintleTrust

/// Callbacks with which a program decides, or is notified, while the tasks of a session run. A hook that is not set
/// changes nothing.
///
///     let session = try Session(hooks: SessionHooks {
///         $0.willRedirect = { task, request, _ in
///             request.url.isSameOrigin(as: task.originalRequest.url) ? request : nil
///         }
///     })
///
/// Decisions are asynchronous and run off the engine's threads; their task waits for them, but cancelling it does not.
/// The two decisions about a handshake, and all notices of tasks, are called on an engine thread, in the order of their
/// events: they must not block. A session keeps its hooks, so a session that its own hooks refer to is never released.
public struct SessionHooks: Sendable {
    // MARK: Decisions

    /// A redirect is about to be followed.
    ///
    /// - Returns: the request to make, which is the proposed one or another; or nil to stop here, so that the redirect
    ///   itself becomes the task's response.
    /// - Throws: the error that fails the task, as `underlying` of a `hookFailed`.
    public var willRedirect:
        (
            @Sendable (_ task: SessionTask, _ proposed: SessionRequest, _ response: ResponseHead) async throws
                -> SessionRequest?
        )?

    /// A server (401) or a proxy (407) asks for credentials.
    ///
    /// - Throws: the error that fails the task, as `underlying` of a `hookFailed`.
    public var wasChallenged: (@Sendable (_ task: SessionTask, _ challenge: Challenge) async throws -> ChallengeAnswer)?

    /// A body is needed again but cannot be read again; or an upload has no source and needs its first body.
    ///
    /// - Returns: the body, or nil if there is none; the task then fails as `cannotRewind`, or sends no body.
    public var needsBody: (@Sendable (_ task: SessionTask) async throws -> UploadSource?)?

    /// The head of the task's final response has arrived, but none of its body.
    public var receivedResponse:
        (@Sendable (_ task: SessionTask, _ response: ResponseHead) async throws -> ResponseDisposition)?

    /// The response of a task is about to be offered to the cache, also a 304 to the program's own conditions. Not
    /// called for a 304 to the cache's conditions, as the response that it confirms is stored already.
    ///
    /// - Returns: the response to offer, of which head and body are used; nil for none.
    public var willCache: (@Sendable (_ task: SessionTask, _ response: CachedResponse) async -> CachedResponse?)?

    /// A download is complete, in a temporary file.
    ///
    /// - Returns: the path to move it to; nil for the task's own destination.
    public var finishedDownload:
        (
            @Sendable (_ task: SessionTask, _ temporaryFile: String, _ response: ResponseHead) async throws
                -> String?
        )?

    // MARK: The handshake

    /// A server shows its chain. This decision takes precedence over everything, the policy's pins included; without
    /// the hook the session's policy decides.
    public var decidesTrust: (@Sendable (_ session: Session, _ trust: ServerTrust) -> TrustDecision)?

    /// A server asks for a certificate. Without the hook the configuration's is shown.
    public var choosesIdentity:
        (@Sendable (_ session: Session, _ request: ClientCertificateRequest) -> ClientIdentity?)?

    // MARK: Notices

    /// The connection took bytes of the request's body: `count` since the last notice; `progress` has their total, and
    /// the expected length.
    public var sentBody: (@Sendable (_ task: SessionTask, _ count: Int, _ progress: TaskProgress) -> Void)?

    /// Bytes of the response's body arrived, for a task that keeps them in memory or streams them.
    public var receivedBody: (@Sendable (_ task: SessionTask, _ bytes: ByteBuffer) -> Void)?

    /// Bytes of a download were written to its file.
    public var wroteDownload: (@Sendable (_ task: SessionTask, _ count: Int, _ progress: TaskProgress) -> Void)?

    /// A download continues where an earlier one ended.
    public var resumedDownload: (@Sendable (_ task: SessionTask, _ offset: UInt64, _ progress: TaskProgress) -> Void)?

    /// A data task has become a download, as its ``ResponseDisposition/becomeDownload(_:)`` demanded. It is still one
    /// task.
    public var becameDownload: (@Sendable (_ task: SessionTask) -> Void)?

    /// The metrics of the task are complete. Called before ``completed``.
    public var collectedMetrics: (@Sendable (_ task: SessionTask, _ metrics: TaskMetrics) -> Void)?

    /// The task is over and no longer listed. It succeeded if `error` is nil.
    public var completed: (@Sendable (_ task: SessionTask, _ error: SessionError?) -> Void)?

    /// The session takes no more tasks, and the last one has ended. This notice is called off the engine's threads.
    public var becameInvalid: (@Sendable (_ session: Session) -> Void)?

    /// Makes hooks; `set` sets those that the program needs.
    public init(_ set: (inout SessionHooks) -> Void = { _ in }) { set(&self) }
}
