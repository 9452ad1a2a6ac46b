// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleCacheStore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

/// Carries out a ``CacheFetchPlan``: brings the response of an origin to all clients that wait for it, and to the cache.
///
/// Outlives the client that caused it; runs while a reader or the cache needs the response. Used on its event loop's thread
/// only.
final class OriginFetch {
    /// The progress of writing a long body to disk.
    private enum Writing {
        /// The body is written while it arrives, or will be if it becomes too long for memory.
        case going
        /// Fully received; the disk is still writing the tail of this response's body.
        case last(StoredResponse)
        case done(DiskCache.Writer)
        case failed
    }

    /// Its verdicts, version and times are those of the connection.
    private(set) var stream: (any OriginStream)?
    private(set) var metrics = TransferMetrics()
    private let plan: CacheFetchPlan<ProxyCacheHost>
    private let key: CacheKey
    private let cache: SharedCache
    private let loop: Loop
    private let transfer: TransferRequest
    private let open: (TransferRequest, any TransferDelegate) -> any OriginStream
    private let queue: RouteQueue?
    private var ticket: RouteQueue.Ticket?
    private var requestTime = CacheTime(seconds: 0)
    private var response: FetchedResponse<ProxyCacheHost>?
    private var writing = Writing.going
    private var isOver = false
    /// The client that caused the request; it gets interim responses. Nil for a revalidation by the cache itself.
    weak var asker: CachedOrigin?
    /// True if the cache wants the response even if no client waits for it.
    var isForCache = false
    /// True if the client that caused the request has found a response in the second tier.
    var hasFound = false
    /// True if the validation was inconclusive, and the request was sent once more without conditions.
    private var isRepeated = false
    /// Fires some time after the body began to wait for its readers.
    private var readerWatch: LoopTimer?
    /// A body waits for its readers. In this time they must read one window of it, or they are too slow.
    private static let patience = TimeAmount.seconds(10)

    init(
        _ plan: CacheFetchPlan<ProxyCacheHost>, of key: CacheKey, for cache: SharedCache, _ transfer: TransferRequest,
        _ queue: RouteQueue?, loop: Loop, open: @escaping (TransferRequest, any TransferDelegate) -> any OriginStream
    ) {
        (self.plan, self.key, self.cache) = (plan, key, cache)
        (self.transfer, self.queue) = (transfer, queue)
        (self.loop, self.open) = (loop, open)
    }

    /// Sends the request to the origin, when it has its turn.
    func start() {
        let box = LoopBound(self, loop: self.loop)
        // Until the end of the fetch, the session keeps this object alive.
        self.cache.begin(self.plan.number, at: self.key, by: box)
        guard let queue else { return self.ask(with: self.plan.conditions) }
        do throws(SessionError) {
            self.ticket = try queue.enter(of: self.transfer.client) { box.run { $0.takeTurn() } }
        } catch {
            self.fail(error, .status(503))
        }
    }

    private func takeTurn() {
        // The turn was announced from another event loop; the last client may have left in the meantime.
        self.giveUpIfUnwanted()
        if self.isOver { return }
        self.ask(with: self.plan.conditions)
    }

    private func ask(with conditions: Fields) {
        self.cache.ask(self.plan.number, at: self.key)
        var transfer = self.transfer
        if !conditions.isEmpty {
            transfer.fields = CacheRules.validating(self.plan.request, with: conditions).fields
            // The plan's request may stand for equal ones, each of which has a trace of its own.
            TraceParent.copy(from: self.transfer.fields, to: &transfer.fields)
        }
        self.requestTime = .now()
        self.stream = self.open(transfer, self)
    }

    /// Ends the fetch if no client wants the response any more.
    func giveUpIfUnwanted() {
        if self.isOver || self.isForCache { return }
        guard let response else {
            // A client still waits for the response.
            guard self.cache.giveUp(self.plan.number, at: self.key) else { return }
            self.leaveOrigin()
            self.stream?.cancel()
            return
        }
        // A client still reads the body.
        guard response.body.closeIfUnread() else { return }
        self.stream?.cancel()
        self.storeBeginning()
        self.close()
        response.body.finish(SessionError(.cancelled, "nobody waits for the answer any more"))
    }

    /// Notes that the cache will not keep the response. The fetch then lives only as long as readers need it.
    private func noteUnstored() {
        // Readers alone have kept the fetch alive.
        guard self.isForCache else { return }
        self.isForCache = false
        self.giveUpIfUnwanted()
    }

    private func close() {
        self.leaveOrigin()
        self.cache.end(self.plan.number, at: self.key)
    }

    /// Releases the resources that are needed only while the origin answers. Idempotent.
    private func leaveOrigin() {
        if self.isOver { return }
        self.isOver = true
        self.leaveQueue()
        if let readerWatch { self.loop.disarm(readerWatch) }
    }

    /// Releases the place at the origin. Idempotent.
    private func leaveQueue() {
        if let ticket { self.queue?.leave(ticket) }
        self.ticket = nil
    }

    // MARK: Slow readers

    /// Starts to measure the readers that the body waits for, unless that has begun already.
    private func watchReaders(of body: SharedBody) {
        if self.readerWatch?.isArmed == true { return }
        let watch = self.readerWatch ?? LoopTimer { [weak self] in self?.lookAtReaders() }
        self.readerWatch = watch
        body.markReaders()
        self.loop.arm(watch, at: self.loop.turnTime + Self.patience)
    }

    /// Keeps readers that are too slow from delaying other readers of this response, and other requests of the route. Each slow
    /// reader takes one window of memory at most, and continues alone.
    private func lookAtReaders() {
        // After the end, the origin waits for no reader.
        guard let body = self.response?.body, !self.isOver else { return }
        if body.letStragglersGo() { self.leaveQueue() }
        if !body.hasRoom { self.watchReaders(of: body) }
    }

    // MARK: Response

    private func received(_ head: ResponseHead, length: UInt64?) {
        let times = ExchangeTimes(request: self.requestTime, response: .now())
        let step = self.cache.received(
            head, length: length, at: times, by: self.plan, at: self.key, isRepeated: self.isRepeated)
        switch step {
        case .ended(let delivery, _, _):
            // The rest of the origin's response is not needed.
            self.leaveOrigin()
            self.stream?.cancel()
            _ = self.deliver(delivery)
        case .askAgain:
            self.isRepeated = true
            self.stream?.cancel()
            self.ask(with: Fields())
        case .began(let stored, let verdict): self.begin(head, length: length, stored, verdict)
        }
    }

    private func begin(_ head: ResponseHead, length: UInt64?, _ stored: StoredResponse?, _ verdict: Storability) {
        let box = LoopBound(self, loop: self.loop)
        let body = stored.flatMap { stored in
            self.cache.body(of: stored, at: self.key, length: length) { writer in box.run { $0.written(by: writer) } }
        }
        let response = FetchedResponse(
            head, length: length, stored: body == nil ? nil : stored, body ?? SharedBody(limit: 0),
            reason: verdict.reason, of: self.plan)
        self.response = response
        // A newer response makes the earlier ones outdated even if it is not stored.
        if self.plan.keeps, body == nil, verdict.outdatesStored(as: head.status) { self.outdate() }
        if case .no(let reason) = verdict, reason.isLasting { self.cache.noteUncacheable(self.key) }
        if !response.isKept { self.isForCache = false }
        let delivery = self.cache.answer(self.plan.number, at: self.key, with: response)
        if !self.deliver(delivery) { self.giveUpIfUnwanted() }
    }

    /// Removes the earlier responses.
    private func outdate() {
        self.cache.outdate(
            by: self.plan.number, to: self.plan.request, at: self.key,
            mayBeStored: self.hasFound || self.plan.validated != nil)
    }

    /// Ends the fetch of a response that has arrived, and could not be kept. It makes the earlier ones outdated all the same.
    private func closeUnkept() {
        self.outdate()
        self.close()
    }

    /// Gives a response to the clients that wait for it.
    ///
    /// - Returns: true if it has a reader.
    private func deliver(_ delivery: FetchDelivery<ProxyCacheHost>) -> Bool {
        let response = delivery.response
        // All readers are open before the first one begins to read.
        let readers = delivery.waiters.map { _, isOwner in
            response.stored != nil || isOwner ? response.body.open() : nil
        }
        for ((waiter, isOwner), reader) in zip(delivery.waiters, readers) {
            let arrival = CachedOrigin.Arrival(response: response, reader: reader, isOwn: isOwner)
            waiter.run { $0.arrived(.success(arrival), isOwn: isOwner) }
        }
        return readers.contains { $0 != nil }
    }

    /// Ends the fetch before its response.
    private func fail(_ error: SessionError, _ failure: OriginFailure) {
        self.leaveOrigin()
        let (delivery, waiters) = self.cache.fail(self.plan.number, at: self.key, failure)
        if let delivery { _ = self.deliver(delivery) }
        for (waiter, isOwner) in waiters { waiter.run { $0.arrived(.failure(error), isOwn: isOwner) } }
    }

    private func ended(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.metrics = metrics
        guard let response else {
            guard let error else { preconditionFailure("BUG: a response ends that has not begun") }
            return self.fail(error, .unreachable)
        }
        if error != nil { self.storeBeginning() }
        let isBeingWritten = response.body.isBeingWritten
        response.body.finish(error)
        guard error == nil, response.isKept, var stored = response.stored else { return self.close() }
        // The body is complete: the stored length must be that of the body.
        stored.length = response.body.count
        if let whole = response.body.whole {
            let entry = CacheEntry(stored, BodyPieces(whole))
            self.cache.store(entry, for: self.plan.request, at: self.key, by: self.plan.number)
            return self.close()
        }
        switch self.writing {
        case .failed: self.closeUnkept()
        case .done(let writer): self.store(stored, writtenBy: writer)
        // The body is too long to be kept anywhere.
        case .going where !isBeingWritten: self.closeUnkept()
        case .going:
            self.writing = .last(stored)
            self.leaveOrigin()
        case .last: preconditionFailure("BUG: a response ends twice")
        }
    }

    /// Called when the whole body is on disk, or will never be.
    private func written(by writer: DiskCache.Writer?) {
        if case .last(let stored) = self.writing {
            if let writer { self.store(stored, writtenBy: writer) } else { self.closeUnkept() }
        } else {
            self.writing = writer.map(Writing.done) ?? .failed
            if writer == nil { self.noteUnstored() }
        }
    }

    /// Stores a response whose body is on disk. Until the disk can find it, later requests get it from the fetch.
    private func store(_ stored: StoredResponse, writtenBy writer: DiskCache.Writer) {
        guard let response else { preconditionFailure("BUG: a body has no response") }
        self.leaveOrigin()
        let (cache, key, number) = (self.cache, self.key, self.plan.number)
        let entry = CacheEntry(stored, onDisk: response.body)
        cache.store(entry, for: self.plan.request, at: key, by: number, writtenBy: writer) {
            cache.end(number, at: key)
        }
    }

    /// Stores the beginning of a body that broke off, if its range in the representation is known (RFC 9111 §3.3).
    private func storeBeginning() {
        // The beginning may not be kept, or is not in memory, or its place in the representation is unknown.
        guard let response, response.isKept, let stored = response.stored, let pieces = response.body.begun,
            let part = PartialResponse(
                response.head, to: self.plan.request, received: response.body.count, of: response.length)
        else { return }
        let times = ExchangeTimes(request: stored.requestTime, response: stored.responseTime)
        self.cache.store(
            part, pieces, for: self.plan.request, at: self.key, by: self.plan.number, times, mode: self.plan.mode)
    }
}

extension OriginFetch: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.asker?.fetchSent(interim: head) }

    func originAnswered(_ head: ResponseHead, length: UInt64?) { self.received(head, length: length) }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        // An empty piece would wake the readers in vain.
        guard bytes.count > 0 else { return }
        self.originSent(ByteBuffer(bytes: bytes))
    }

    func originSent(_ buffer: ByteBuffer) {
        // Bytes of a response that is no longer wanted are dropped.
        guard let body = self.response?.body, !self.isOver else { return }
        let goesOn = body.append(buffer)
        if self.isForCache, body.isIncomplete { self.noteUnstored() }
        if goesOn || self.isOver { return }
        self.stream?.pauseReading()
        self.watchReaders(of: body)
        let box = LoopBound(self, loop: self.loop)
        body.whenRoom { box.run { $0.stream?.resumeReading() } }
    }

    func originSent(trailers fields: Fields) {}

    func originTookBody(_ count: Int) {}

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        // The end of a response that the fetch has left changes nothing.
        guard !self.isOver else { return }
        self.ended(error, metrics)
        self.stream = nil
    }
}

extension CacheTime {
    /// The system's time.
    static func now() -> CacheTime { CacheTime(seconds: Timestamp.now().milliseconds / 1000) }
}

extension Storability {
    fileprivate var reason: Reason? {
        if case .no(let reason) = self { reason } else { nil }
    }
}
