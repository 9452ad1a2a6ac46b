// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import PintleSession

/// The cache lookup of one request: its key, and its head as the origin would get it.
///
/// Used on its event loop's thread only.
final class CacheLookup {
    let use: CacheUse
    /// Nil if the target cannot be a key.
    let key: CacheKey?
    let question: CacheQuestion
    /// True for a GET or HEAD that has no content and asks for no other protocol.
    private let isForCaches: Bool
    /// The last response that was given at once, with its prepared head.
    private var last: PreparedHit?

    init(_ transfer: TransferRequest, _ use: CacheUse) {
        self.use = use
        self.key = CacheKey(
            partition: use.partition, scheme: transfer.scheme, authority: transfer.authority, path: transfer.path)
        let request = RequestHead(
            method: transfer.method,
            target: .absolute(scheme: transfer.scheme, authority: transfer.authority, path: transfer.path),
            fields: transfer.fields)
        self.question = CacheQuestion(request, mode: use.mode, joins: use.joins, isQueued: use.queue != nil)
        let isBare = if case .none = transfer.body { true } else { false }
        self.isForCaches =
            isBare && transfer.upgrade == nil && !transfer.connectOnly
            && (transfer.method == "GET" || transfer.method == "HEAD")
    }

    /// The key, if the cache may be used for the request.
    var cacheableKey: CacheKey? { self.isForCaches ? self.key : nil }

    /// Makes the response to the client from a cached one.
    ///
    /// - Parameter staleness: its age minus its freshness lifetime, in seconds.
    func answer(_ answer: StoredAnswer, from entry: SharedCache.Entry, staleness: Int64) -> CachedAnswer {
        var status = CacheStatus(cache: self.use.name, way: .hit)
        status.ttl = -staleness
        return self.answer(answer, from: entry, status, staleness < 0 ? .hit : .stale)
    }

    private func answer(
        _ answer: StoredAnswer, from entry: SharedCache.Entry, _ status: CacheStatus, _ outcome: CacheOutcome
    ) -> CachedAnswer {
        var head = answer.head
        head.fields.append("Cache-Status", status.fieldValue)
        // Without a body, Content-Length still tells its length.
        if answer.body == nil, let length = answer.contentLength { head.fields.set("Content-Length", "\(length)") }
        let start = entry.response.range?.lowerBound ?? 0
        let range = answer.body.map { ($0.lowerBound - start)..<($0.upperBound - start) } ?? 0..<0
        return CachedAnswer(head: head, length: answer.contentLength, outcome: outcome, range: range)
    }

    /// The response from memory that answers although it is stale, because the origin has failed (RFC 5861 §4); nil if none may.
    ///
    /// - Parameter reason: the reason why the request went to the origin.
    func staleAnswer(
        after failure: OriginFailure, _ reason: ForwardReason
    ) -> (answer: CachedAnswer, entry: SharedCache.Entry)? {
        let (rules, request, now) = (ProxyCacheHost.rules, self.question.request, CacheTime.now())
        // Preconditions on the origin's current state are for the origin alone.
        guard let key = self.cacheableKey, let mode = self.use.mode, mode != .ignoreLocal,
            !request.fields.contains("If-Match"), !request.fields.contains("If-Unmodified-Since")
        else { return nil }
        let entries = self.use.cache.entries(of: key)
        guard let index = rules.selected(by: request, among: entries.map(\.response)).first,
            let stale = rules.staleAnswer(to: request, from: entries[index].response, after: failure, now: now),
            let answer = rules.answer(to: request, from: entries[index].response, age: stale.age)
        else { return nil }
        var status = CacheStatus(cache: self.use.name, way: .forward(reason))
        if case .status(let code) = failure { status.forwardStatus = code }
        status.ttl = -stale.staleness
        return (self.answer(answer, from: entries[index], status, .stale), entries[index])
    }

    /// The response from memory, if one is fresh enough to need no origin and short enough to be given at once.
    ///
    /// - Parameter forward: makes the head for the client; for this object it must always do so in the same way.
    /// - Returns: the response, and the pieces that hold its body.
    func preparedHit(_ forward: (ResponseHead) -> ResponseHead) -> (PreparedHit, pieces: [ByteBuffer])? {
        guard let key = self.cacheableKey, let mode = self.use.mode else { return nil }
        let entries = self.use.cache.entries(of: key)
        if entries.isEmpty { return nil }
        let now = CacheTime.now()
        if let last, last.isOf(entries, at: now) { return (last, entries[0].pieces) }
        let (rules, request) = (ProxyCacheHost.rules, self.question.request)
        guard
            case .answer(let index, let age, let staleness, false) = rules.decision(
                for: request, among: entries.map(\.judged), mode: mode, now: now),
            entries[index].byteCount <= Self.longestPrepared,
            let answer = rules.answer(to: request, from: entries[index].response, age: age)
        else { return nil }
        let made = self.answer(answer, from: entries[index], staleness: staleness)
        let hit = PreparedHit(made, to: request.method, forwarded: forward(made.head), of: entries[index], at: now)
        self.last = hit.isSmall ? hit : nil
        return (hit, entries[index].pieces)
    }

    /// Counts a response that was given.
    func countHit() { self.use.cache.count { $0.hits += 1 } }

    /// The longest body in bytes that is given at once.
    private static let longestPrepared = 64 * 1024
}

/// A response that is made from a cached one.
struct CachedAnswer {
    let head: ResponseHead
    /// The length in bytes of the body that follows, or would follow a GET; nil if it has no Content-Length.
    let length: UInt64?
    let outcome: CacheOutcome
    /// The part of the cached bytes that is the body.
    let range: Range<UInt64>
}
