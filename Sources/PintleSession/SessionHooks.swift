// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage
public import PintleTrust

/// What a program wants to decide, or to know, while the tasks of a session run. Every member has a default that leaves
/// things as they are.
///
/// Decisions are asynchronous and run off the engine's threads; their task waits, and cancelling it does not wait for
/// them. The two about a handshake, and all notices of tasks, are called on an engine thread, in the order of what they tell of:
/// they must not block.
public protocol SessionHooks: AnyObject, Sendable {
    // MARK: Decisions

    /// A redirect is about to be followed.
    ///
    /// - Returns: the request to make: the proposed one, another, or nil to stop here. Then the redirect itself is the
    ///   task's response.
    /// - Throws: what fails the task, as `underlying` of a `hookFailed`.
    @concurrent func task(
        _ task: SessionTask, willRedirectTo request: SessionRequest, after response: ResponseHead
    ) async throws -> SessionRequest?

    /// A server, with 401, or a proxy, with 407, asks for credentials.
    ///
    /// - Throws: what fails the task, as `underlying` of a `hookFailed`.
    @concurrent func task(_ task: SessionTask, challengedBy challenge: Challenge) async throws -> ChallengeAnswer

    /// A body is needed again that cannot be made again, or, for an upload without a source, at first.
    ///
    /// - Returns: nil where there is none; the task then fails as `cannotRewind`, or sends no body.
    @concurrent func taskNeedsBody(_ task: SessionTask) async throws -> UploadSource?

    /// The head of the response that is the task's result has arrived, and none of its body.
    @concurrent func task(_ task: SessionTask, received response: ResponseHead) async throws -> ResponseDisposition

    /// A response is about to be offered to the cache.
    ///
    /// - Returns: what is offered; nil for nothing.
    @concurrent func task(_ task: SessionTask, willCache response: CachedResponse) async -> CachedResponse?

    /// A download is whole, in a temporary file.
    ///
    /// - Returns: where it is to be moved; nil for the task's own destination.
    @concurrent func task(
        _ task: SessionTask, finishedDownloadTo temporaryFile: String, response: ResponseHead
    ) async throws -> String?

    // MARK: The handshake

    /// A server shows its chain. What this says goes, the policy's pins included; the default is to let the session's
    /// policy decide.
    func session(_ session: Session, decideOn trust: ServerTrust) -> TrustDecision

    /// A server asks for a certificate. The default is the configuration's.
    func session(_ session: Session, identityFor request: ClientCertificateRequest) -> ClientIdentity?

    // MARK: Notices

    /// Bytes of the request's body were taken by the connection.
    ///
    /// - Parameters:
    ///   - count: how many, since the last notice.
    ///   - progress: all of them, and how many there will be.
    func task(_ task: SessionTask, sentBodyBytes count: Int, progress: TaskProgress)

    /// Bytes of the response's body arrived, for a task that keeps them in memory or streams them.
    func task(_ task: SessionTask, received bytes: ByteBuffer)

    /// Bytes of a download were written to its file.
    func task(_ task: SessionTask, wroteBytes count: Int, progress: TaskProgress)

    /// A download goes on where an earlier one had ended.
    func task(_ task: SessionTask, resumedAt offset: UInt64, progress: TaskProgress)

    /// A data task has become a download, as its ``ResponseDisposition/becomeDownload(_:)`` wanted. It is the same task.
    func taskBecameDownload(_ task: SessionTask)

    /// How the task went; before ``task(_:completedWith:)``.
    func task(_ task: SessionTask, collected metrics: TaskMetrics)

    /// The task is over, and no longer listed; well when `error` is nil.
    func task(_ task: SessionTask, completedWith error: SessionError?)

    /// The session takes no more tasks, and the last one has ended. This one is called off the engine's threads.
    func sessionBecameInvalid(_ session: Session)
}

extension SessionHooks {
    /// Follows the proposed request.
    @concurrent public func task(
        _ task: SessionTask, willRedirectTo request: SessionRequest, after response: ResponseHead
    ) async throws -> SessionRequest? { request }

    /// Does as without the hook.
    @concurrent public func task(
        _ task: SessionTask, challengedBy challenge: Challenge
    ) async throws -> ChallengeAnswer { .performDefault }

    /// There is none.
    @concurrent public func taskNeedsBody(_ task: SessionTask) async throws -> UploadSource? { nil }

    /// Goes on.
    @concurrent public func task(
        _ task: SessionTask, received response: ResponseHead
    ) async throws -> ResponseDisposition { .allow }

    /// Offers the response as it is.
    @concurrent public func task(
        _ task: SessionTask, willCache response: CachedResponse
    ) async -> CachedResponse? { response }

    /// Leaves it to the task's destination.
    @concurrent public func task(
        _ task: SessionTask, finishedDownloadTo temporaryFile: String, response: ResponseHead
    ) async throws -> String? { nil }

    /// Lets the policy decide.
    public func session(_ session: Session, decideOn trust: ServerTrust) -> TrustDecision { .evaluate }
    /// Shows the configuration's identity.
    public func session(_ session: Session, identityFor request: ClientCertificateRequest) -> ClientIdentity? {
        session.configuration.clientIdentity
    }

    /// Does nothing.
    public func task(_ task: SessionTask, sentBodyBytes count: Int, progress: TaskProgress) {}
    /// Does nothing.
    public func task(_ task: SessionTask, received bytes: ByteBuffer) {}
    /// Does nothing.
    public func task(_ task: SessionTask, wroteBytes count: Int, progress: TaskProgress) {}
    /// Does nothing.
    public func task(_ task: SessionTask, resumedAt offset: UInt64, progress: TaskProgress) {}
    /// Does nothing.
    public func taskBecameDownload(_ task: SessionTask) {}
    /// Does nothing.
    public func task(_ task: SessionTask, collected metrics: TaskMetrics) {}
    /// Does nothing.
    public func task(_ task: SessionTask, completedWith error: SessionError?) {}
    /// Does nothing.
    public func sessionBecameInvalid(_ session: Session) {}
}
