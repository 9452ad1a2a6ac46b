// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// An origin that is asked for one client alone. The cache observes the response on its way: it stores the response or its
/// arrived part (RFC 9111 §3.3, §3.4), updates the stored responses (§4.3.4, §4.3.5) and removes those that the request has
/// made invalid (§4.4).
///
/// It never delays the bytes. It gives up keeping them if they exceed the reserved memory. Used on its event loop's thread
/// only.
final class BypassingOrigin {
    /// A response that is to be stored.
    private struct Copy {
        let head: ResponseHead
        let length: UInt64?
        /// The stored form of the whole response; nil for a 206.
        let whole: StoredResponse?
        let times: ExchangeTimes
        /// The memory that is reserved for the bytes.
        let share: BodyBudget.Share
        var pieces = BodyPieces()
    }

    private let lookup: CacheLookup
    private let reason: ForwardReason
    /// The number of the response in the cache; nil if it is neither stored nor changes stored ones.
    private let number: UInt64?
    private let requestTime = CacheTime.now()
    private var copy: Copy?
    private var stream: (any OriginStream)?
    private var delegate: (any TransferDelegate)?

    init(_ lookup: CacheLookup, _ reason: ForwardReason, number: UInt64?, for delegate: any TransferDelegate) {
        (self.lookup, self.reason, self.number, self.delegate) = (lookup, reason, number, delegate)
    }

    deinit {
        if let number, let key = self.lookup.key { self.cache.endObserved(number, at: key) }
    }

    /// Sends the request.
    func start(by open: (any TransferDelegate) -> any OriginStream) { self.stream = open(self) }

    private var cache: SharedCache { self.lookup.use.cache }
    private var request: RequestHead { self.lookup.question.request }

    // MARK: The head

    /// Processes the head.
    ///
    /// - Returns: the reason why the response to a GET is not stored; otherwise nil.
    private func answered(
        _ head: ResponseHead, length: UInt64?, at key: CacheKey, by number: UInt64, mode: CacheMode
    ) -> Storability.Reason? {
        let (rules, times) = (ProxyCacheHost.rules, ExchangeTimes(request: self.requestTime, response: .now()))
        if head.status == 304 || head.status == 206 || self.request.method == "HEAD" {
            self.cache.update(by: head, to: self.request, at: key, by: number, times, mode: mode)
        }
        guard self.request.method == "GET", head.status != 304 else { return nil }
        if head.status == 206 { return self.copyPart(head, length, times, at: key, by: number, mode: mode) }
        let verdict = rules.storability(of: head, to: self.request, mode: mode)
        if case .no(let reason) = verdict {
            if verdict.outdatesStored(as: head.status) { self.cache.outdate(by: number, to: self.request, at: key) }
            return reason
        }
        if let whole = rules.stored(head, to: self.request, at: times, length: length ?? 0) {
            self.cache.note(tags: whole.tags, at: key, of: number)
            self.copy(head, length, whole, times, reserving: length)
            // A newer response makes the earlier ones outdated even if it is not stored.
            if self.copy == nil { self.cache.outdate(by: number, to: self.request, at: key) }
        }
        return nil
    }

    private func copyPart(
        _ head: ResponseHead, _ length: UInt64?, _ times: ExchangeTimes, at key: CacheKey, by number: UInt64,
        mode: CacheMode
    ) -> Storability.Reason? {
        let (rules, stored) = (ProxyCacheHost.rules, self.cache.entries(of: key).map(\.response))
        guard let part = PartialResponse(head, to: self.request),
            let joined = rules.joined(part, with: stored, at: times, mode: mode)
        else {
            let verdict = rules.storability(of: head, to: self.request, mode: mode)
            return if case .no(let reason) = verdict { reason } else { .partial }
        }
        self.cache.note(tags: joined.response.tags, at: key, of: number)
        self.copy(head, length, nil, times, reserving: part.range.upperBound - part.range.lowerBound)
        return nil
    }

    private func copy(
        _ head: ResponseHead, _ length: UInt64?, _ whole: StoredResponse?, _ times: ExchangeTimes,
        reserving count: UInt64?
    ) {
        // Without enough memory the response passes unstored.
        guard let share = self.cache.reserve(count, isPassing: true) else { return }
        self.copy = Copy(head: head, length: length, whole: whole, times: times, share: share)
    }

    // MARK: The body

    private func received(_ piece: ByteBuffer) {
        self.copy?.pieces.append(piece)
        guard let copy else { return }
        if copy.pieces.count > copy.share.count { return self.giveUp(copy) }
        // The body is complete. It is stored now, so that a client with the last bytes finds the response in the cache.
        if let length = copy.length, length == UInt64(copy.pieces.count) { self.store(isCut: false) }
    }

    private func giveUp(_ copy: Copy) {
        self.copy = nil
        guard copy.whole != nil, let number, let key = self.lookup.key else { return }
        self.cache.outdate(by: number, to: self.request, at: key)
    }

    /// Stores the received bytes. Idempotent.
    ///
    /// - Parameter isCut: true if the body broke off, or the client left before its end.
    private func store(isCut: Bool) {
        guard let copy, let number, let key = self.lookup.key, let mode = self.lookup.question.mode else { return }
        self.copy = nil
        let count = UInt64(copy.pieces.count)
        if !isCut, var whole = copy.whole {
            whole.length = count
            return self.cache.store(CacheEntry(whole, copy.pieces), for: self.request, at: key, by: number)
        }
        let part =
            isCut
            ? PartialResponse(copy.head, to: self.request, received: count, of: copy.length)
            : PartialResponse(copy.head, to: self.request)
        guard let part, UInt64(part.range.count) == count else { return }
        self.cache.store(part, copy.pieces.all, for: self.request, at: key, by: number, copy.times, mode: mode)
    }
}

extension BypassingOrigin: OriginStream {
    var verdict: Verdict? { self.stream?.verdict }
    var proxyVerdict: Verdict? { self.stream?.proxyVerdict }
    var responseVersion: String { self.stream?.responseVersion ?? "" }
    var metrics: TransferMetrics { self.stream?.metrics ?? TransferMetrics() }
    var unsentBodyBytes: Int { self.stream?.unsentBodyBytes ?? 0 }
    var heldBodyBytes: Int { self.stream?.heldBodyBytes ?? 0 }

    /// The stream until its end.
    private var live: (any OriginStream)? { self.delegate == nil ? nil : self.stream }

    func send(_ bytes: ByteBuffer) { self.live?.send(bytes) }

    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        self.live?.moveBody(from: descriptor, atMost: limit) ?? .isUnfit
    }

    func finishBody(trailers: Fields) { self.live?.finishBody(trailers: trailers) }

    // Pipes would move the bytes past the copy.
    func takePipes() { if self.copy == nil { self.live?.takePipes() } }

    func pauseReading() { self.live?.pauseReading() }

    func resumeReading() { self.live?.resumeReading() }

    func cancel() {
        guard let live else { return }
        self.delegate = nil
        self.store(isCut: true)
        live.cancel()
    }
}

extension BypassingOrigin: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.delegate?.originSent(interim: head) }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        var status = CacheStatus(cache: self.lookup.use.name, way: .forward(self.reason))
        status.forwardStatus = head.status
        if let key = self.lookup.key {
            let outdated = ProxyCacheHost.rules.invalidated(by: self.request, key: key, response: head)
            if !outdated.isEmpty { self.cache.invalidate(outdated) }
            if let number, let mode = self.lookup.question.mode {
                status.detail = self.answered(head, length: length, at: key, by: number, mode: mode)?.rawValue
            }
        }
        status.stored = self.copy != nil
        var head = head
        head.fields.append("Cache-Status", status.fieldValue)
        self.delegate?.originAnswered(head, length: length)
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        if self.copy != nil { self.received(ByteBuffer(bytes: bytes)) }
        self.delegate?.originSent(bytes)
    }

    func originSent(_ buffer: ByteBuffer) {
        self.received(buffer)
        self.delegate?.originSent(buffer)
    }

    func originSent(_ piped: PipedBytes) { self.delegate?.originSent(piped) }

    func originSent(trailers fields: Fields) { self.delegate?.originSent(trailers: fields) }

    func originTookBody(_ count: Int) { self.delegate?.originTookBody(count) }

    func bodyBeginsAgain() { self.delegate?.bodyBeginsAgain() }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        let delegate = self.delegate
        self.delegate = nil
        if let delegate { delegate.originHandedOver(handoff, metrics) } else { handoff.connection.close() }
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.store(isCut: error != nil)
        let delegate = self.delegate
        self.delegate = nil
        delegate?.originEnded(error, metrics)
    }
}
