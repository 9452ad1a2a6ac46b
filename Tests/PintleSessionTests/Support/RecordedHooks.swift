// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust

/// A source of hooks for a stage.
protocol HookSet {
    var sessionHooks: SessionHooks { get }
}

extension SessionHooks: HookSet {
    var sessionHooks: SessionHooks { self }
}

/// Hooks that answer as a test says, and remember every call by a word, in its order.
final class RecordedHooks: HookSet, Sendable {
    /// The answers of the hooks. A hook without an answer behaves as if it were not set.
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
    /// The progress in the notices about sent bytes.
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
        // Equal words in a row are noted once: no promise is made about how bytes are cut into pieces.
        self.calls.change { if $0.last != word { $0.append(word) } }
        self.answers.note(word, task)
    }

    /// Every hook, so that all that happens is noted.
    var sessionHooks: SessionHooks {
        SessionHooks { hooks in
            self.setDecisions(of: &hooks)
            self.setNotices(of: &hooks)
        }
    }

    private func setDecisions(of hooks: inout SessionHooks) {
        hooks.willRedirect = { task, request, response in
            self.note("redirect", task)
            self.redirects.change { $0.append(response) }
            return try await self.answers.redirect(request, response)
        }
        hooks.wasChallenged = { task, challenge in
            self.note("challenge", task)
            self.challenges.change { $0.append(challenge) }
            return try await self.answers.challenge(challenge)
        }
        hooks.needsBody = { task in
            self.note("body", task)
            return try await self.answers.body()
        }
        hooks.receivedResponse = { task, response in
            self.note("response", task)
            return try await self.answers.response(task, response)
        }
        hooks.willCache = { task, response in
            self.note("cache", task)
            return await self.answers.cache(response)
        }
        hooks.finishedDownload = { task, temporaryFile, _ in
            self.note("destination", task)
            return try await self.answers.destination(temporaryFile)
        }
        hooks.decidesTrust = { _, trust in
            self.note("trust")
            return self.answers.trust(trust)
        }
        hooks.choosesIdentity = { session, request in
            self.note("identity")
            guard let identity = self.answers.identity else { return session.configuration.clientIdentity }
            return identity(request)
        }
    }

    private func setNotices(of hooks: inout SessionHooks) {
        hooks.sentBody = { task, count, progress in
            self.note("sent", task)
            self.sent.change { $0.append(progress) }
            self.sentCount.change { $0 += count }
        }
        hooks.receivedBody = { task, bytes in
            self.note("data", task)
            self.received.change { $0 += Array(bytes.readableBytesView) }
        }
        hooks.wroteDownload = { task, _, _ in self.note("wrote", task) }
        hooks.becameDownload = { self.note("became", $0) }
        hooks.collectedMetrics = { task, metrics in
            self.note("metrics", task)
            self.metrics.change { $0.append(metrics) }
        }
        hooks.completed = { task, error in
            self.note("completed", task)
            self.errors.change { $0.append(error) }
        }
        hooks.becameInvalid = { _ in self.note("invalid") }
    }
}

/// The error that a hook throws in tests.
struct Refusal: Error, Equatable {
    let reason: String
}
