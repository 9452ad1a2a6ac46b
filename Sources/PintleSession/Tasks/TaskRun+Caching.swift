// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// The session's cache: before a request, and after its response.
extension TaskRun {
    /// True if the cache is asked, and offered the response.
    private func isCached(_ request: SessionRequest, of task: SessionTask) -> Bool {
        guard case .memory = self.output else { return false }
        return task.kind == .data && request.method == "GET"
    }

    /// Ends a task at once that only the cache may answer, if the cache is never asked for such a task.
    ///
    /// - Throws: ``SessionError`` with `cacheMiss`.
    func checkCacheIsAsked(
        for request: SessionRequest, of task: SessionTask, _ session: Session
    ) throws(SessionError) {
        if session.cachePolicy(of: request) != .onlyCache { return }
        guard session.configuration.cache != nil, self.isCached(request, of: task) else { throw .miss(request) }
    }

    /// Gets the response to the request of `attempts` from the cache, or else from the origin.
    ///
    /// - Returns: nil if the request must be made once more.
    /// - Throws: ``SessionError`` as ``exchange(_:of:_:)`` does, and with `cacheMiss` if only the cache may answer.
    func answer(
        _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Answer? {
        self.question = nil
        let cache = session.configuration.cache
        if let cache, self.isCached(attempts.request, of: task),
            let known = try await self.ask(cache, for: attempts.request, session)
        {
            return try await self.answer(known, to: attempts.request)
        }
        guard session.cachePolicy(of: attempts.request) != .onlyCache else { throw .miss(attempts.request) }
        guard let answer = try await self.exchange(&attempts, of: task, session) else { return nil }
        guard let cache else { return answer }
        return try await self.tell(cache, of: answer, task)
    }

    /// Returns the cache's response as if a transfer had brought it. A suspended task waits for it, too.
    private func answer(_ known: CachedResponse, to request: SessionRequest) async throws(SessionError) -> Answer {
        try await self.wait { !self.isSuspended }
        let flow = TransferFlow(loop: self.loop) { _, _ in }
        self.flow = flow
        let length = UInt64(known.body.readableBytes)
        flow.originAnswered(known.head, length: length)
        flow.originSent(known.body)
        flow.end(with: nil)
        return Answer(head: known.head, length: length, flow: flow, request: request, isCached: true)
    }

    /// Asks the cache for a response. The request is complete here, as the origin would see it.
    ///
    /// - Returns: nil if the origin must be asked, perhaps to validate a stored response; 504 if the program forbids
    ///   that.
    private func ask(
        _ cache: any ResponseCache, for request: SessionRequest, _ session: Session
    ) async throws(SessionError) -> CachedResponse? {
        let policy = session.cachePolicy(of: request)
        let request = session.withCookies(request)
        var stored: CachedResponse?
        if policy != .ignoreLocal, !self.passesCache {
            stored = try await self.ask {
                await cache.response(to: request, policy: policy == .protocol ? .protocol : .preferCache)
            }
            if let stored, stored.conditions.isEmpty { return stored }
            // With only-if-cached the program wants a 504, not a request (RFC 9111 §5.2.1.7); with `onlyCache` the task fails.
            if policy != .onlyCache, request.fields.hasToken("only-if-cached", in: .cacheControl) {
                return CachedResponse(head: ResponseHead(status: 504, reason: "Gateway Timeout"), body: ByteBuffer())
            }
        }
        self.question = CacheOffer(request, about: stored)
        return nil
    }

    /// Tells the cache of a response that validates a stored one, or that may have changed it.
    ///
    /// - Returns: nil for a 304 about something else: then the request is made once more, without the cache.
    private func tell(
        _ cache: any ResponseCache, of answer: Answer, _ task: SessionTask
    ) async throws(SessionError) -> Answer? {
        let (head, request) = (answer.head, self.question?.request ?? answer.request)
        guard head.status == 304, let stored = self.question?.stored else {
            // If the cache was asked, which it is for GET, a redirect counts: it is not offered if it is followed.
            let isChange =
                self.question == nil
                ? !RequestHead.isSafe(request.method)
                : 300...399 ~= head.status && head.status != 304
            if isChange {
                let time = self.question?.time ?? .now
                try await self.ask(about: answer, task) {
                    await cache.invalidate(after: head, to: request, requestTime: time)
                }
            }
            return answer
        }
        // A stored body may be decoded, and then the digests in a 304 are those of other bytes.
        let confirmation = head.withoutCodings()
        let known = try await self.ask(about: answer, task) {
            await cache.confirmed(stored, by: confirmation, to: request)
        }
        await self.discardRest(of: answer, task)
        self.question = nil
        self.passesCache = known == nil
        guard let known else { return nil }
        return try await self.answer(known, to: answer.request)
    }

    /// Asks the cache about a response, which is given up if the task ends before the cache has answered.
    private func ask<Said: Sendable>(
        about answer: Answer, _ task: SessionTask, _ question: @escaping @Sendable () async -> Said
    ) async throws(SessionError) -> Said {
        do throws(SessionError) {
            return try await self.ask(question)
        } catch {
            self.giveUp(answer, with: error, task)
            throw error
        }
    }

    /// Offers a whole response to the cache.
    func offerToCache(_ result: TaskResult, of task: SessionTask, _ session: Session) async throws(SessionError) {
        // A response is kept only if the cache was asked for it first.
        guard let cache = session.configuration.cache, let question else { return }
        let head = result.response.status == 304 ? result.response.withoutCodings() : result.response
        var offered = CachedResponse(
            head: head, body: result.body, requestTime: question.time, isDecoded: !result.contentCodings.isEmpty)
        if let willCache = session.hooks.willCache {
            // The hook wants the response not to be kept.
            guard let chosen = try await self.ask({ [offered] in await willCache(task, offered) }) else { return }
            // The time of the request and the decoding are facts, which a response made by the hook would lack.
            (offered.head, offered.body) = (chosen.head, chosen.body)
        }
        try await self.ask { [offered] in await cache.store(offered, to: question.request) }
    }
}

/// The request under way as the cache sees it: first to look it up, later to store its response.
struct CacheOffer: Sendable {
    /// The request as the origin sees it, but without the conditions.
    let request: SessionRequest
    /// The stored response that the origin shall validate.
    private(set) var stored: CachedResponse?
    /// The time at which the request was sent; until then, the time at which the cache was asked.
    var time = ContinuousClock.now { didSet { self.stored?.requestTime = self.time } }

    init(_ request: SessionRequest, about stored: CachedResponse?) { (self.request, self.stored) = (request, stored) }

    /// The request with the conditions.
    var conditionalRequest: SessionRequest {
        var request = self.request
        for (name, value) in self.stored?.conditions.pairs ?? [] { request.fields.set(name, value) }
        return request
    }
}

extension Session {
    /// The cache policy of a request: its own, or else the session's.
    fileprivate func cachePolicy(of request: SessionRequest) -> CachePolicy {
        request.cachePolicy ?? self.configuration.cachePolicy
    }
}

extension SessionError {
    fileprivate static func miss(_ request: SessionRequest) -> SessionError {
        SessionError(
            .cacheMiss,
            "the cache has no response of \(request.url.authority) for this, and only it was to be asked")
    }
}
