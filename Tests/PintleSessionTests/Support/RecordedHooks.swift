// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust

/// Hooks that answer as a test says, and remember every call by a word, in its order.
final class RecordedHooks: SessionHooks {
    /// What is not set does as without hooks.
    struct Answers: Sendable {
        var redirect: @Sendable (SessionRequest, ResponseHead) async throws -> SessionRequest? = { request, _ in request
        }
        var challenge: @Sendable (Challenge) async throws -> ChallengeAnswer = { _ in .performDefault }
        var body: @Sendable () async throws -> UploadSource? = { nil }
        var response: @Sendable (SessionTask, ResponseHead) async throws -> ResponseDisposition = { _, _ in .allow }
        var cache: @Sendable (CachedResponse) async -> CachedResponse? = { $0 }
        var destination: @Sendable (String) async throws -> String? = { _ in nil }
        var trust: @Sendable (ServerTrust) -> TrustDecision = { _ in .evaluate }
        var identity: (@Sendable (ClientCertificateRequest) -> ClientIdentity?)?
        /// Called with every word.
        var note: @Sendable (String, SessionTask?) -> Void = { _, _ in }
    }

    let calls = Watched<[String]>([])
    let challenges = Watched<[Challenge]>([])
    let redirects = Watched<[ResponseHead]>([])
    /// Of the notices about sent bytes.
    let sent = Watched<[TaskProgress]>([])
    let sentCount = Watched(0)
    let received = Watched<[UInt8]>([])
    let metrics = Watched<[TaskMetrics]>([])
    let errors = Watched<[SessionError?]>([])
    private let answers: Answers

    init(_ change: (inout Answers) -> Void = { _ in }) {
        var answers = Answers()
        change(&answers)
        self.answers = answers
    }

    private func note(_ word: String, _ task: SessionTask? = nil) {
        // One word for a run of the same: how bytes fall into pieces is nobody's promise.
        self.calls.change { if $0.last != word { $0.append(word) } }
        self.answers.note(word, task)
    }

    // MARK: Decisions

    @concurrent func task(
        _ task: SessionTask, willRedirectTo request: SessionRequest, after response: ResponseHead
    ) async throws -> SessionRequest? {
        self.note("redirect", task)
        self.redirects.change { $0.append(response) }
        return try await self.answers.redirect(request, response)
    }

    @concurrent func task(_ task: SessionTask, challengedBy challenge: Challenge) async throws -> ChallengeAnswer {
        self.note("challenge", task)
        self.challenges.change { $0.append(challenge) }
        return try await self.answers.challenge(challenge)
    }

    @concurrent func taskNeedsBody(_ task: SessionTask) async throws -> UploadSource? {
        self.note("body", task)
        return try await self.answers.body()
    }

    @concurrent func task(_ task: SessionTask, received response: ResponseHead) async throws -> ResponseDisposition {
        self.note("response", task)
        return try await self.answers.response(task, response)
    }

    @concurrent func task(_ task: SessionTask, willCache response: CachedResponse) async -> CachedResponse? {
        self.note("cache", task)
        return await self.answers.cache(response)
    }

    @concurrent func task(
        _ task: SessionTask, finishedDownloadTo temporaryFile: String, response: ResponseHead
    ) async throws -> String? {
        self.note("destination", task)
        return try await self.answers.destination(temporaryFile)
    }

    func session(_ session: Session, decideOn trust: ServerTrust) -> TrustDecision {
        self.note("trust")
        return self.answers.trust(trust)
    }

    func session(_ session: Session, identityFor request: ClientCertificateRequest) -> ClientIdentity? {
        self.note("identity")
        guard let identity = self.answers.identity else { return session.configuration.clientIdentity }
        return identity(request)
    }

    // MARK: Notices

    func task(_ task: SessionTask, sentBodyBytes count: Int, progress: TaskProgress) {
        self.note("sent", task)
        self.sent.change { $0.append(progress) }
        self.sentCount.change { $0 += count }
    }

    func task(_ task: SessionTask, received bytes: ByteBuffer) {
        self.note("data", task)
        self.received.change { $0 += Array(bytes.readableBytesView) }
    }

    func task(_ task: SessionTask, wroteBytes count: Int, progress: TaskProgress) { self.note("wrote", task) }

    func taskBecameDownload(_ task: SessionTask) { self.note("became", task) }

    func task(_ task: SessionTask, collected metrics: TaskMetrics) {
        self.note("metrics", task)
        self.metrics.change { $0.append(metrics) }
    }

    func task(_ task: SessionTask, completedWith error: SessionError?) {
        self.note("completed", task)
        self.errors.change { $0.append(error) }
    }

    func sessionBecameInvalid(_ session: Session) { self.note("invalid") }
}

/// What a hook throws in tests.
struct Refusal: Error, Equatable {
    let reason: String
}
