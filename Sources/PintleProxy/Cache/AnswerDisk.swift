// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleCache
internal import PintleCacheStore

/// The answers on disk, behind those in memory: what is kept is written there, one answer after the other, and what memory has
/// lost is read from there. No loop waits for it.
final class AnswerDisk: Sendable {
    private enum Work: Sendable {
        case keep(KeptAnswer, CacheKey)
        case update(KeptAnswer, CacheKey)
        case remove(KeptAnswer, CacheKey)
        case purge(AnswerStore.Selection, @Sendable (Int) -> Void)
    }

    private struct State {
        /// The memory that work takes which is not done, in bytes.
        var waiting = 0
        /// Removals that are not done: until then nothing is read.
        var purges = 0
        /// True while everything is to be removed, since more is to be removed than can be remembered.
        var isClearing = false

        /// Sets memory apart for a piece of work.
        ///
        /// - Returns: false where there is no room.
        mutating func reserve(_ cost: Int, of most: Int) -> Bool {
            guard !self.isClearing, self.waiting + cost <= most else { return false }
            self.waiting += cost
            return true
        }
    }

    let cache: DiskCache
    private let state = NIOLockedValueBox(State())
    private let queue: AsyncStream<Work>.Continuation
    private let worker: Task<Void, Never>
    /// The memory that answers may take until they are written, in bytes: more than a disk takes in a moment is not kept there.
    private static let mostWaiting = 32 << 20
    /// The memory that answers and removals together may take until they are carried out, in bytes.
    private static let mostWaitingWithRemovals = 48 << 20

    init(_ cache: DiskCache) {
        self.cache = cache
        let (works, queue) = AsyncStream.makeStream(of: Work.self)
        self.queue = queue
        let state = self.state
        self.worker = Task {
            for await work in works { await Self.perform(work, cache, state) }
        }
    }

    /// Does what waits, and closes the cache.
    func close() async {
        self.queue.finish()
        await self.worker.value
        await self.cache.close()
    }

    // MARK: Writing

    /// The memory that work takes which is not done, in bytes.
    var waitingBytes: Int { self.state.withLockedValue { $0.waiting } }

    func keep(_ answer: KeptAnswer, at key: CacheKey) { self.enqueue(.keep(answer, key), answer, key) }

    /// Gives what is kept another head.
    func update(_ answer: KeptAnswer, at key: CacheKey) { self.enqueue(.update(answer, key), answer, key) }

    private func enqueue(_ work: Work, _ answer: KeptAnswer, _ key: CacheKey) {
        let cost = Self.cost(of: answer, key)
        if self.state.withLockedValue({ $0.reserve(cost, of: Self.mostWaiting) }) { self.queue.yield(work) }
    }

    func remove(_ answer: KeptAnswer, at key: CacheKey) {
        let cost = Self.cost(of: answer, key)
        let (isQueued, clears) = self.state.withLockedValue { state in
            let isQueued = state.reserve(cost, of: Self.mostWaitingWithRemovals)
            let clears = !isQueued && !state.isClearing
            // Nothing is kept until all is gone, so that what is removed meanwhile is gone with it.
            if clears { state.isClearing = true }
            return (isQueued, clears)
        }
        if isQueued { self.queue.yield(.remove(answer, key)) }
        if clears { self.purge(.all) { _ in self.state.withLockedValue { $0.isClearing = false } } }
    }

    /// The memory that a piece of work about an answer takes, in bytes, on the high side.
    private static func cost(of answer: KeptAnswer, _ key: CacheKey) -> Int { answer.cost + key.url.utf8.count + 128 }

    /// - Parameter done: told how many there were, on any thread.
    func purge(_ selection: AnswerStore.Selection, done: @escaping @Sendable (Int) -> Void) {
        self.state.withLockedValue { $0.purges += 1 }
        if case .enqueued = self.queue.yield(.purge(selection, done)) { return }
        done(0)
    }

    private static func perform(_ work: Work, _ cache: DiskCache, _ state: NIOLockedValueBox<State>) async {
        switch work {
        case .keep(let answer, let key):
            // An answer that cannot be written was given all the same; the cache tells of its troubles once.
            try? await self.write(answer, key, cache)
            state.withLockedValue { $0.waiting -= self.cost(of: answer, key) }
        case .update(let answer, let key):
            for entry in await self.entries(like: answer, key, cache) {
                _ = try? await cache.updateHead(of: entry, to: answer.response.encoded())
            }
            state.withLockedValue { $0.waiting -= self.cost(of: answer, key) }
        case .remove(let answer, let key):
            for entry in await self.entries(like: answer, key, cache) { _ = try? await cache.remove(entry) }
            state.withLockedValue { $0.waiting -= self.cost(of: answer, key) }
        case .purge(let selection, let done):
            let count =
                switch selection {
                case .url(let url): try? await cache.remove(url: url)
                case .prefix(let prefix): try? await cache.remove(prefix: prefix)
                case .tag(let tag): try? await cache.remove(tag: tag)
                case .all: try? await cache.removeAll()
                }
            state.withLockedValue { $0.purges -= 1 }
            done(count ?? 0)
        }
    }

    private static func write(_ answer: KeptAnswer, _ key: CacheKey, _ cache: DiskCache) async throws(DiskCacheError) {
        let replaced = await self.entries(like: answer, key, cache)
        let writer = try await cache.write(
            Self.name(of: key), url: key.url, head: answer.response.encoded(), tags: answer.response.tags,
            length: UInt64(answer.byteCount))
        for piece in answer.body.whole ?? [] { try await writer.append(piece) }
        try await writer.commit(replacing: replaced)
    }

    /// The entries for the same requests.
    private static func entries(
        like answer: KeptAnswer, _ key: CacheKey, _ cache: DiskCache
    ) async -> [DiskCache.Entry] {
        let entries = (try? await cache.entries(for: Self.name(of: key))) ?? []
        return entries.filter { entry in
            guard let other = StoredResponse(decoding: entry.head) else { return true }
            return other.selecting == answer.response.selecting && other.range == answer.response.range
        }
    }

    private static func name(of key: CacheKey) -> String { DiskCache.key(partition: key.partition, url: key.url) }

    // MARK: Reading

    /// Reads the answer that `choose` takes among what is kept of a key.
    ///
    /// - Returns: nil where it takes none, or it cannot be read.
    func find(_ key: CacheKey, choosing choose: @Sendable ([StoredResponse]) -> Int?) async -> KeptAnswer? {
        guard self.state.withLockedValue({ $0.purges }) == 0,
            let entries = try? await self.cache.entries(for: Self.name(of: key)), !entries.isEmpty
        else { return nil }
        let known = entries.compactMap { entry in StoredResponse(decoding: entry.head).map { (entry, $0) } }
        guard let index = choose(known.map(\.1)) else { return nil }
        let (entry, response) = known[index]
        guard let reader = try? await self.cache.reader(of: entry) else { return nil }
        var pieces: [ByteBuffer] = []
        var count: UInt64 = 0
        while count < entry.length {
            guard let piece = try? await reader.read(offset: count), piece.readableBytes > 0 else { return nil }
            count += UInt64(piece.readableBytes)
            pieces.append(piece)
        }
        guard self.state.withLockedValue({ $0.purges }) == 0 else { return nil }
        return KeptAnswer(response, pieces)
    }
}
