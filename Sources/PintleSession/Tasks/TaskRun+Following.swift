// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization
internal import PintleTrust

/// Decides what follows a response: its redirect, its challenge, or a new beginning of a download.
extension TaskRun {
    /// Returns the meaning of `head` for the task; if another request follows, `attempts` has it.
    func following(
        _ head: ResponseHead, in attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Following {
        if self.mustBeginAgain(after: head, &attempts.request, session) { return .another }
        switch head.status {
        case 300..<400: return try await self.redirected(by: head, &attempts, of: task, session)
        case 401: return try await self.challenged(by: head, isProxy: false, &attempts, of: task, session)
        case 407: return try await self.challenged(by: head, isProxy: true, &attempts, of: task, session)
        default: return .result
        }
    }

    // MARK: Redirects

    private func redirected(
        by head: ResponseHead, _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Following {
        let current = attempts.request
        let proposal: Redirection?
        do throws(RedirectionError) {
            proposal = try .proposed(
                by: head, to: current.method, current.url, fields: current.fields, hasBody: attempts.source != nil)
        } catch {
            throw SessionError(.badRedirect, "\(current.url.authority) redirects badly: \(error)")
        }
        let rule = current.redirects ?? session.configuration.redirects
        guard let proposal, rule.allows(proposal.url, after: current.url) else { return .result }
        var next = current
        (next.method, next.url, next.fields) = (proposal.method, proposal.url, proposal.fields)
        if let willRedirect = session.hooks.willRedirect {
            let proposed = next
            let chosen = try await self.ask { try await willRedirect(task, proposed, head) }
            guard let chosen else { return .result }
            next = chosen
            try next.checkSyntax()
        }
        try session.checkSecrecy(of: next.url)
        guard attempts.redirects < session.configuration.redirectLimit else {
            throw SessionError(
                .badRedirect,
                "\(task.originalRequest.url.authority) leads to more than \(attempts.redirects) redirects")
        }
        attempts.redirects += 1
        task.update { $0.metrics.redirectCount += 1 }
        attempts.request = next
        // A hook that chose another method than the proposal's also intends another body, or none.
        let keepsBody = next.method == proposal.method ? proposal.keepsBody : !["GET", "HEAD"].contains(next.method)
        if !keepsBody { attempts.source = nil }
        attempts.forgetAnswers(after: current)
        return .another
    }

    // MARK: Challenges

    /// The most answers to one asker; a client that knows the password needs fewer.
    private static var answerLimit: Int { 8 }

    private func challenged(
        by head: ResponseHead, isProxy: Bool, _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Following {
        let earlier = isProxy ? attempts.proxy : attempts.origin
        let asker = isProxy ? session.forwarder(of: attempts.request.url) : attempts.request.url.authority
        guard let asker, earlier.count < Self.answerLimit else { return .result }
        let offers = AuthenticationChallenge.challenges(in: head.fields, isProxy: isProxy)
        for (offer, method) in AuthenticationMethod.ranked(offers) {
            // A stale nonce does not mean that the password was wrong (RFC 7616 §3.3).
            let isStale = if case .digest(let digest) = method { digest.isStale } else { false }
            // A password that was wrong for Digest must not then be sent unhashed by Basic.
            let kind = method.takesPassword ? "password" : offer.scheme
            let failures = max(0, earlier.failures[kind, default: 0] - (isStale ? 1 : 0))
            let challenge = Challenge(
                method: method, offer: offer, authority: asker, isProxy: isProxy, previousFailureCount: failures)
            if let value = try await self.continuation(of: earlier.negotiation, challenge) {
                Self.answer(challenge, by: value, in: &attempts) { _ in }
                return .another
            }
            let answer = try await self.answer(to: challenge, for: attempts.request.url, of: task, session)
            switch answer {
            case .cancel: throw .cancelled
            case .reject: continue
            case .performDefault:
                guard method.takesPassword else { continue }
                return .result
            case .negotiate:
                guard offer.scheme == "negotiate" else { continue }
                let (context, value) = try await self.negotiation(challenge)
                Self.answer(challenge, by: value, in: &attempts) { answers in
                    answers.failures[kind] = failures + 1
                    (answers.negotiation, answers.isForOneTarget) = (context, true)
                }
                return .another
            case .use, .bearer, .authorization:
                guard let value = try Self.authorization(for: challenge, answer, of: attempts.request) else { continue }
                Self.answer(challenge, by: value, in: &attempts) { answers in
                    answers.failures[kind] = failures + 1
                    answers.negotiation = nil
                    answers.isForOneTarget = if case (.digest, .use) = (method, answer) { true } else { false }
                }
                return .another
            }
        }
        return .result
    }

    /// Puts an answer into the next request.
    private static func answer(
        _ challenge: Challenge, by value: String, in attempts: inout TaskAttempts,
        noting note: (inout TaskAttempts.Answers) -> Void
    ) {
        attempts.request.fields.set(challenge.isProxy ? "Proxy-Authorization" : "Authorization", value)
        let asker = challenge.isProxy ? \TaskAttempts.proxy : \.origin
        attempts[keyPath: asker].count += 1
        note(&attempts[keyPath: asker])
    }

    private func answer(
        to challenge: Challenge, for url: HTTPURL, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> ChallengeAnswer {
        if let wasChallenged = session.hooks.wasChallenged {
            let answer = try await self.ask { try await wasChallenged(task, challenge) }
            guard answer == .performDefault else { return answer }
        }
        // Sent once: a server that asks again has refused it.
        guard challenge.method.takesPassword, challenge.previousFailureCount == 0,
            let credential = session.credential(for: challenge, of: url)
        else {
            return .performDefault
        }
        return .use(credential)
    }

    /// Returns the field's value that answers a challenge; nil for a password with a scheme that takes none.
    private static func authorization(
        for challenge: Challenge, _ answer: ChallengeAnswer, of request: SessionRequest
    ) throws(SessionError) -> String? {
        do {
            switch (answer, challenge.method) {
            case (.use, .other), (.negotiate, _), (.performDefault, _), (.cancel, _), (.reject, _): return nil
            case (.use(let credential), .basic): return try credential.basicAuthorization()
            case (.use(let credential), .digest(let digest)):
                let about = DigestChallenge.Request(
                    method: request.method, target: request.url.path, count: 1, clientNonce: Self.clientNonce())
                return try digest.authorization(of: credential, for: about) { algorithm, bytes in
                    try MessageDigest(algorithm).digest(of: bytes)
                }
            case (.bearer(let token), _): return try DefaultFields.bearerAuthorization(token: token)
            case (.authorization(let value), _): return try DefaultFields.authorization(value)
            }
        } catch {
            throw SessionError(
                .cannotSend, "the challenge of \(challenge.authority) cannot be answered: \(error)", underlying: error)
        }
    }

    private static func clientNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in String(generator.next() as UInt64, radix: 16) }.joined()
    }
}

extension Session {
    fileprivate func credential(for challenge: Challenge, of url: HTTPURL) -> Credential? {
        guard challenge.isProxy else { return self.configuration.credentials[url.origin] }
        // Basic was sent to the proxy before it asked.
        guard case .digest = challenge.method else { return nil }
        return self.configuration.proxy?.credential
    }
}

extension MessageDigest {
    fileprivate init(_ algorithm: DigestAlgorithm) {
        self =
            switch algorithm {
            case .md5: .md5
            case .sha256: .sha256
            case .sha512_256: .sha512_256
            }
    }
}
