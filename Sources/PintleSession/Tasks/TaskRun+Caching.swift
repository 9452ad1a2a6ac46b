// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// The session's cache: before a request, and after its response.
extension TaskRun {
    /// True where the cache is asked, and offered what comes.
    private func isCached(_ request: SessionRequest, of task: SessionTask) -> Bool {
        guard case .memory = self.output else { return false }
        return task.kind == .data && request.method == "GET"
    }

    /// Ends a task that only the cache may answer before anything is done for it, where the cache is not asked.
    ///
    /// - Throws: ``SessionError`` with `cacheMiss`.
    func checkCacheIsAsked(
        for request: SessionRequest, of task: SessionTask, _ session: Session
    ) throws(SessionError) {
        guard session.cachePolicy(of: request) == .onlyCache else { return }
        guard session.configuration.cache != nil, self.isCached(request, of: task) else { throw .miss(request) }
    }

    /// Asks the cache for the response to the request of `attempts`, which is complete: its URL and fields are those that the
    /// origin would see.
    ///
    /// - Returns: the response that answers; nil where the origin is asked, perhaps about the `stored` one of `attempts`.
    /// - Throws: ``SessionError`` with `cacheMiss` where only the cache may answer.
    func cachedResponse(
        _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> CachedResponse? {
        attempts.stored = nil
        let policy = session.cachePolicy(of: attempts.request)
        if let cache = session.configuration.cache, policy != .ignoreLocal, !attempts.passesCache,
            self.isCached(attempts.request, of: task)
        {
            let request = session.withCookies(attempts.request)
            let known = try await self.ask {
                await cache.response(to: request, policy: policy == .protocol ? .protocol : .preferCache)
            }
            if let known, known.conditions.isEmpty { return known }
            attempts.stored = known
        }
        guard policy != .onlyCache else { throw .miss(attempts.request) }
        return nil
    }

    /// Has the cache bring up to date what the origin has confirmed with a 304.
    ///
    /// - Returns: nil where the answer is about something else: the request is made once more then, without the cache.
    func confirmed(
        _ stored: CachedResponse, by answer: Answer, _ attempts: inout TaskAttempts, of task: SessionTask,
        _ session: Session
    ) async throws(SessionError) -> CachedResponse? {
        await answer.flow.discardRest()
        task.update { $0.metrics.transactions.append(answer.flow.metrics) }
        if let cache = session.configuration.cache, let sent = attempts.sent {
            var stored = stored
            stored.requestTime = sent.time
            let known = try await self.ask { [stored, head = answer.head] in
                await cache.confirmed(stored, by: head, to: sent.request)
            }
            if let known { return known }
        }
        attempts.passesCache = true
        return nil
    }

    /// The result of a task that the cache has answered.
    func result(of known: CachedResponse, _ attempts: inout TaskAttempts, of task: SessionTask) -> TaskResult {
        // What the cache has given is not offered to it.
        attempts.sent = nil
        task.update { $0.response = known.head }
        task.progress {
            $0.received = UInt64(known.body.readableBytes)
            $0.expectedToReceive = $0.received
        }
        return TaskResult(
            response: known.head, url: attempts.request.url, body: known.body, file: nil, metrics: task.metrics)
    }

    /// Tells the cache of an answer to a method that may have changed what it has stored.
    func tellCacheOfChange(
        _ answer: Answer, _ attempts: TaskAttempts, _ session: Session
    ) async throws(SessionError) {
        guard let cache = session.configuration.cache, let sent = attempts.sent?.request else { return }
        switch sent.method {
        case "GET", "HEAD", "OPTIONS", "TRACE": return
        default: try await self.ask { [head = answer.head] in await cache.invalidate(after: head, to: sent) }
        }
    }

    /// Offers a whole response to the cache.
    func offerToCache(
        _ result: TaskResult, _ attempts: TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) {
        guard let cache = session.configuration.cache, let sent = attempts.sent, self.isCached(sent.request, of: task)
        else { return }
        var offered: CachedResponse? = CachedResponse(
            head: result.response, body: result.body, requestTime: sent.time)
        if let willCache = session.hooks.willCache, let proposed = offered {
            offered = try await self.ask { await willCache(task, proposed) }
        }
        guard let offered else { return }
        try await self.ask { await cache.store(offered, to: sent.request) }
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
