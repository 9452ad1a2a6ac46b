// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// An `OriginStream` that puts its request to the cache, and does what the cache replies: answers from it, waits for the
/// response to an identical request, or forwards the request to the origin.
///
/// The client gets the body at its own speed. Used on its event loop's thread only.
final class CachedOrigin: OriginStream {
    /// The response of a fetch, as delivered to one client.
    struct Arrival {
        let response: FetchedResponse<ProxyCacheHost>
        /// Nil if the response is for another client alone.
        let reader: SharedBody.Reader?
        /// True for the client whose request the origin got.
        let isOwn: Bool
    }

    private enum State {
        /// The second tier is being searched.
        case searching
        case waiting(FetchTicket, ForwardReason)
        /// The client gets the head at the end of the turn.
        case answered(ResponseHead, length: UInt64?, CachedBody)
        /// The response of a fetch is there; it is processed in this request's turn.
        case arrived(Arrival, ForwardReason)
        /// The request is to be sent for this client alone.
        case alone(ForwardReason)
        case failed(SessionError)
        case reading(CachedBody)
        case bypassing(BypassingOrigin)
        case over
    }

    /// The cache outcome of the request, for the log.
    private(set) var cacheOutcome: CacheOutcome?
    private var state = State.over
    private let lookup: CacheLookup
    private let transfer: TransferRequest
    private let loop: Loop
    private let turns: ReaderTurns
    private var wantsTurn = false
    /// Fires if the request has waited for too long for its turn at the origin; all its waits have one deadline.
    private var patience: LoopTimer?
    private var waitDeadline: NIODeadline?
    private let open: (TransferRequest, any TransferDelegate) -> any OriginStream
    private var delegate: (any TransferDelegate)?
    private var fetch: OriginFetch?
    /// True if a search has found a response in the second tier.
    private var hasFound = false
    /// True if the request has waited for a response that proved to be another variant.
    private var hasMissedVariant = false
    private var isPaused = false
    private var isPumping = false
    /// The most pieces delivered in one turn of the event loop, so that other work gets its turn.
    private static let piecesInTurn = 4

    init(
        _ transfer: TransferRequest, _ lookup: CacheLookup, _ turns: ReaderTurns, loop: Loop,
        for delegate: any TransferDelegate,
        open: @escaping (TransferRequest, any TransferDelegate) -> any OriginStream
    ) {
        (self.transfer, self.lookup, self.delegate) = (transfer, lookup, delegate)
        (self.loop, self.turns, self.open) = (loop, turns, open)
        if let key = lookup.cacheableKey {
            self.follow(self.cache.put(lookup.question, at: key, by: self.box), at: key)
        } else {
            self.bypass(.method, observed: nil)
        }
    }

    private var cache: SharedCache { self.lookup.use.cache }
    private var box: LoopBound<CachedOrigin> { LoopBound(self, loop: self.loop) }

    /// The key of a request that was put to the cache.
    private var key: CacheKey {
        guard let key = self.lookup.cacheableKey else { preconditionFailure("BUG: a request without a key is cached") }
        return key
    }

    // MARK: The cache's replies

    private func follow(_ reply: CacheReply<ProxyCacheHost>, at key: CacheKey) {
        switch reply {
        case .entry(let entry, let answer, let staleness, let renewal):
            let answer = self.lookup.answer(answer, from: entry, staleness: staleness)
            self.lookup.countHit()
            self.cacheOutcome = answer.outcome
            self.go(on: .answered(answer.head, length: answer.length, CachedBody(entry, answer.range)))
            if let renewal { self.fetch(renewal, at: key, inBackground: true) }
        case .search(let number):
            self.state = .searching
            let box = self.box
            self.cache.search(key, number, for: self.lookup.question) { entry in
                box.run { $0.searched(number, entry, at: key) }
            }
        case .wait(let ticket, let plan, let reason):
            self.state = .waiting(ticket, reason)
            if let plan { self.fetch = self.fetch(plan, at: key, inBackground: false) }
            self.limitWait(for: ticket, at: key)
        case .join(let response, let reason):
            guard let reader = response.body.open() else { return self.askAlone(reason) }
            self.go(on: .arrived(Arrival(response: response, reader: reader, isOwn: false), reason))
        case .forward(let reason, let observed): self.bypass(reason, observed: observed)
        case .miss:
            self.cacheOutcome = .miss
            self.go(on: .failed(SessionError(.cacheMiss, "nothing is kept for \(key.url) that may answer")))
        }
    }

    private func searched(_ number: UInt64, _ entry: SharedCache.Entry?, at key: CacheKey) {
        // The client may have left in the meantime.
        guard case .searching = self.state else { return self.cache.endSearch(number, at: key) }
        if entry != nil { self.hasFound = true }
        self.follow(self.cache.put(self.lookup.question, at: key, by: self.box, after: (number, entry)), at: key)
    }

    private func askAlone(_ reason: ForwardReason) {
        self.follow(self.cache.askAlone(self.lookup.question, at: self.key, by: self.box, reason), at: self.key)
    }

    /// Forwards the request to the origin for this client alone.
    private func bypass(_ reason: ForwardReason, observed number: UInt64?) {
        guard let delegate else { preconditionFailure("BUG: a request goes on that is over") }
        self.cache.count { $0.misses += 1 }
        self.cacheOutcome = reason == .method || reason == .bypass ? .bypass : .miss
        let listener: any TransferDelegate =
            number == nil ? delegate : StaleStandIn(for: self, reason, before: delegate)
        let origin = BypassingOrigin(self.lookup, reason, number: number, hasFound: self.hasFound, for: listener)
        self.state = .bypassing(origin)
        let transfer = number == nil ? self.transfer : self.sharedTransfer
        origin.start { self.open(transfer, $0) }
    }

    /// Answers with a stale response in place of the origin's failure.
    ///
    /// - Returns: false if none may answer.
    func standIn(for failure: OriginFailure, _ reason: ForwardReason) -> Bool {
        guard case .bypassing(let origin) = self.state,
            let (answer, entry) = self.lookup.staleAnswer(after: failure, reason)
        else { return false }
        origin.cancel()
        self.cacheOutcome = answer.outcome
        self.go(on: .answered(answer.head, length: answer.length, CachedBody(entry, answer.range)))
        return true
    }

    // MARK: Fetches

    @discardableResult
    private func fetch(_ plan: CacheFetchPlan<ProxyCacheHost>, at key: CacheKey, inBackground: Bool) -> OriginFetch {
        let fetch = OriginFetch(
            plan, of: key, for: self.cache, self.sharedTransfer, self.lookup.use.queue, loop: self.loop, open: self.open
        )
        (fetch.isForCache, fetch.hasFound) = (inBackground, self.hasFound)
        fetch.asker = inBackground ? nil : self
        fetch.start()
        return fetch
    }

    /// The request, if others may get its response: it uses no connection on which the client has authenticated.
    private var sharedTransfer: TransferRequest {
        var transfer = self.transfer
        transfer.owner = nil
        return transfer
    }

    /// Limits the wait for the request's turn at the origin to the time for which the origin may be silent.
    private func limitWait(for ticket: FetchTicket, at key: CacheKey) {
        // Without a queue there is no turn to wait for, and an origin that is asked has a timeout of its own.
        guard self.lookup.use.queue != nil, !self.cache.isAsked(ticket, at: key) else { return }
        let deadline = self.waitDeadline ?? .now() + self.transfer.timeout
        let patience = LoopTimer { [weak self] in self?.hasWaitedForTurn() }
        self.loop.arm(patience, at: deadline)
        (self.patience, self.waitDeadline) = (patience, deadline)
    }

    private func hasWaitedForTurn() {
        // The origin may be asked by now; that has a timeout of its own.
        guard case .waiting(let ticket, _) = self.state, let queue = self.lookup.use.queue,
            !self.cache.isAsked(ticket, at: self.key)
        else { return }
        let limit = self.transfer.timeoutKey.map { " (\($0))" } ?? ""
        self.go(on: .failed(queue.lateness(after: "\(self.transfer.timeout.inWords)\(limit)")))
        self.cache.leave(ticket, at: self.key)
    }

    private func endWait() {
        if let patience { self.loop.disarm(patience) }
        self.patience = nil
    }

    /// Passes an interim response to the client whose request the origin got (RFC 9110 §15.2).
    func fetchSent(interim head: ResponseHead) {
        if case .waiting = self.state { self.delegate?.originSent(interim: head) }
    }

    /// Called when the fetch that the client waits for has a response, or has failed.
    func arrived(_ outcome: Result<Arrival, SessionError>, isOwn: Bool) {
        guard case .waiting(_, let reason) = self.state else {
            // The client has left in the meantime.
            if case .success(let arrival) = outcome { self.close(arrival) }
            return
        }
        self.endWait()
        switch outcome {
        case .success(let arrival): self.go(on: .arrived(arrival, reason))
        case .failure(let error) where isOwn: self.go(on: .failed(error))
        // A request of its own may succeed: the failure was due to a client that left, or to its connection.
        case .failure: self.go(on: .alone(reason))
        }
    }

    private func close(_ arrival: Arrival) {
        if let reader = arrival.reader { self.cache.close(reader, of: arrival.response, at: self.key) }
    }

    private func take(_ arrival: Arrival, _ reason: ForwardReason) {
        let (response, isOwn, now) = (arrival.response, arrival.isOwn, CacheTime.now())
        guard let reader = arrival.reader else { return self.askAlone(reason) }
        if !isOwn, let refusal = response.refusal(of: self.lookup.question, at: now) {
            self.close(arrival)
            guard refusal == .varyMiss, !self.hasMissedVariant else { return self.askAlone(refusal) }
            // One of the clients that want the same variant asks. A client waits for two responses at most.
            self.hasMissedVariant = true
            return self.follow(self.cache.put(self.lookup.question, at: self.key, by: self.box), at: self.key)
        }
        self.cache.count { counts in
            if isOwn { counts.misses += 1 } else { counts.merged += 1 }
        }
        self.cacheOutcome = response.outcome(isOwn: isOwn)
        let head = response.head(isOwn: isOwn, reason, by: self.lookup.use.name, at: now)
        self.give(head, length: response.length, CachedBody(response, reader))
    }

    // MARK: Giving

    private func give(_ head: ResponseHead, length: UInt64?, _ body: CachedBody) {
        self.state = .reading(body)
        self.delegate?.originAnswered(head, length: length)
        self.pump()
    }

    /// Delivers the available bytes, as long as the client takes them.
    private func pump() {
        // A wake-up may come late, and a client that takes a piece may resume within this call.
        guard !self.isPumping else { return }
        self.isPumping = true
        defer { self.isPumping = false }
        var pieces = 0
        while case .reading(var body) = self.state, !self.isPaused {
            guard pieces < Self.piecesInTurn else { return self.wantTurn() }
            let box = self.box
            let next = body.next { box.run { $0.wantTurn() } }
            self.state = .reading(body)
            switch next {
            case .wait: return
            case .end(let error): return self.finish(error)
            case .piece(let piece):
                pieces += 1
                self.delegate?.originSent(piece)
            }
        }
    }

    private func finish(_ error: SessionError?) {
        let delegate = self.delegate
        self.end()
        delegate?.originEnded(error, self.fetch?.metrics ?? TransferMetrics())
    }

    /// Releases everything. Idempotent.
    private func end() {
        self.endWait()
        let state = self.state
        (self.state, self.delegate) = (.over, nil)
        switch state {
        case .waiting(let ticket, _): self.cache.leave(ticket, at: self.key)
        case .arrived(let arrival, _): self.close(arrival)
        case .answered(_, _, let body), .reading(let body): body.close(in: self.cache, at: self.lookup.key)
        case .bypassing(let origin): origin.cancel()
        case .searching, .alone, .failed, .over: break
        }
    }

    // MARK: Turns

    private func go(on state: State) {
        self.state = state
        self.wantTurn()
    }

    /// Asks to continue in the request's turn.
    private func wantTurn() {
        if self.wantsTurn { return }
        self.wantsTurn = true
        self.turns.add(self)
    }

    /// Continues after a wait: delivers the result or the next bytes to the client.
    func takeTurn() {
        self.wantsTurn = false
        switch self.state {
        case .answered(let head, let length, let body): self.give(head, length: length, body)
        case .arrived(let arrival, let reason): self.take(arrival, reason)
        case .alone(let reason): self.askAlone(reason)
        case .failed(let error):
            self.cacheOutcome = self.cacheOutcome ?? .miss
            self.finish(error)
        case .reading: self.pump()
        case .searching, .waiting, .bypassing, .over: break
        }
    }
}

// MARK: Origin stream

extension CachedOrigin {
    /// The stream to the origin, if this request has one.
    private var inner: (any OriginStream)? {
        if case .bypassing(let origin) = self.state { origin } else { self.fetch?.stream }
    }

    /// The stream that takes the request's body: a request with a body is for this client alone.
    private var own: BypassingOrigin? { if case .bypassing(let origin) = self.state { origin } else { nil } }

    var verdict: Verdict? { self.inner?.verdict }
    var proxyVerdict: Verdict? { self.inner?.proxyVerdict }

    var responseVersion: String {
        guard let inner, !inner.responseVersion.isEmpty else { return "1.1" }
        return inner.responseVersion
    }

    var metrics: TransferMetrics { self.own?.metrics ?? self.fetch?.metrics ?? TransferMetrics() }
    var unsentBodyBytes: Int { self.own?.unsentBodyBytes ?? 0 }
    var heldBodyBytes: Int { self.own?.heldBodyBytes ?? 0 }

    func send(_ bytes: ByteBuffer) { self.own?.send(bytes) }

    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        self.own?.moveBody(from: descriptor, atMost: limit) ?? .isUnfit
    }

    func finishBody(trailers: Fields) { self.own?.finishBody(trailers: trailers) }

    func takePipes() { self.own?.takePipes() }

    func pauseReading() {
        self.isPaused = true
        self.own?.pauseReading()
    }

    func resumeReading() {
        // Without a pause the delivery is under way.
        guard self.isPaused else { return }
        self.isPaused = false
        // Deferred: a client that gets bytes within this call could ask for a pause.
        if let own { own.resumeReading() } else { self.wantTurn() }
    }

    func cancel() { self.end() }

    /// Leaves the response; the fetch continues if its response is to be cached.
    func detach() {
        if self.lookup.use.mode != nil { self.fetch?.isForCache = true }
        self.end()
    }
}
