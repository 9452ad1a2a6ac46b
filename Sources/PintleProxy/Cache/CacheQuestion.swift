// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage
internal import PintleSession

/// The question of a request to the cache: under which key, and with which head, which is the one that the origin would get.
///
/// Used on its loop's thread only.
final class CacheQuestion {
    let use: CacheUse
    /// Nil where the target can be none of a key.
    let key: CacheKey?
    let request: RequestHead
    /// True for a GET or HEAD without content that no other protocol is asked for with.
    private let isForCaches: Bool
    /// The head of the last answer that was given at once.
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

    /// The key where a cache may have a say.
    var cacheableKey: CacheKey? { self.isForCaches ? self.key : nil }

    /// True for a request whose answer could be one for others: for all of it, without conditions of its client's.
    var canBeShared: Bool {
        self.request.method == "GET"
            && ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"]
                .allSatisfy { !self.request.fields.contains($0) }
            && UnkeyedFields.first(in: self.request.fields) == nil
    }

    /// Makes the answer from what is kept.
    ///
    /// - Parameters:
    ///   - age: in seconds.
    ///   - staleness: its age less its lifetime, in seconds.
    /// - Returns: nil where other bytes are held than it needs.
    func answer(from kept: KeptAnswer, age: Int64, staleness: Int64) -> CachedAnswer? {
        guard let answer = self.use.store.rules.answer(to: self.request, from: kept.response, age: age) else {
            return nil
        }
        var status = CacheStatus(cache: self.use.name, way: .hit)
        status.ttl = -staleness
        var head = answer.head
        head.fields.append("Cache-Status", status.fieldValue)
        // Without a body the number still says how long it would be.
        if answer.body == nil, let length = answer.contentLength { head.fields.set("Content-Length", "\(length)") }
        let start = kept.response.range?.lowerBound ?? 0
        let range = answer.body.map { ($0.lowerBound - start)..<($0.upperBound - start) } ?? 0..<0
        return CachedAnswer(
            head: head, length: answer.contentLength, outcome: staleness < 0 ? .hit : .stale, range: range,
            body: kept.body)
    }

    /// The answer from memory, where one is there that the origin has no part in, and that is short enough to be given at once.
    ///
    /// - Parameter forward: makes the head for the client, always in the same way for this question.
    /// - Returns: the answer, and the pieces that hold its body.
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

    /// Counts an answer that was given.
    func countHit() { self.use.store.count { $0.hits += 1 } }

    /// The most bytes that are given at once.
    private static let longestPrompt = 64 * 1024
}

/// An answer that is made from what is kept.
struct CachedAnswer {
    let head: ResponseHead
    /// Of the body that follows, or would follow, in bytes; nil where none can.
    let length: UInt64?
    let outcome: CacheOutcome
    /// The part of the kept bytes that is the body.
    let range: Range<UInt64>
    let body: SharedBody
}

extension RequestHead {
    /// True if both requests have the same Authorization and Cookie lines, or both none.
    func hasCredentials(of other: RequestHead) -> Bool {
        ["Authorization", "Cookie"].allSatisfy { self.fields.values(of: $0) == other.fields.values(of: $0) }
    }
}
