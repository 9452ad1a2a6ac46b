// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// What a response makes of its task: redirects, challenges, and downloads that cannot go on where they ended.
extension TaskRun {
    /// Decides whether `head` is the task's result; if not, `attempts` has the next request.
    func following(
        _ head: ResponseHead, in attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Following {
        if self.mustBeginAgain(after: head, &attempts.request) { return .another }
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
        // A hook that chose another method than the proposal's has a body of its own in mind, or none.
        let keepsBody = next.method == proposal.method ? proposal.keepsBody : !["GET", "HEAD"].contains(next.method)
        if !keepsBody { attempts.source = nil }
        attempts.forgetAnswers(after: current)
        return .another
    }

    // MARK: Challenges

    /// Nobody who knows the password needs as many.
    private static var answerLimit: Int { 8 }

    private func challenged(
        by head: ResponseHead, isProxy: Bool, _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Following {
        let earlier = isProxy ? attempts.proxy : attempts.origin
        let asker = isProxy ? session.forwarder(of: attempts.request.url) : attempts.request.url.authority
        guard let asker, earlier.count < Self.answerLimit else { return .result }
        var offers = AuthenticationChallenge.challenges(in: head.fields, isProxy: isProxy)
        while let method = AuthenticationMethod.strongest(of: offers) {
            // A nonce that grew old says nothing against the password (RFC 7616 §3.3).
            let isStale = if case .digest(let digest) = method { digest.isStale } else { false }
            let failures = max(0, earlier.failures - (isStale ? 1 : 0))
            let challenge = Challenge(
                method: method, authority: asker, isProxy: isProxy, previousFailureCount: failures)
            let answer = try await self.answer(to: challenge, for: attempts.request.url, of: task, session)
            switch answer {
            case .use(let credential):
                try Self.authorize(&attempts.request, challenge, credential)
                let isForOneTarget = if case .digest = method { true } else { false }
                let answers = TaskAttempts.Answers(
                    count: earlier.count + 1, failures: failures + 1, isForOneTarget: isForOneTarget)
                if isProxy { attempts.proxy = answers } else { attempts.origin = answers }
                return .another
            case .performDefault: return .result
            case .cancel: throw .cancelled
            case .reject: offers.removeAll { AuthenticationMethod.strongest(of: [$0]) == method }
            }
        }
        return .result
    }

    private func answer(
        to challenge: Challenge, for url: HTTPURL, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> ChallengeAnswer {
        if let wasChallenged = session.hooks.wasChallenged {
            let answer = try await self.ask { try await wasChallenged(task, challenge) }
            guard answer == .performDefault else { return answer }
        }
        // Sent once: a server that asks again does not want it.
        guard challenge.previousFailureCount == 0, let credential = session.credential(for: challenge, of: url) else {
            return .performDefault
        }
        return .use(credential)
    }

    private static func authorize(
        _ request: inout SessionRequest, _ challenge: Challenge, _ credential: Credential
    ) throws(SessionError) {
        let name = challenge.isProxy ? "Proxy-Authorization" : "Authorization"
        do {
            switch challenge.method {
            case .basic: request.fields.set(name, try credential.basicAuthorization())
            case .digest(let digest):
                let about = DigestChallenge.Request(
                    method: request.method, target: request.url.path, count: 1, clientNonce: Self.clientNonce())
                let value = try digest.authorization(of: credential, for: about) { algorithm, bytes in
                    try MessageDigest(algorithm).digest(of: bytes)
                }
                request.fields.set(name, value)
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
        // Basic was sent to the proxy without being asked for.
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
