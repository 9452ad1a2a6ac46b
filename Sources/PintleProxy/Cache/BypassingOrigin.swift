// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// An origin that is asked for one client alone. The cache observes the response on its way: it stores the response or its
/// arrived part (RFC 9111 §3.3, §3.4), and updates the stored responses (§4.3.4, §4.3.5).
///
/// It never delays the bytes. It gives up keeping them if they exceed the reserved memory. Used on its event loop's thread
/// only.
final class BypassingOrigin {
    /// The place of the response in the cache.
    private struct Observed {
        let key: CacheKey
        let number: UInt64
        let mode: CacheMode
    }

    /// A response that is to be stored.
    private struct Copy {
        let observed: Observed
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
    /// Nil if the response is neither stored nor changes stored ones.
    private let observed: Observed?
    private let hasFound: Bool
    private let requestTime = CacheTime.now()
    private var copy: Copy?
    private var stream: (any OriginStream)?
    private var delegate: (any TransferDelegate)?

    /// - Parameters:
    ///   - number: that of the response, if the cache observes it.
    ///   - hasFound: true if the request has found a response in the second tier.
    init(
        _ lookup: CacheLookup, _ reason: ForwardReason, number: UInt64?, hasFound: Bool,
        for delegate: any TransferDelegate
    ) {
        (self.lookup, self.reason, self.hasFound, self.delegate) = (lookup, reason, hasFound, delegate)
        self.observed = number.map { number in
            guard let key = lookup.key, let mode = lookup.question.mode else {
                preconditionFailure("BUG: the cache observes a response that it cannot store")
            }
            return Observed(key: key, number: number, mode: mode)
        }
    }

    deinit { if let observed { self.cache.endObserved(observed.number, at: observed.key) } }

    /// Sends the request.
    func start(by open: (any TransferDelegate) -> any OriginStream) { self.stream = open(self) }

    private var cache: SharedCache { self.lookup.use.cache }
    private var request: RequestHead { self.lookup.question.request }

    // MARK: The head

    /// Processes the head.
    ///
    /// - Returns: the reason why the response to a GET is not stored; otherwise nil.
    private func answered(_ head: ResponseHead, length: UInt64?, _ observed: Observed) -> Storability.Reason? {
        let (rules, times) = (ProxyCacheHost.rules, ExchangeTimes(request: self.requestTime, response: .now()))
        if head.status == 304 || head.status == 206 || self.request.method == "HEAD" {
            self.cache.update(
                by: head, to: self.request, at: observed.key, by: observed.number, times, mode: observed.mode)
        }
        guard self.request.method == "GET", head.status != 304 else { return nil }
        if head.status == 206 { return self.answered(withPart: head, length, times, observed) }
        let verdict = rules.storability(of: head, to: self.request, mode: observed.mode)
        if case .no(let reason) = verdict {
            if verdict.outdatesStored(as: head.status) { self.outdate(observed) }
            return reason
        }
        if let whole = rules.stored(head, to: self.request, at: times, length: length ?? 0) {
            self.cache.note(tags: whole.tags, at: observed.key, of: observed.number)
            self.copy = self.copy(of: head, length, whole, times, observed, reserving: length)
            if self.copy == nil { self.outdate(observed) }
        }
        return nil
    }

    private func answered(
        withPart head: ResponseHead, _ length: UInt64?, _ times: ExchangeTimes, _ observed: Observed
    ) -> Storability.Reason? {
        let (rules, stored) = (ProxyCacheHost.rules, self.cache.entries(of: observed.key).map(\.response))
        guard let part = PartialResponse(head, to: self.request),
            let joined = rules.joined(part, with: stored, at: times, mode: observed.mode)
        else {
            let verdict = rules.storability(of: head, to: self.request, mode: observed.mode)
            return if case .no(let reason) = verdict { reason } else { .partial }
        }
        self.cache.note(tags: joined.response.tags, at: observed.key, of: observed.number)
        let count = part.range.upperBound - part.range.lowerBound
        self.copy = self.copy(of: head, length, nil, times, observed, reserving: count)
        return nil
    }

    /// - Returns: nil if there is not enough memory; the response then passes unstored.
    private func copy(
        of head: ResponseHead, _ length: UInt64?, _ whole: StoredResponse?, _ times: ExchangeTimes,
        _ observed: Observed, reserving count: UInt64?
    ) -> Copy? {
        self.cache.reserve(count, isPassing: true).map { share in
            Copy(observed: observed, head: head, length: length, whole: whole, times: times, share: share)
        }
    }

    /// Removes the earlier responses: a newer one makes them out of date even if it is not stored.
    private func outdate(_ observed: Observed) {
        self.cache.outdate(
            by: observed.number, to: self.request, at: observed.key, mayBeStored: self.hasFound)
    }

    // MARK: The body

    private func received(_ piece: ByteBuffer) {
        self.copy?.pieces.append(piece)
        // A response that is not stored only passes.
        guard let copy else { return }
        if copy.pieces.count > copy.share.count {
            self.copy = nil
            // A part says nothing of the rest.
            if copy.whole != nil { self.outdate(copy.observed) }
        } else if let length = copy.length, length == UInt64(copy.pieces.count) {
            // The body is complete. It is stored now, so that a client with the last bytes finds it in the cache.
            self.store(isCut: false)
        }
    }

    /// Stores the received bytes.
    ///
    /// - Parameter isCut: true if the body broke off, or the client left before its end.
    private func store(isCut: Bool) {
        // It may be stored already, since its length was known.
        guard let copy else { return }
        self.copy = nil
        let (observed, count) = (copy.observed, UInt64(copy.pieces.count))
        if !isCut, var whole = copy.whole {
            whole.length = count
            return self.cache.store(
                CacheEntry(whole, copy.pieces), for: self.request, at: observed.key, by: observed.number)
        }
        let part =
            isCut
            ? PartialResponse(copy.head, to: self.request, received: count, of: copy.length)
            : PartialResponse(copy.head, to: self.request)
        // Without a known range, or with another number of bytes than the range has, they cannot be joined to others.
        guard let part, UInt64(part.range.count) == count else { return }
        self.cache.store(
            part, copy.pieces.all, for: self.request, at: observed.key, by: observed.number, copy.times,
            mode: observed.mode)
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
        // After its end there is no request to cancel.
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
        if let observed { status.detail = self.answered(head, length: length, observed)?.rawValue }
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
