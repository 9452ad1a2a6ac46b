// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleCacheStore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// Fetches the response of an origin into a ``Flight``, for all requests that wait there, and into the store.
///
/// Outlives the request that started it; runs while a reader or the store needs the response. Used on its event loop's thread
/// only.
final class OriginFetch {
    /// The request of a fetch, and the use of its response.
    struct Errand {
        /// The request head for the origin, without the conditions of a validation.
        let request: RequestHead
        let mode: CacheMode
        /// True if the store is to keep the response.
        let keeps: Bool
        /// The stored response that is to be validated.
        var validated: KeptAnswer?
        /// The conditional fields of the validation.
        var conditions = Fields()
    }

    /// The progress of writing a long body to disk.
    private enum Writing {
        /// The body is written while it arrives, or will be if it becomes too long for memory.
        case going
        /// Fully received; the store is still writing the tail of this response's body.
        case last(StoredResponse)
        case done(DiskCache.Writer)
        case failed
    }

    let flight: Flight
    /// Its verdicts, version and times are those of the connection.
    private(set) var stream: (any OriginStream)?
    private(set) var metrics = TransferMetrics()
    private let errand: Errand
    private let store: AnswerStore
    private let loop: Loop
    private let transfer: TransferRequest
    private let open: (TransferRequest, any TransferDelegate) -> any OriginStream
    private let queue: RouteQueue?
    private var ticket: RouteQueue.Ticket?
    private var requestTime = CacheTime(seconds: 0)
    private var answer: Flight.Answer?
    private var writing = Writing.going
    private var isOver = false
    /// The stream that caused the request; its client gets interim responses. Nil for a revalidation by the cache itself.
    weak var asker: CachedOrigin?
    /// True if the store wants the response even if no client waits for it.
    var isForStore = false
    /// True if the validation was inconclusive, and a request without conditions follows.
    private var asksAgain = false
    /// Fires some time after the body began to wait for its readers.
    private var readerWatch: LoopTimer?
    /// A body waits for its readers. In this time they must read one window of it, or they are too slow.
    private static let patience = TimeAmount.seconds(10)

    init(
        _ transfer: TransferRequest, _ errand: Errand, in flight: Flight, store: AnswerStore, queue: RouteQueue?,
        loop: Loop, open: @escaping (TransferRequest, any TransferDelegate) -> any OriginStream
    ) {
        self.transfer = transfer
        self.errand = errand
        self.flight = flight
        self.store = store
        self.queue = queue
        self.loop = loop
        self.open = open
    }

    /// Sends the request to the origin, when it has its turn.
    func start() {
        let box = LoopBound(self, loop: self.loop)
        // Until the end of the fetch, the flight's closure keeps this object alive.
        self.flight.watch { box.run { $0.giveUpIfUnwanted() } }
        guard let queue else { return self.ask(with: self.errand.conditions) }
        do throws(SessionError) {
            self.ticket = try queue.enter(of: self.transfer.client) { box.run { $0.begin() } }
        } catch {
            if let validated = self.errand.validated, let stale = self.stale(validated, after: .status(503)) {
                return self.deliver(stale, from: .stale, by: nil)
            }
            self.close()
            self.flight.land(.failure(error))
        }
    }

    private func begin() {
        // The turn was announced from another event loop; the last client may have left in the meantime.
        self.giveUpIfUnwanted()
        if self.isOver { return }
        self.ask(with: self.errand.conditions)
    }

    private func ask(with conditions: Fields) {
        self.flight.noteAsked()
        var transfer = self.transfer
        if !conditions.isEmpty {
            transfer.fields = CacheRules.validating(self.errand.request, with: conditions).fields
        }
        self.requestTime = .now()
        self.stream = self.open(transfer, self)
    }

    /// Ends the fetch if no client wants the response any more.
    private func giveUpIfUnwanted() {
        guard !self.isOver, !self.isForStore, self.answer?.body.closeIfUnread() ?? self.flight.isUnwanted else {
            return
        }
        self.stream?.cancel()
        self.keepBeginning()
        self.close()
        let error = SessionError(.cancelled, "nobody waits for the answer any more")
        if let answer { answer.body.finish(error) } else { self.flight.land(.failure(error)) }
    }

    /// Notes that the store will not keep the response. The fetch then lives only as long as readers need it.
    private func noteUnkept() {
        guard self.isForStore else { return }
        self.isForStore = false
        self.giveUpIfUnwanted()
    }

    private func close() {
        self.leaveOrigin()
        self.store.end(self.flight)
    }

    /// Releases the resources that are needed only while the origin answers. Idempotent.
    private func leaveOrigin() {
        if self.isOver { return }
        self.isOver = true
        self.leaveQueue()
        if let readerWatch { self.loop.disarm(readerWatch) }
        self.flight.watch(whenUnwanted: nil)
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
        guard let body = self.answer?.body, !self.isOver else { return }
        if body.letStragglersGo() { self.leaveQueue() }
        if !body.hasRoom { self.watchReaders(of: body) }
    }

    // MARK: Response

    private func received(_ head: ResponseHead, length: UInt64?) {
        let times = ExchangeTimes(request: self.requestTime, response: .now())
        if let validated = self.errand.validated, head.status == 304, !self.asksAgain {
            return self.confirm(validated, by: head, times)
        }
        if let validated = self.errand.validated, let stale = self.stale(validated, after: .status(head.status)) {
            self.stream?.cancel()
            return self.deliver(stale, from: .stale, by: head)
        }
        var verdict = self.store.rules.storability(of: head, to: self.errand.request, mode: self.errand.mode)
        // A partial response only answers its own request.
        if head.status == 206 { verdict = .no(.partial) }
        let stored =
            verdict == .store
            ? self.store.rules.stored(head, to: self.errand.request, at: times, length: length ?? 0) : nil
        let body = stored.flatMap { stored in
            let box = LoopBound(self, loop: self.loop)
            return self.store.body(of: stored, at: self.flight.key, length: length) { writer in
                box.run { $0.written(by: writer) }
            }
        }
        let answer = Flight.Answer(
            head: head, length: length, stored: body == nil ? nil : stored, body: body ?? SharedBody(limit: 0),
            upstreamStatus: head.status, source: .origin,
            isKept: body != nil && self.errand.keeps, reason: verdict.reason, request: self.errand.request)
        self.answer = answer
        // A newer response makes the earlier ones outdated even if it is not kept.
        if self.errand.keeps, body == nil, verdict.outdatesStored(as: head.status) {
            self.store.outdate(by: self.flight, to: self.errand.request, found: self.errand.validated)
        }
        if case .no(let reason) = verdict, reason.isLasting { self.store.noteUnshared(self.flight.key) }
        if !answer.isKept { self.isForStore = false }
        if !self.flight.land(.success(answer)) { self.giveUpIfUnwanted() }
    }

    private func confirm(_ validated: KeptAnswer, by head: ResponseHead, _ times: ExchangeTimes) {
        let rules = self.store.rules
        switch rules.freshened(
            validated.response, by: head, to: self.errand.request, at: times, mode: self.errand.mode)
        {
        case .store(let response):
            let renewed = validated.with(response)
            if !self.flight.isRevoked {
                self.store.replace(validated, by: renewed, at: self.flight.key)
                self.store.outdateEarlier(than: self.flight)
            }
            self.deliver(renewed, from: .confirmed, by: head)
        case .answerOnce(let response, _, let keepsStored):
            if !keepsStored { self.store.remove(validated, at: self.flight.key) }
            self.deliver(validated.with(response), from: .confirmed, by: head, isShared: false)
        case .outdated, .unrelated:
            // Asks once more, without conditions.
            self.asksAgain = true
            self.stream?.cancel()
            self.ask(with: Fields())
        }
    }

    /// Answers with a stored response; the rest of the origin's response is not needed.
    ///
    /// - Parameters:
    ///   - head: the head of the origin's response; nil if there is none.
    ///   - isShared: true if other requests than the owner's may have it.
    private func deliver(
        _ kept: KeptAnswer, from source: Flight.Source, by head: ResponseHead?, isShared: Bool = true
    ) {
        self.close()
        var answer = Flight.Answer(
            head: kept.response.head, length: kept.response.length, stored: isShared ? kept.response : nil,
            body: kept.body, upstreamStatus: head?.status ?? 0, source: source, isKept: isShared, reason: nil,
            request: self.errand.request)
        // The cookies of a failed response are dropped with it.
        if source == .confirmed, let head { answer.cookies = head.fields.lines(called: ["Set-Cookie"]) }
        self.flight.land(.success(answer))
    }

    private func stale(_ validated: KeptAnswer, after failure: OriginFailure) -> KeptAnswer? {
        self.store.rules.staleAnswer(to: self.errand.request, from: validated.response, after: failure, now: .now())
            .map { _ in validated }
    }

    private func ended(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.metrics = metrics
        guard let answer else {
            if let error {
                if let validated = self.errand.validated, let stale = self.stale(validated, after: .unreachable) {
                    return self.deliver(stale, from: .stale, by: nil)
                }
                self.close()
                self.flight.land(.failure(error))
                return
            }
            preconditionFailure("BUG: a response ends that has not begun")
        }
        if error != nil { self.keepBeginning() }
        let isBeingWritten = answer.body.isBeingWritten
        answer.body.finish(error)
        guard error == nil, answer.isKept, var stored = answer.stored else { return self.close() }
        // The body is complete: the stored length must be that of the body.
        stored.length = answer.body.count
        if let whole = answer.body.whole {
            self.store.keep(KeptAnswer(stored, whole), for: self.errand.request, from: self.flight)
            return self.close()
        }
        switch self.writing {
        case .failed: self.close()
        case .done(let writer): self.keep(stored, writtenBy: writer)
        // The body is too long to be kept anywhere.
        case .going where !isBeingWritten: self.close()
        case .going:
            self.writing = .last(stored)
            self.leaveOrigin()
        case .last: preconditionFailure("BUG: a response ends twice")
        }
    }

    /// Called when the whole body is on disk, or will never be.
    private func written(by writer: DiskCache.Writer?) {
        if case .last(let stored) = self.writing {
            if let writer { self.keep(stored, writtenBy: writer) } else { self.close() }
        } else {
            self.writing = writer.map(Writing.done) ?? .failed
            if writer == nil { self.noteUnkept() }
        }
    }

    /// Keeps a response whose body is on disk. Until the disk can find it, later requests get it from the flight.
    private func keep(_ stored: StoredResponse, writtenBy writer: DiskCache.Writer) {
        guard let answer else { preconditionFailure("BUG: a body has no answer") }
        self.leaveOrigin()
        let (store, flight) = (self.store, self.flight)
        store.keep(
            KeptAnswer(stored, answer.body), for: self.errand.request, from: flight, writtenBy: writer
        ) {
            store.end(flight)
        }
    }

    /// Keeps the beginning of a body that broke off, if its range in the representation is known (RFC 9111 §3.3).
    private func keepBeginning() {
        guard let answer, answer.isKept, let stored = answer.stored, let pieces = answer.body.begun,
            let part = PartialResponse(
                answer.head, to: self.errand.request, received: answer.body.count, of: answer.length)
        else { return }
        let times = ExchangeTimes(request: stored.requestTime, response: stored.responseTime)
        self.store.join(part, pieces, for: self.errand.request, from: self.flight, times, mode: self.errand.mode)
    }
}

extension OriginFetch: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.asker?.fetchSent(interim: head) }

    func originAnswered(_ head: ResponseHead, length: UInt64?) { self.received(head, length: length) }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        self.originSent(ByteBuffer(bytes: bytes))
    }

    func originSent(_ buffer: ByteBuffer) {
        // Bytes of a response that is no longer wanted are dropped.
        guard let answer, !self.isOver else { return }
        let goesOn = answer.body.append(buffer)
        if self.isForStore, answer.body.isIncomplete { self.noteUnkept() }
        if goesOn || self.isOver { return }
        self.stream?.pauseReading()
        self.watchReaders(of: answer.body)
        let box = LoopBound(self, loop: self.loop)
        answer.body.whenRoom { box.run { $0.stream?.resumeReading() } }
    }

    func originSent(trailers fields: Fields) {}

    func originTookBody(_ count: Int) {}

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
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
