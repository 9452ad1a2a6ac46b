// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// Cache settings and storage for one request.
final class CacheUse: Sendable {
    let store: AnswerStore
    /// Nil if the route caches nothing, and identical requests are only merged while they are in flight.
    let mode: CacheMode?
    /// True if requests wait for identical ones in flight.
    let joins: Bool
    let queue: RouteQueue?
    /// The partition of the cache key: a response accepted under one trust policy is never given under another.
    let partition: String
    /// The name in Cache-Status (RFC 9211).
    let name: CacheStatus.Name

    init(
        _ store: AnswerStore, _ mode: CacheMode?, joins: Bool, _ queue: RouteQueue?, partition: String,
        name: CacheStatus.Name
    ) {
        (self.store, self.mode, self.joins, self.queue) = (store, mode, joins, queue)
        (self.partition, self.name) = (partition, name)
    }

    /// Returns a copy for requests through an upstream proxy. They have a partition of their own, because it may give other
    /// responses.
    func by(_ parent: ProxyServer) -> CacheUse {
        CacheUse(
            self.store, self.mode, joins: self.joins, self.queue,
            partition: "\(self.partition) by \(parent.scheme.rawValue)://\(parent.authority)", name: self.name)
    }
}

/// An `OriginStream` that answers from the cache, joins an identical request in flight, or forwards the request to the origin.
/// A response from the origin may be shared with other requests.
///
/// The client gets the body at its own speed. Requests that caches do not handle pass through unchanged. Used on its event
/// loop's thread only.
final class CachedOrigin: OriginStream {
    /// The source of the body.
    private enum Source {
        /// The whole body is in memory, as long as the `SharedBody` exists.
        case pieces(ArraySlice<ByteBuffer>, SharedBody)
        /// The body is read through a reader; the flight, if any, is the one that delivers it.
        case shared(SharedBody, SharedBody.Reader, Flight?)
    }

    /// The shared response, as delivered to one waiting request.
    private struct Landing {
        let outcome: Flight.Outcome
        let reader: SharedBody.Reader?
        let isOwn: Bool
        let reason: ForwardReason
        let flight: Flight

        /// Closes the reader of the body.
        func close() {
            if let reader, case .success(let answer) = self.outcome { self.flight.close(reader, of: answer.body) }
        }
    }

    private enum State {
        /// The client gets the head at the end of the turn.
        case answered(ResponseHead, length: UInt64?)
        case failed(SessionError)
        /// The disk is being searched.
        case looking
        case waiting(Flight, number: Int)
        /// The flight has landed; its outcome is processed in this request's turn.
        case landed(Landing)
        case reading
        case passing(any OriginStream)
        case over
    }

    /// The cache outcome of the request, for the log.
    private(set) var cacheOutcome: CacheOutcome?
    private var state = State.over
    private let question: CacheLookup
    private let transfer: TransferRequest
    private let loop: Loop
    private let turns: AnswerTurns
    private var wantsTurn = false
    /// Fires if the request has waited for too long for its turn at the origin; all its waits have one deadline.
    private var patience: LoopTimer?
    private var waitDeadline: NIODeadline?
    private let open: (TransferRequest, any TransferDelegate) -> any OriginStream
    private var delegate: (any TransferDelegate)?
    private var fetch: OriginFetch?
    private var past: PassingAnswer?
    /// The reason why the request is forwarded for this client alone.
    private var forwardReason = ForwardReason.bypass
    private var isPaused = false
    private var isPumping = false
    /// The bytes of the body still to be skipped, and those still to be delivered.
    private var skipped: UInt64 = 0
    private var left = UInt64.max
    private var body: Source?
    /// The most pieces delivered in one turn of the event loop, so that other work gets its turn.
    private static let piecesInTurn = 4

    init(
        _ transfer: TransferRequest, _ question: CacheLookup, _ turns: AnswerTurns, loop: Loop,
        for delegate: any TransferDelegate,
        open: @escaping (TransferRequest, any TransferDelegate) -> any OriginStream
    ) {
        self.transfer = transfer
        self.question = question
        (self.loop, self.turns) = (loop, turns)
        self.delegate = delegate
        self.open = open
        self.begin()
    }

    /// The request, if others may get its response: it uses no connection on which the client has authenticated.
    private var sharedTransfer: TransferRequest {
        var transfer = self.transfer
        transfer.owner = nil
        return transfer
    }

    private var use: CacheUse { self.question.use }
    private var request: RequestHead { self.question.request }

    // MARK: Deciding

    private func begin() {
        guard let key = self.question.cacheableKey else { return self.pass(.method) }
        guard let mode = self.use.mode else {
            guard self.question.canBeShared else { return self.pass(.bypass) }
            return self.fetch(at: key, .uriMiss)
        }
        let hasMore = mode != .ignoreLocal && self.use.store.hasDisk
        self.decide(among: self.use.store.find(key), at: key, mode: mode, orOnDisk: hasMore)
    }

    /// - Parameter looksOnDisk: true if the disk may have a response that is not in memory.
    private func decide(among kept: [KeptAnswer], at key: CacheKey, mode: CacheMode, orOnDisk looksOnDisk: Bool) {
        let decision = self.use.store.rules.decision(
            for: self.request, among: kept.map(\.judged), mode: mode, now: .now())
        switch decision {
        case .forward(.uriMiss) where looksOnDisk, .forward(.varyMiss) where looksOnDisk,
            .forward(.partial) where looksOnDisk, .miss where looksOnDisk:
            self.look(on: key, mode: mode, besides: kept)
        case .answer(let index, let age, let staleness, let revalidate):
            self.answer(from: kept[index], age: age, staleness: staleness)
            if revalidate { self.renew(kept[index], at: key, mode: mode) }
        case .validate(let index, let fields, let reason):
            guard self.question.canBeShared else { return self.pass(reason) }
            self.fetch(at: key, reason, joins: self.use.joins, validating: kept[index], with: fields)
        case .forward(let reason):
            guard self.question.canBeShared else { return self.pass(reason) }
            self.fetch(at: key, reason)
        case .miss:
            self.cacheOutcome = .miss
            self.state = .failed(SessionError(.cacheMiss, "nothing is kept for \(key.url) that may answer"))
            self.wantTurn()
        }
    }

    /// Searches the disk, and decides again.
    private func look(on key: CacheKey, mode: CacheMode, besides kept: [KeptAnswer]) {
        self.state = .looking
        let box = LoopBound(self, loop: self.loop)
        self.use.store.findOnDisk(key, for: self.request, mode: mode) { answer in
            box.run { origin in
                // The client may have left in the meantime.
                guard case .looking = origin.state else { return }
                origin.decide(among: (answer.map { [$0] } ?? []) + kept, at: key, mode: mode, orOnDisk: false)
            }
        }
    }

    // MARK: Cached responses

    private func answer(from kept: KeptAnswer, age: Int64, staleness: Int64) {
        guard let answer = self.question.answer(from: kept, age: age, staleness: staleness) else {
            return self.pass(.partial)
        }
        let body: Source
        if kept.isInMemory {
            body = .pieces(answer.body.pieces[...], answer.body)
            self.skipped = answer.range.lowerBound
        } else {
            guard let reader = answer.body.open(at: answer.range.lowerBound) else {
                preconditionFailure("BUG: a body on disk has no beginning")
            }
            body = .shared(answer.body, reader, nil)
        }
        self.use.store.count { $0.hits += 1 }
        self.cacheOutcome = answer.outcome
        self.left = answer.range.upperBound - answer.range.lowerBound
        self.begin(answer.head, length: answer.length, body)
    }

    /// Revalidates the response in the background, after it was used stale (RFC 5861 §3).
    private func renew(_ kept: KeptAnswer, at key: CacheKey, mode: CacheMode) {
        let (flight, isNew) = self.use.store.flight(for: key, joining: true)
        guard isNew else { return }
        var errand = OriginFetch.Errand(request: self.request, mode: mode, keeps: true)
        errand.validated = kept
        errand.conditions = CacheRules.validation(of: kept.response) ?? Fields()
        self.start(errand, in: flight).isForStore = true
    }

    // MARK: Asking

    /// Asks the origin together with identical requests, unless the responses of the key are known to be unshared.
    private func fetch(at key: CacheKey, _ reason: ForwardReason) {
        if self.use.store.isUnshared(key) { return self.askAlone(key, reason) }
        self.fetch(at: key, reason, joins: self.use.joins)
    }

    /// Asks the origin for this client alone, but waits for its turn in the route's queue.
    private func askAlone(_ key: CacheKey, _ reason: ForwardReason) {
        if self.use.queue == nil { return self.pass(reason) }
        self.fetch(at: key, reason, joins: false)
    }

    private func fetch(
        at key: CacheKey, _ reason: ForwardReason, joins: Bool, validating kept: KeptAnswer? = nil,
        with conditions: Fields = Fields()
    ) {
        let (flight, isNew) = self.use.store.flight(for: key, joining: joins)
        let box = LoopBound(self, loop: self.loop)
        let boarding = flight.board(isOwner: isNew) { outcome, reader in
            let landing = Landing(outcome: outcome, reader: reader, isOwn: isNew, reason: reason, flight: flight)
            box.run { $0.arrived(landing) }
        }
        switch boarding {
        case .waiting(let number):
            self.state = .waiting(flight, number: number)
            defer { self.limitWaiting(for: flight) }
            guard isNew else { return }
            var errand = OriginFetch.Errand(
                request: self.request, mode: self.use.mode ?? .ignoreLocal, keeps: self.use.mode != nil)
            errand.validated = kept
            errand.conditions = conditions
            self.fetch = self.start(errand, in: flight)
            self.fetch?.asker = self
        case .late(let answer):
            guard self.answersNow(answer), let reader = answer.body.open() else { return self.askAlone(key, reason) }
            let landing = Landing(
                outcome: .success(answer), reader: reader, isOwn: false, reason: reason, flight: flight)
            self.state = .landed(landing)
            self.wantTurn()
        case .gone: self.askAlone(key, reason)
        }
    }

    /// Limits the wait for the request's turn at the origin to the time for which the origin may be silent.
    private func limitWaiting(for flight: Flight) {
        guard self.use.queue != nil, !flight.isAsked else { return }
        let deadline = self.waitDeadline ?? .now() + self.transfer.timeout
        let patience = LoopTimer { [weak self] in self?.hasWaitedForTurn() }
        self.loop.arm(patience, at: deadline)
        (self.patience, self.waitDeadline) = (patience, deadline)
    }

    private func hasWaitedForTurn() {
        // The origin may be asked by now; that has a timeout of its own.
        guard case .waiting(let flight, let number) = self.state, !flight.isAsked, let queue = self.use.queue else {
            return
        }
        let key = self.transfer.timeoutKey.map { " (\($0))" } ?? ""
        self.state = .failed(queue.lateness(after: "\(self.transfer.timeout.inWords)\(key)"))
        self.wantTurn()
        flight.leave(number)
    }

    private func endWaiting() {
        if let patience { self.loop.disarm(patience) }
        self.patience = nil
    }

    /// True if a response that has begun to arrive earlier may be used as a cached one.
    private func answersNow(_ answer: Flight.Answer) -> Bool {
        guard let stored = answer.stored else { return false }
        let decision = self.use.store.rules.decision(
            for: self.request, among: [stored], mode: self.use.mode ?? .protocol, now: .now())
        if case .answer = decision { return true }
        return false
    }

    private func start(_ errand: OriginFetch.Errand, in flight: Flight) -> OriginFetch {
        let fetch = OriginFetch(
            self.sharedTransfer, errand, in: flight, store: self.use.store, queue: self.use.queue, loop: self.loop,
            open: self.open)
        fetch.start()
        return fetch
    }

    /// Passes an interim response to the client whose request the origin got (RFC 9110 §15.2).
    func fetchSent(interim head: ResponseHead) {
        if case .waiting = self.state { self.delegate?.originSent(interim: head) }
    }

    private func arrived(_ landing: Landing) {
        // The client has left in the meantime.
        guard case .waiting = self.state else { return landing.close() }
        self.endWaiting()
        self.state = .landed(landing)
        self.wantTurn()
    }

    private func look(at landing: Landing) {
        switch landing.outcome {
        case .failure(let error) where landing.isOwn: self.fail(error)
        // A request of its own may succeed: the failure was due to a client that left, or to its connection.
        case .failure: self.askAlone(landing.flight.key, landing.reason)
        case .success(let answer):
            guard let reader = landing.reader else { return self.askAlone(landing.flight.key, landing.reason) }
            self.take(answer, reader, isOwn: landing.isOwn, landing.reason, landing.flight)
        }
    }

    private func take(
        _ answer: Flight.Answer, _ reader: SharedBody.Reader, isOwn: Bool, _ reason: ForwardReason, _ flight: Flight
    ) {
        let rules = self.use.store.rules
        var status = CacheStatus(cache: self.use.name, way: .forward(reason))
        status.forwardStatus = answer.upstreamStatus == 0 ? nil : answer.upstreamStatus
        status.stored = answer.isKept
        status.collapsed = !isOwn
        status.detail = answer.reason?.rawValue
        guard let stored = answer.stored else {
            self.use.store.count { $0.misses += 1 }
            self.cacheOutcome = answer.source == .confirmed ? .validated : .miss
            var head = answer.head
            for (name, value) in answer.cookies.pairs { head.fields.append(name, value) }
            head.fields.append("Cache-Status", status.fieldValue)
            return self.begin(head, length: answer.length, .shared(answer.body, reader, flight))
        }
        // Another client may need another variant, or may not accept a stale response.
        guard isOwn || rules.matches(stored, self.request) else {
            flight.close(reader, of: answer.body)
            return self.askAlone(flight.key, .varyMiss)
        }
        guard isOwn || self.mayHave(answer, stored) else {
            flight.close(reader, of: answer.body)
            return self.askAlone(flight.key, stored.hasContent(for: self.request) ? .stale : .partial)
        }
        self.use.store.count { counts in
            if isOwn { counts.misses += 1 } else { counts.merged += 1 }
        }
        self.cacheOutcome =
            switch answer.source {
            case .stale: .stale
            case _ where !isOwn: .merged
            case .origin: .miss
            case .confirmed: .validated
            }
        let now = CacheTime.now()
        status.ttl = rules.lifetime(of: stored) - stored.age(at: now)
        // The client that caused the request gets the origin's response unchanged.
        let isAsItCame = isOwn && answer.source == .origin
        var head = isAsItCame ? answer.head : stored.head
        if !isAsItCame { head.fields.set("Age", "\(stored.age(at: now))") }
        if isOwn { for (name, value) in answer.cookies.pairs { head.fields.append(name, value) } }
        head.fields.append("Cache-Status", status.fieldValue)
        self.begin(head, length: answer.length, .shared(answer.body, reader, flight))
    }

    /// True if a client that waited for another client's response may have it.
    ///
    /// If the origin has failed, the response or the request must allow a stale response. Otherwise the response must be
    /// usable without validation (RFC 9111 §4); or it does not state its freshness, both requests have the same credentials,
    /// and this client does not ask for a validation.
    private func mayHave(_ answer: Flight.Answer, _ stored: StoredResponse) -> Bool {
        let rules = self.use.store.rules
        guard stored.hasContent(for: self.request) else { return false }
        if answer.source == .stale {
            let failure = answer.upstreamStatus == 0 ? OriginFailure.unreachable : .status(answer.upstreamStatus)
            return rules.staleAnswer(to: self.request, from: stored, after: failure, now: .now()) != nil
        }
        let mode = self.use.mode == .ignoreLocal ? .protocol : self.use.mode ?? .protocol
        if case .answer = rules.decision(for: self.request, among: [stored], mode: mode, now: .now()) { return true }
        return rules.saysNothing(of: stored) && self.request.hasCredentials(of: answer.request)
            && !rules.wantsConfirmation(self.request)
    }

    private func begin(_ head: ResponseHead, length: UInt64?, _ body: Source) {
        self.body = body
        self.state = .answered(head, length: length)
        self.wantTurn()
    }

    // MARK: Giving

    /// Delivers the available bytes, as long as the client takes them.
    private func pump() {
        // A wake-up may come late, and a client that takes a piece may resume within this call.
        guard case .reading = self.state, !self.isPumping else { return }
        self.isPumping = true
        defer { self.isPumping = false }
        var pieces = 0
        while case .reading = self.state, !self.isPaused {
            if self.left == 0 { return self.finish(nil) }
            guard pieces < Self.piecesInTurn else { return self.wantTurn() }
            switch self.next() {
            case .wait: return
            case .end(let error): return self.finish(error)
            case .piece(let piece):
                pieces += 1
                self.give(piece)
            }
        }
    }

    private func next() -> SharedBody.Next {
        switch self.body {
        case nil: preconditionFailure("BUG: an answer has no body")
        case .pieces(var pieces, let body):
            guard let piece = pieces.popFirst() else { return .end(nil) }
            self.body = .pieces(pieces, body)
            return .piece(piece)
        case .shared(let body, let reader, _):
            let box = LoopBound(self, loop: self.loop)
            return body.next(reader) { box.run { $0.wantTurn() } }
        }
    }

    /// Delivers the requested part of a piece.
    private func give(_ piece: ByteBuffer) {
        var piece = piece
        let skipped = min(self.skipped, UInt64(piece.readableBytes))
        piece.moveReaderIndex(forwardBy: Int(skipped))
        self.skipped -= skipped
        if UInt64(piece.readableBytes) > self.left { piece.moveWriterIndex(to: piece.readerIndex + Int(self.left)) }
        self.left -= UInt64(piece.readableBytes)
        if piece.readableBytes > 0 { self.delegate?.originSent(piece) }
    }

    private func finish(_ error: SessionError?) {
        self.closeBody()
        let delegate = self.delegate
        self.end()
        delegate?.originEnded(error, self.fetch?.metrics ?? TransferMetrics())
    }

    private func fail(_ error: SessionError) {
        self.cacheOutcome = self.cacheOutcome ?? .miss
        let delegate = self.delegate
        self.end()
        delegate?.originEnded(error, self.fetch?.metrics ?? TransferMetrics())
    }

    private func end() {
        self.past?.ended(isCut: true)
        self.past = nil
        self.endWaiting()
        self.state = .over
        self.delegate = nil
    }

    private func closeBody() {
        if case .shared(let body, let reader, let flight) = self.body {
            if let flight { flight.close(reader, of: body) } else { _ = body.close(reader) }
        }
        self.body = nil
    }

    // MARK: Passing

    /// Forwards the request to the origin for this client alone.
    private func pass(_ reason: ForwardReason) {
        self.use.store.count { $0.misses += 1 }
        self.cacheOutcome = reason == .method || reason == .bypass ? .bypass : .miss
        self.forwardReason = reason
        if reason != .method, let key = self.question.key, let mode = self.use.mode,
            UnkeyedFields.first(in: self.request.fields) == nil
        {
            self.past = PassingAnswer(to: self.request, at: key, mode: mode, self.use.store)
        }
        self.state = .passing(self.open(self.past == nil ? self.transfer : self.sharedTransfer, self))
    }

    private var inner: (any OriginStream)? {
        if case .passing(let stream) = self.state { stream } else { self.fetch?.stream }
    }
}

// MARK: Origin stream

extension CachedOrigin {
    var verdict: Verdict? { self.inner?.verdict }
    var proxyVerdict: Verdict? { self.inner?.proxyVerdict }

    var responseVersion: String {
        guard let inner, !inner.responseVersion.isEmpty else { return "1.1" }
        return inner.responseVersion
    }

    var unsentBodyBytes: Int { if case .passing(let stream) = self.state { stream.unsentBodyBytes } else { 0 } }

    func send(_ bytes: ByteBuffer) { if case .passing(let stream) = self.state { stream.send(bytes) } }

    func finishBody(trailers: Fields) {
        if case .passing(let stream) = self.state { stream.finishBody(trailers: trailers) }
    }

    func takePipes() {
        // Pipes would move the bytes past the object that keeps them.
        if case .passing(let stream) = self.state, self.past?.isKeeping != true { stream.takePipes() }
    }

    func pauseReading() {
        self.isPaused = true
        if case .passing(let stream) = self.state { stream.pauseReading() }
    }

    func resumeReading() {
        guard self.isPaused else { return }
        self.isPaused = false
        if case .passing(let stream) = self.state { return stream.resumeReading() }
        // Deferred: a client that gets bytes within this call could ask for a pause.
        self.wantTurn()
    }

    func cancel() { self.leave(keepingOn: false) }

    /// Leaves the response; the fetch continues if its response is to be cached.
    func detach() { self.leave(keepingOn: true) }

    private func leave(keepingOn: Bool) {
        if keepingOn, self.use.mode != nil { self.fetch?.isForStore = true }
        let state = self.state
        self.end()
        switch state {
        case .waiting(let flight, let number): flight.leave(number)
        case .landed(let landing): landing.close()
        case .passing(let stream): stream.cancel()
        case .answered, .failed, .looking, .reading, .over: break
        }
        self.closeBody()
    }
}

extension CachedOrigin {
    /// Asks to continue in the request's turn.
    private func wantTurn() {
        if self.wantsTurn { return }
        self.wantsTurn = true
        self.turns.add(self)
    }

    /// Continues after a wait: delivers the result or the next bytes to the client.
    func goOn() {
        self.wantsTurn = false
        switch self.state {
        case .landed(let landing): self.look(at: landing)
        case .answered(let head, let length):
            self.state = .reading
            self.delegate?.originAnswered(head, length: length)
            self.pump()
        case .failed(let error): self.fail(error)
        case .reading: self.pump()
        case .looking, .waiting, .passing, .over: break
        }
    }
}

// MARK: Transfer delegate, for requests forwarded for one client alone

extension CachedOrigin: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.delegate?.originSent(interim: head) }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        if let key = self.question.key {
            let outdated = self.use.store.rules.invalidated(by: self.request, key: key, response: head)
            if !outdated.isEmpty { self.use.store.invalidate(outdated) }
        }
        var head = head
        var status = CacheStatus(cache: self.use.name, way: .forward(self.forwardReason))
        status.forwardStatus = head.status
        status.detail = self.past?.answered(head, length: length)?.rawValue
        status.stored = self.past?.isKeeping == true
        head.fields.append("Cache-Status", status.fieldValue)
        self.delegate?.originAnswered(head, length: length)
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        if let past, past.isKeeping { past.received(ByteBuffer(bytes: bytes)) }
        self.delegate?.originSent(bytes)
    }

    func originSent(_ buffer: ByteBuffer) {
        self.past?.received(buffer)
        self.delegate?.originSent(buffer)
    }

    func originSent(_ piped: PipedBytes) { self.delegate?.originSent(piped) }

    func originSent(trailers fields: Fields) { self.delegate?.originSent(trailers: fields) }

    func originTookBody(_ count: Int) { self.delegate?.originTookBody(count) }

    func bodyBeginsAgain() { self.delegate?.bodyBeginsAgain() }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        let delegate = self.delegate
        self.end()
        if let delegate { delegate.originHandedOver(handoff, metrics) } else { handoff.connection.close() }
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.past?.ended(isCut: error != nil)
        let delegate = self.delegate
        self.end()
        delegate?.originEnded(error, metrics)
    }
}
