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
    let request: RequestHead
    /// True for a GET or HEAD that has no content and asks for no other protocol.
    private let isForCaches: Bool
    /// The last response that was given at once, with its prepared head.
    private var last: PromptAnswer?

    init(_ transfer: TransferRequest, _ use: CacheUse) {
        self.use = use
        self.key = CacheKey(
            partition: use.partition, scheme: transfer.scheme, authority: transfer.authority, path: transfer.path)
        self.request = RequestHead(
            method: transfer.method,
            target: .absolute(scheme: transfer.scheme, authority: transfer.authority, path: transfer.path),
            fields: transfer.fields)
        let isBare = if case .none = transfer.body { true } else { false }
        self.isForCaches =
            isBare && transfer.upgrade == nil && !transfer.connectOnly
            && (transfer.method == "GET" || transfer.method == "HEAD")
    }

    /// The key, if the cache may be used for the request.
    var cacheableKey: CacheKey? { self.isForCaches ? self.key : nil }

    /// True if the response could be shared: the request is for the whole representation, without conditions from the client.
    var canBeShared: Bool {
        self.request.method == "GET"
            && ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"]
                .allSatisfy { !self.request.fields.contains($0) }
            && UnkeyedFields.first(in: self.request.fields) == nil
    }

    /// Makes a response from a cached one.
    ///
    /// - Parameters:
    ///   - age: in seconds.
    ///   - staleness: its age minus its freshness lifetime, in seconds.
    /// - Returns: nil if the needed bytes are not cached.
    func answer(from kept: KeptAnswer, age: Int64, staleness: Int64) -> CachedAnswer? {
        guard let answer = self.use.store.rules.answer(to: self.request, from: kept.response, age: age) else {
            return nil
        }
        var status = CacheStatus(cache: self.use.name, way: .hit)
        status.ttl = -staleness
        var head = answer.head
        head.fields.append("Cache-Status", status.fieldValue)
        // Without a body, Content-Length still tells its length.
        if answer.body == nil, let length = answer.contentLength { head.fields.set("Content-Length", "\(length)") }
        let start = kept.response.range?.lowerBound ?? 0
        let range = answer.body.map { ($0.lowerBound - start)..<($0.upperBound - start) } ?? 0..<0
        return CachedAnswer(
            head: head, length: answer.contentLength, outcome: staleness < 0 ? .hit : .stale, range: range,
            body: kept.body)
    }

    /// The response from memory, if one is fresh enough to need no origin and short enough to be given at once.
    ///
    /// - Parameter forward: makes the head for the client; for this object it must always do so in the same way.
    /// - Returns: the response, and the pieces that hold its body.
    func promptAnswer(_ forward: (ResponseHead) -> ResponseHead) -> (PromptAnswer, pieces: [ByteBuffer])? {
        guard let key = self.cacheableKey, let mode = self.use.mode else { return nil }
        let kept = self.use.store.find(key)
        if kept.isEmpty { return nil }
        let now = CacheTime.now()
        if let last, last.isOf(kept, at: now) { return (last, kept[0].pieces) }
        let decision = self.use.store.rules.decision(
            for: self.request, among: kept.map(\.judged), mode: mode, now: now)
        guard case .answer(let index, let age, let staleness, false) = decision,
            kept[index].byteCount <= Self.longestPrompt,
            let answer = self.answer(from: kept[index], age: age, staleness: staleness)
        else { return nil }
        let prompt = PromptAnswer(
            answer, to: self.request.method, forwarded: forward(answer.head), of: kept[index], at: now)
        self.last = prompt.isSmall ? prompt : nil
        return (prompt, answer.body.pieces)
    }

    /// Counts a response that was given.
    func countHit() { self.use.store.count { $0.hits += 1 } }

    /// The longest body in bytes that is given at once.
    private static let longestPrompt = 64 * 1024
}

/// A response that is made from a cached one.
struct CachedAnswer {
    let head: ResponseHead
    /// The length in bytes of the body that follows, or would follow a GET; nil if it has no Content-Length.
    let length: UInt64?
    let outcome: CacheOutcome
    /// The part of the cached bytes that is the body.
    let range: Range<UInt64>
    let body: SharedBody
}

extension RequestHead {
    /// True if both requests have the same Authorization and Cookie lines.
    func hasCredentials(of other: RequestHead) -> Bool {
        ["Authorization", "Cookie"].allSatisfy { self.fields.values(of: $0) == other.fields.values(of: $0) }
    }
}
