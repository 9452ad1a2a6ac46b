// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleCache
internal import PintleCacheStore
internal import PintleMessage

/// The responses on disk, the second tier after those in memory: each cached response is written there, one at a time, and
/// responses that memory has dropped are read from there. No event loop waits for it.
final class AnswerDisk: Sendable {
    private enum Work: Sendable {
        /// The request is the one that the response answers.
        case keep(KeptAnswer, CacheKey, RequestHead)
        /// Commits a response whose body is written already.
        case commit(DiskCache.Writer, KeptAnswer, CacheKey, RequestHead)
        case update(KeptAnswer, CacheKey)
        case remove(KeptAnswer, CacheKey)
        case learn(CacheKey, Lesson)
        case purge(AnswerStore.Selection, @Sendable (Int) -> Void)
        case clear(@Sendable (Int) -> Void)
    }

    private struct Job: Sendable {
        let work: Work
        /// The key whose entries it changes; nil for removals that are noted otherwise.
        let key: CacheKey?
        /// The memory in bytes that the job takes until it is done.
        let cost: Int
        /// The sequence number of the job among the responses and heads given to the disk; the highest possible number for
        /// removals, which are always carried out.
        let written: UInt64
        /// Called once the job has ended, carried out or not.
        var done: @Sendable () -> Void = {}

        static func removing(_ selection: AnswerStore.Selection, _ done: @escaping @Sendable (Int) -> Void) -> Self {
            Self(work: .purge(selection, done), key: nil, cost: selection.cost, written: .max)
        }

        static func clearing(_ done: @escaping @Sendable (Int) -> Void) -> Self {
            Self(work: .clear(done), key: nil, cost: 0, written: .max)
        }
    }

    /// Updates to stored entries implied by a response that bypassed the cache.
    struct Lesson: Sendable {
        /// The memory that it takes, in bytes.
        let cost: Int
        let updates: @Sendable ([StoredResponse]) -> [(place: Int, update: CacheUpdate)]
    }

    private struct State {
        /// The memory that unfinished jobs take, in bytes.
        var waiting = 0
        /// The number of responses and heads given to the disk so far.
        var written: UInt64 = 0
        /// Responses and heads up to this number are removed already, or will be: none of them needs to be written.
        var cleared: UInt64 = 0
        var removals = PendingRemovals()
        /// The number of unfinished jobs that change the entries of each key: until then those on disk may be out of date.
        var changes: [CacheKey: Int] = [:]
        /// True while everything is being removed, because there were more removals than can be remembered.
        var isClearing = false

        /// Reserves memory for a job, and notes the key that it changes.
        ///
        /// - Returns: false if there is not enough memory.
        mutating func reserve(_ cost: Int, of most: Int, changing key: CacheKey? = nil) -> Bool {
            guard !self.isClearing, self.waiting + cost <= most else { return false }
            self.waiting += cost
            if let key { self.changes[key, default: 0] += 1 }
            return true
        }

        mutating func end(_ job: Job) {
            self.waiting -= job.cost
            guard let key = job.key else { return }
            guard let count = self.changes[key] else { preconditionFailure("BUG: a change ends that has not begun") }
            self.changes[key] = count == 1 ? nil : count - 1
        }

        mutating func add(_ selection: AnswerStore.Selection) {
            self.removals.add(selection, written: self.written)
            if selection == .all { self.cleared = self.written }
        }

        /// Starts the removal of everything. Nothing is stored until all is gone; so responses removed in the meantime are
        /// gone, too.
        mutating func clear() {
            self.isClearing = true
            self.add(.all)
        }
    }

    /// A removal that was noted, and is still to be carried out.
    struct Removal: Sendable {
        fileprivate enum Way {
            case own
            /// By a removal that waits already.
            case covered
            /// Together with everything else.
            case clearing
        }

        fileprivate let selection: AnswerStore.Selection
        fileprivate let way: Way
    }

    let cache: DiskCache
    private let state = NIOLockedValueBox(State())
    private let queue: AsyncStream<Job>.Continuation
    private let worker: Task<Void, Never>
    /// The most memory in bytes that responses may take until they are written; a response beyond it is not stored on disk.
    private static let mostWaiting = 32 << 20
    /// The most memory in bytes that responses and removals together may take until they are carried out.
    private let mostWithRemovals: Int

    init(_ cache: DiskCache, mostWithRemovals: Int = 48 << 20) {
        (self.cache, self.mostWithRemovals) = (cache, mostWithRemovals)
        let (jobs, queue) = AsyncStream.makeStream(of: Job.self)
        self.queue = queue
        let state = self.state
        self.worker = Task {
            for await job in jobs {
                if state.withLockedValue({ job.written > $0.cleared }) {
                    await Self.perform(job.work, cache, state)
                } else {
                    Self.drop(job.work)
                }
                state.withLockedValue { $0.end(job) }
                // Only now does the disk answer for the key: `done` ends the fetch that has answered for it so far.
                job.done()
            }
        }
    }

    /// Completes the jobs in the queue, and closes the cache.
    func close() async {
        self.queue.finish()
        await self.worker.value
        await self.cache.close()
    }

    // MARK: Writing

    /// The memory that unfinished jobs take, in bytes.
    var waitingBytes: Int { self.state.withLockedValue { $0.waiting } }

    func keep(_ answer: KeptAnswer, at key: CacheKey, for request: RequestHead) {
        self.enqueue(.keep(answer, key, request), answer, key, request)
    }

    /// Stores a response whose body is written already.
    ///
    /// - Parameter done: called once, on any thread, when the entry can be found, or never will be.
    func keep(
        _ answer: KeptAnswer, at key: CacheKey, for request: RequestHead, writtenBy writer: DiskCache.Writer,
        done: @escaping @Sendable () -> Void
    ) {
        let cost = Self.cost(of: answer, key, request)
        if !self.enqueue(.commit(writer, answer, key, request), key, cost: cost, done: done) { done() }
    }

    /// Replaces the head of a stored response.
    func update(_ answer: KeptAnswer, at key: CacheKey) { self.enqueue(.update(answer, key), answer, key) }

    /// Updates the stored responses of a key, or removes them.
    func learn(_ lesson: Lesson, at key: CacheKey) { self.enqueue(.learn(key, lesson), key, cost: lesson.cost) }

    @discardableResult
    private func enqueue(
        _ work: Work, _ answer: KeptAnswer, _ key: CacheKey, _ request: RequestHead? = nil
    ) -> Bool {
        self.enqueue(work, key, cost: Self.cost(of: answer, key, request))
    }

    /// - Returns: false if there is not enough memory, and the job is dropped.
    @discardableResult
    private func enqueue(
        _ work: Work, _ key: CacheKey, cost: Int, done: @escaping @Sendable () -> Void = {}
    ) -> Bool {
        let written = self.state.withLockedValue { state in
            state.written += 1
            return state.reserve(cost, of: Self.mostWaiting, changing: key) ? state.written : nil
        }
        guard let written else { return false }
        let job = Job(work: work, key: key, cost: cost, written: written, done: done)
        guard case .enqueued = self.queue.yield(job) else { return false }
        return true
    }

    func remove(_ answer: KeptAnswer, at key: CacheKey) {
        let cost = Self.cost(of: answer, key)
        let (written, clears) = self.state.withLockedValue { state in
            let isQueued = state.reserve(cost, of: self.mostWithRemovals, changing: key)
            let clears = !isQueued && !state.isClearing
            if clears { state.clear() }
            return (isQueued ? state.written : nil, clears)
        }
        if let written { self.queue.yield(Job(work: .remove(answer, key), key: key, cost: cost, written: written)) }
        if clears { self.queue.yield(.clearing { _ in }) }
    }

    /// The memory that a job for a response takes, in bytes; a generous estimate.
    private static func cost(of answer: KeptAnswer, _ key: CacheKey, _ request: RequestHead? = nil) -> Int {
        answer.cost + key.url.utf8.count + 128 + (request.map { 2 * $0.fields.byteCount + 128 } ?? 0)
    }

    /// Notes a removal: from now on no response that it covers is read.
    ///
    /// - Parameter isCounted: false if the number of removed responses does not matter.
    func begin(_ selection: AnswerStore.Selection, isCounted: Bool) -> Removal {
        let way = self.state.withLockedValue { state -> Removal.Way in
            if state.isClearing || !isCounted && state.removals.has(selection, written: state.written) {
                return .covered
            }
            guard state.reserve(selection.cost, of: self.mostWithRemovals) else {
                state.clear()
                return .clearing
            }
            state.add(selection)
            return .own
        }
        return Removal(selection: selection, way: way)
    }

    /// Carries out a removal, once.
    ///
    /// - Parameter done: called on any thread with the number of removed responses.
    func carryOut(_ removal: Removal, done: @escaping @Sendable (Int) -> Void) {
        switch removal.way {
        case .own: if case .enqueued = self.queue.yield(.removing(removal.selection, done)) { return }
        case .clearing: if case .enqueued = self.queue.yield(.clearing(done)) { return }
        case .covered: break
        }
        done(0)
    }

    private static func perform(_ work: Work, _ cache: DiskCache, _ state: NIOLockedValueBox<State>) async {
        switch work {
        case .keep(let answer, let key, let request):
            // The client has its response even if it cannot be written; the cache reports its errors once.
            try? await self.write(answer, key, for: request, cache)
        case .commit(let writer, let answer, let key, let request):
            let replaced = await self.entries(replacedBy: answer, key, for: request, cache)
            _ = try? await writer.commit(head: answer.response.encoded(), replacing: replaced)
        case .update(let answer, let key):
            for entry in await self.entries(like: answer, key, cache) {
                _ = try? await cache.updateHead(of: entry, to: answer.response.encoded())
            }
        case .remove(let answer, let key):
            for entry in await self.entries(like: answer, key, cache) { _ = try? await cache.remove(entry) }
        case .learn(let key, let lesson):
            let stored = await self.stored(key, cache)
            for (place, update) in lesson.updates(stored.map(\.response)) {
                switch update {
                case .store(let response):
                    _ = try? await cache.updateHead(of: stored[place].entry, to: response.encoded())
                case .answerOnce(_, _, keepsStored: true), .unrelated: break
                case .answerOnce, .outdated: _ = try? await cache.remove(stored[place].entry)
                }
            }
        case .purge(let selection, let done):
            let count =
                switch selection {
                case .url(let url): try? await cache.remove(url: url)
                case .prefix(let prefix): try? await cache.remove(prefix: prefix)
                case .tag(let tag): try? await cache.remove(tag: tag)
                case .all: try? await cache.removeAll()
                }
            state.withLockedValue { $0.removals.end(selection) }
            done(count ?? 0)
        case .clear(let done):
            let count = try? await cache.removeAll()
            state.withLockedValue { state in
                state.removals.end(.all)
                state.isClearing = false
            }
            done(count ?? 0)
        }
    }

    /// Skips a job whose result would be removed at once.
    private static func drop(_ work: Work) {
        if case .commit(let writer, _, _, _) = work { writer.abandon() }
    }

    private static func write(
        _ answer: KeptAnswer, _ key: CacheKey, for request: RequestHead, _ cache: DiskCache
    ) async throws(DiskCacheError) {
        let replaced = await self.entries(replacedBy: answer, key, for: request, cache)
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
        await self.entries(key, cache) { other in
            other.selecting == answer.response.selecting && other.range == answer.response.range
        }
    }

    /// The entries that a response replaces.
    private static func entries(
        replacedBy answer: KeptAnswer, _ key: CacheKey, for request: RequestHead, _ cache: DiskCache
    ) async -> [DiskCache.Entry] {
        await self.entries(key, cache) { answer.response.replaces($0, for: request) }
    }

    /// The entries that match, and those that cannot be decoded.
    private static func entries(
        _ key: CacheKey, _ cache: DiskCache, where isMeant: (StoredResponse) -> Bool
    ) async -> [DiskCache.Entry] {
        let entries = (try? await cache.entries(for: Self.name(of: key))) ?? []
        return entries.filter { StoredResponse(decoding: $0.head).map(isMeant) ?? true }
    }

    private static func name(of key: CacheKey) -> String { DiskCache.key(partition: key.partition, url: key.url) }

    /// Writes a body while it arrives.
    ///
    /// - Parameters:
    ///   - response: the head of the body's response.
    ///   - length: in bytes; nil if unknown.
    ///   - done: called once, on any thread: with the writer when the whole body is written, with nil if that will never
    ///     happen.
    func store(
        _ body: SharedBody, of response: StoredResponse, at key: CacheKey, length: UInt64?,
        done: @escaping @Sendable (DiskCache.Writer?) -> Void
    ) {
        let reader = body.openForStoring()
        Task {
            // Clients get the body even if the disk does not take it; the cache reports its errors once.
            let writer = try? await self.write(body, from: reader, of: response, at: key, length: length)
            body.storingEnded(reader)
            done(writer)
        }
    }

    /// - Returns: the writer of the body; nil if the body broke off.
    private func write(
        _ body: SharedBody, from reader: SharedBody.Reader, of response: StoredResponse, at key: CacheKey,
        length: UInt64?
    ) async throws(DiskCacheError) -> DiskCache.Writer? {
        let writer = try await self.cache.write(
            Self.name(of: key), url: key.url, head: response.encoded(), tags: response.tags, length: length)
        while true {
            let (signal, wake) = AsyncStream.makeStream(of: Void.self)
            switch body.next(reader, wake: { wake.finish() }) {
            case .piece(let piece): body.stored(try await writer.append(piece), in: writer)
            case .wait: for await _ in signal {}
            case .end(nil):
                try await writer.finish()
                body.stored(body.count, in: writer)
                return writer
            case .end: return nil
            }
        }
    }

    /// True if the disk may take a body.
    ///
    /// - Parameter length: in bytes; nil if unknown.
    func takes(_ length: UInt64?) -> Bool { (length ?? 0) < self.cache.largestEntry }

    // MARK: Reading

    /// Finds the response that `choose` selects among the stored ones of a key. Its body stays on disk.
    ///
    /// - Returns: nil if `choose` selects none, if the response cannot be read, or if a removal or a change of the key waits.
    func find(_ key: CacheKey, choosing choose: @Sendable ([StoredResponse]) -> Int?) async -> StoredAnswerOnDisk? {
        guard !self.isOutdated(key, tags: []) else { return nil }
        let stored = await Self.stored(key, self.cache)
        guard !stored.isEmpty, let index = choose(stored.map(\.response)),
            let reader = try? await self.cache.reader(of: stored[index].entry),
            !self.isOutdated(key, tags: stored[index].response.tags)
        else { return nil }
        return StoredAnswerOnDisk(response: stored[index].response, reader: reader)
    }

    /// Finds the readable entries of a key, the newest first.
    private static func stored(
        _ key: CacheKey, _ cache: DiskCache
    ) async -> [(entry: DiskCache.Entry, response: StoredResponse)] {
        let entries = (try? await cache.entries(for: Self.name(of: key))) ?? []
        return entries.compactMap { entry in
            StoredResponse(decoding: entry.head).flatMap { $0.heldLength == entry.length ? (entry, $0) : nil }
        }
    }

    /// True if a pending removal covers the response, or the key has pending changes.
    private func isOutdated(_ key: CacheKey, tags: [String]) -> Bool {
        self.state.withLockedValue { $0.changes[key] != nil || $0.removals.cover(key.url, tags: tags) }
    }
}
