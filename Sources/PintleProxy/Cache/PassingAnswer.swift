// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage

/// Observes a response that bypasses the cache on its way to one client, and updates the store: it keeps the response or its
/// arrived part (RFC 9111 §3.3, §3.4), and updates the stored responses (§4.3.4, §4.3.5).
///
/// It never delays the bytes. It gives up keeping them if they exceed the reserved memory. Used on its event loop's thread
/// only.
final class PassingAnswer {
    /// A response that is to be kept.
    private struct Body {
        let head: ResponseHead
        let length: UInt64?
        /// The stored form of the whole response; nil for a 206.
        let whole: StoredResponse?
        let times: ExchangeTimes
        /// The memory that is reserved for the bytes.
        let share: BodyBudget.Share
        var pieces = BodyPieces()
    }

    private let store: AnswerStore
    private let request: RequestHead
    private let mode: CacheMode
    private let watch: RemovalWatch
    private let requestTime = CacheTime.now()
    private var body: Body?

    init(to request: RequestHead, at key: CacheKey, mode: CacheMode, _ store: AnswerStore) {
        (self.request, self.mode, self.store) = (request, mode, store)
        self.watch = store.watch(key)
    }

    deinit { self.store.end(self.watch) }

    /// True while the bytes of the response are being kept.
    var isKeeping: Bool { self.body != nil }

    /// Processes the head.
    ///
    /// - Returns: the reason why the response to a GET is not stored; otherwise nil.
    func answered(_ head: ResponseHead, length: UInt64?) -> Storability.Reason? {
        let times = ExchangeTimes(request: self.requestTime, response: .now())
        self.update(by: head, times)
        guard self.request.method == "GET", head.status != 304 else { return nil }
        if head.status == 206 { return self.keepPart(head, length, times) }
        let verdict = self.store.rules.storability(of: head, to: self.request, mode: self.mode)
        if case .no(let reason) = verdict {
            if verdict.outdatesStored(as: head.status) {
                self.store.outdate(by: self.watch, to: self.request)
            }
            return reason
        }
        let whole = self.store.rules.stored(head, to: self.request, at: times, length: length ?? 0)
        if let whole { self.keep(head, length, whole, times, tags: whole.tags, reserving: length) }
        return nil
    }

    /// Updates the stored responses with the information in the head.
    private func update(by head: ResponseHead, _ times: ExchangeTimes) {
        guard head.status == 304 || head.status == 206 || self.request.method == "HEAD", !self.watch.isRevoked else {
            return
        }
        let (key, rules, request, mode) = (self.watch.key, self.store.rules, self.request, self.mode)
        let lesson = AnswerDisk.Lesson(cost: 2 * (head.fields.byteCount + request.fields.byteCount) + 512) { stored in
            rules.updates(of: stored, by: head, to: request, at: times, mode: mode)
        }
        self.store.learnOnDisk(lesson, at: key)
        let kept = self.store.find(key)
        for (place, update) in lesson.updates(kept.map(\.response)) {
            switch update {
            case .store(let response):
                self.store.replace(kept[place], by: kept[place].with(response), at: key)
            case .answerOnce(_, _, keepsStored: true), .unrelated: break
            case .answerOnce, .outdated: self.store.remove(kept[place], at: key)
            }
        }
    }

    private func keepPart(_ head: ResponseHead, _ length: UInt64?, _ times: ExchangeTimes) -> Storability.Reason? {
        guard let part = PartialResponse(head, to: self.request),
            let joined = self.store.rules.joined(
                part, with: self.store.find(self.watch.key).map(\.response), at: times, mode: self.mode)
        else {
            let verdict = self.store.rules.storability(of: head, to: self.request, mode: self.mode)
            return if case .no(let reason) = verdict { reason } else { .partial }
        }
        let count = part.range.upperBound - part.range.lowerBound
        self.keep(head, length, nil, times, tags: joined.response.tags, reserving: count)
        return nil
    }

    private func keep(
        _ head: ResponseHead, _ length: UInt64?, _ whole: StoredResponse?, _ times: ExchangeTimes, tags: [String],
        reserving count: UInt64?
    ) {
        self.watch.note(tags: tags)
        // Without enough memory the response passes unkept.
        guard let share = self.store.reserve(count, isPassing: true) else { return }
        self.body = Body(head: head, length: length, whole: whole, times: times, share: share)
    }

    /// Processes bytes of the body.
    func received(_ piece: ByteBuffer) {
        self.body?.pieces.append(piece)
        guard let body else { return }
        if body.pieces.count > body.share.count { return self.giveUp() }
        // The body is complete. It is kept now, so that a client with the last bytes finds the response in the cache.
        if let length = body.length, length == UInt64(body.pieces.count) { self.ended(isCut: false) }
    }

    private func giveUp() { self.body = nil }

    /// Keeps the received bytes. Idempotent.
    ///
    /// - Parameter isCut: true if the body broke off, or the client left before its end.
    func ended(isCut: Bool) {
        guard let body else { return }
        let count = UInt64(body.pieces.count)
        if !isCut, var whole = body.whole {
            whole.length = count
            self.store.keep(KeptAnswer(whole, body.pieces.all), for: self.request, from: self.watch)
        } else {
            let part =
                isCut
                ? PartialResponse(body.head, to: self.request, received: count, of: body.length)
                : PartialResponse(body.head, to: self.request)
            if let part, UInt64(part.range.count) == count {
                self.store.join(
                    part, body.pieces.all, for: self.request, from: self.watch, body.times, mode: self.mode)
            }
        }
        self.giveUp()
    }
}
