// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleCache
package import PintleCacheStore
internal import PintleMessage
package import PintlePolicy
internal import PintleStorage

/// The cached responses of all routes that use the cache, and the requests in flight for them. All event loops share one store.
package final class AnswerStore: Sendable {
    /// The number of requests and responses so far, by their outcome.
    package struct Counts: Sendable, Equatable {
        /// Requests that were answered from the cache.
        package var hits: UInt64 = 0
        /// Requests that went to an origin.
        package var misses: UInt64 = 0
        /// Requests that were answered with the response to another request.
        package var merged: UInt64 = 0
        /// Responses that were removed by commands, or because a request changed the resource.
        package var purged: UInt64 = 0
    }

    static let rules = CacheRules()
    var rules: CacheRules { Self.rules }
    private let memory: NIOLockedValueBox<AnswerMemory>
    private let underWay = NIOLockedValueBox(AnswersUnderWay())
    /// The keys whose last responses may not be shared.
    private let unshared = NIOLockedValueBox(UnsharedKeys())
    /// The memory of bodies that are not in the cache's memory yet, or not any more.
    private let budget: BodyBudget
    private let counted = NIOLockedValueBox(Counts())
    private let disk = NIOLockedValueBox<AnswerDisk?>(nil)
    /// Reads of responses from disk into memory that are under way, by the ids of their entries.
    private let loads = NIOLockedValueBox<[Int64: Task<KeptAnswer?, Never>]>([:])
    /// The longest body that is kept, in bytes: a single one must not displace all others.
    private let longestBody: Int
    /// Empties the memory when the system runs short of it.
    private let pressure: MemoryPressure.Subscription

    package init(_ configuration: CacheConfiguration) {
        let memory = NIOLockedValueBox(
            AnswerMemory(
                capacity: configuration.memory, preferredUsage: configuration.memoryAfterPurge,
                variantLimit: Self.rules.variantLimit))
        self.memory = memory
        // The subscription ends with the store. Responses on disk stay.
        self.pressure = MemoryPressure.system.whenItRises {
            let released = memory.withLockedValue { $0.removeAll() }
            withExtendedLifetime(released) {}
        }
        self.longestBody = configuration.memory / 8
        self.budget = BodyBudget(most: configuration.memory)
    }

    package var counts: Counts { self.counted.withLockedValue { $0 } }

    /// The number of responses in memory, and the bytes that they take.
    package var usage: (answers: Int, bytes: Int) { self.memory.withLockedValue { ($0.count, $0.usage) } }

    func count(_ change: (inout Counts) -> Void) { self.counted.withLockedValue { change(&$0) } }

    // MARK: Cached responses

    func find(_ key: CacheKey) -> [KeptAnswer] { self.memory.withLockedValue { $0.answers(for: key) } }

    /// True if responses may be on disk that are not in memory.
    var hasDisk: Bool { self.disk.withLockedValue { $0 != nil } }

    /// Finds a response on disk for a request. It is read into memory and kept there, unless it is too long.
    ///
    /// - Parameter found: called on any thread; the response may be used as it is, or needs validation.
    func findOnDisk(
        _ key: CacheKey, for request: RequestHead, mode: CacheMode,
        then found: @escaping @Sendable (KeptAnswer?) -> Void
    ) {
        guard let disk = self.disk.withLockedValue({ $0 }) else { return found(nil) }
        // A response that was read before its removal is neither served nor kept after it.
        let watch = self.watch(key)
        Task {
            defer { self.end(watch) }
            let stored = await disk.find(key) { stored in
                switch self.rules.decision(for: request, among: stored, mode: mode, now: .now()) {
                case .answer(let index, _, _, _), .validate(let index, _, _): index
                case .forward, .miss: nil
                }
            }
            guard let stored else { return found(nil) }
            watch.note(tags: stored.response.tags)
            guard let answer = await self.load(stored, under: watch), !watch.isRevoked else { return found(nil) }
            found(answer)
        }
    }

    /// Reads a response into memory and keeps it there. Concurrent callers share one read. If there is no room for the
    /// response, it stays on disk.
    ///
    /// - Parameter watch: has noticed removals since before the response was found.
    private func load(_ stored: StoredAnswerOnDisk, under watch: RemovalWatch) async -> KeptAnswer? {
        let id = stored.reader.entry.id
        let load = self.loads.withLockedValue { loads -> Task<KeptAnswer?, Never>? in
            if let load = loads[id] { return load }
            guard let share = self.reserve(stored.reader.entry.length) else { return nil }
            let load = Task {
                let answer = await stored.inMemory()
                if let answer { self.keep(loaded: answer, under: watch) }
                self.loads.withLockedValue { $0[id] = nil }
                // The memory is counted as part of the cache by now, if the response is kept.
                withExtendedLifetime(share) {}
                return answer
            }
            loads[id] = load
            return load
        }
        guard let load else { return stored.onDisk }
        return await load.value
    }

    private func keep(loaded answer: KeptAnswer, under watch: RemovalWatch) {
        let released = self.memory.withLockedValue { memory -> [KeptAnswer] in
            guard !watch.isRevoked, !memory.answers(for: watch.key).contains(where: answer.isLike) else { return [] }
            defer { self.purge(&memory) }
            return memory.keep(answer, at: watch.key) { _ in false }
        }
        withExtendedLifetime(released) {}
    }

    /// Opens the folder for responses on disk, if the configuration has one.
    ///
    /// - Parameter report: called with errors, on any thread.
    /// - Throws: an error if the folder cannot be used; responses are then kept in memory alone.
    package func openDisk(
        _ folder: String, capacity: Int, report: @escaping @Sendable (DiskCache.Event) -> Void
    ) async throws(DiskCacheError) {
        guard !self.hasDisk else { return }
        let cache = try await DiskCache.open(folder, capacity: UInt64(capacity), report: report)
        self.disk.withLockedValue { $0 = AnswerDisk(cache) }
    }

    /// Writes pending responses, and closes the folder.
    package func closeDisk() async {
        let disk = self.disk.withLockedValue { disk in
            defer { disk = nil }
            return disk
        }
        await disk?.close()
    }

    /// The usage of the disk; nil if there is no disk cache.
    package var diskUsage: DiskCache.Statistics? { self.disk.withLockedValue { $0?.cache.statistics } }

    /// Keeps a response in place of those that its request would have got.
    ///
    /// - Parameter source: the origin of the response; nothing is kept if the source is outdated by now.
    func keep(_ answer: KeptAnswer, for request: RequestHead, from source: any AnswerUnderWay) {
        self.change(source, for: request) { _ in source.isRevoked ? nil : (answer, []) }
    }

    /// Marks the responses to earlier requests for the same key as outdated, so that none of them is kept.
    func outdateEarlier(than source: any AnswerUnderWay) {
        for earlier in self.underWay.withLockedValue({ $0.earlier(than: source) }) { earlier.outdate() }
    }

    /// Removes the responses that a request would have got, because the origin has now given one that is not kept. Does nothing
    /// if that one is outdated itself.
    ///
    /// - Parameter found: a stored response that the request was to validate; it may be on disk alone.
    func outdate(by source: any AnswerUnderWay, to request: RequestHead, found: KeptAnswer? = nil) {
        guard !source.isRevoked else { return }
        let key = source.key
        self.outdateEarlier(than: source)
        let removed = self.memory.withLockedValue { memory in
            memory.remove(at: key) { self.rules.matches($0.response, request) }
        }
        withExtendedLifetime(removed) {}
        // A key whose responses are never kept has nothing on disk; so the disk is asked only once.
        guard found != nil || !removed.isEmpty || !self.isUnshared(key) else { return }
        let lesson = AnswerDisk.Lesson(cost: 2 * request.fields.byteCount + 512) { stored in
            stored.indices.filter { Self.rules.matches(stored[$0], request) }.map { ($0, .outdated) }
        }
        self.learnOnDisk(lesson, at: key)
    }

    /// Keeps a response whose body is on disk, in place of those that its request would have got.
    ///
    /// - Parameters:
    ///   - source: as for ``keep(_:for:from:)``.
    ///   - done: called once, on any thread, when the entry can be found, or never will be.
    func keep(
        _ answer: KeptAnswer, for request: RequestHead, from source: any AnswerUnderWay,
        writtenBy writer: DiskCache.Writer, done: @escaping @Sendable () -> Void
    ) {
        guard let disk = self.disk.withLockedValue({ $0 }) else { return done() }
        let key = source.key
        let (isKept, released) = self.memory.withLockedValue { memory in
            if source.isRevoked { return (false, [KeptAnswer]()) }
            self.unshared.withLockedValue { $0.forget(key) }
            return (true, memory.remove(at: key) { answer.replaces($0, for: request) })
        }
        withExtendedLifetime(released) {}
        guard isKept else { return done() }
        self.outdateEarlier(than: source)
        disk.keep(answer, at: key, for: request, writtenBy: writer, done: done)
    }

    /// Keeps a part, combined with the parts that it adjoins (RFC 9111 §3.4); only in memory until it is complete.
    ///
    /// The number of parts of a URL is limited, as is their total length, by that of the longest body: the oldest ones go.
    ///
    /// - Parameter source: as for ``keep(_:for:from:)``.
    func join(
        _ part: PartialResponse, _ pieces: [ByteBuffer], for request: RequestHead, from source: any AnswerUnderWay,
        _ times: ExchangeTimes, mode: CacheMode
    ) {
        self.change(source, for: request) { kept in
            guard var joined = self.rules.joined(part, with: kept.map(\.response), at: times, mode: mode),
                !source.isRevoked
            else { return nil }
            if joined.response.heldLength > UInt64(self.longestBody) {
                guard let alone = self.rules.joined(part, with: [], at: times, mode: mode) else { return nil }
                joined = alone
            }
            let new = KeptAnswer(joined, part.range.lowerBound, pieces, with: joined.places.map { kept[$0] })
            guard UInt64(new.byteCount) == joined.response.heldLength else { return nil }
            var (gone, room, count) = (joined.places, self.longestBody - new.byteCount, 1)
            for place in kept.indices where !kept[place].response.isComplete && !joined.places.contains(place) {
                room -= kept[place].byteCount
                count += 1
                if room < 0 || count > Self.mostParts { gone.append(place) }
            }
            return (new, gone.map { kept[$0] })
        }
    }

    /// The most parts of a URL that are kept, so that there is room for variants.
    private static let mostParts = 8

    /// Replaces responses at once, in memory and in the disk's queue. A removal either has revoked the source before, or comes
    /// after this and finds the new response.
    ///
    /// - Parameter choose: gets the kept responses of the key, the latest first; returns the new one and those to remove, or
    ///   nil.
    private func change(
        _ source: any AnswerUnderWay, for request: RequestHead,
        _ choose: ([KeptAnswer]) -> (new: KeptAnswer, gone: [KeptAnswer])?
    ) {
        let key = source.key
        // Removed responses free their memory outside of the lock.
        let released = self.memory.withLockedValue { memory -> (kept: [KeptAnswer], old: [KeptAnswer]) in
            let kept = memory.answers(for: key)
            guard let (new, gone) = choose(kept) else { return (kept, []) }
            self.outdateEarlier(than: source)
            for old in gone { _ = memory.remove(old, at: key) }
            let old = memory.keep(new, at: key) { new.replaces($0, for: request) }
            self.unshared.withLockedValue { $0.forget(key) }
            if new.response.isComplete { self.disk.withLockedValue { $0 }?.keep(new, at: key, for: request) }
            self.purge(&memory)
            return (kept, old)
        }
        for answer in released.old { answer.body.leaveMemory(for: self.budget) }
    }

    /// Starts the removal of the least recently used responses in a task, if memory is over its capacity and no such task runs
    /// yet.
    private func purge(_ memory: inout AnswerMemory) {
        guard memory.beginPurge() else { return }
        Task {
            while true {
                let purged = self.memory.withLockedValue { $0.purge() }
                if purged.isEmpty { return }
                for answer in purged { answer.body.leaveMemory(for: self.budget) }
            }
        }
    }

    /// Replaces a response by another one, unless it was removed in the meantime.
    func replace(_ old: KeptAnswer, by new: KeptAnswer, at key: CacheKey) {
        self.memory.withLockedValue { memory in
            guard memory.remove(old, at: key) else { return }
            _ = memory.keep(new, at: key, replacing: new.isLike)
        }
        self.disk.withLockedValue { $0 }?.update(new, at: key)
    }

    /// Applies the consequences of a response that bypassed the cache to the responses on disk.
    func learnOnDisk(_ lesson: AnswerDisk.Lesson, at key: CacheKey) {
        self.disk.withLockedValue { $0 }?.learn(lesson, at: key)
    }

    func remove(_ answer: KeptAnswer, at key: CacheKey) {
        self.memory.withLockedValue { _ = $0.remove(answer, at: key) }
        self.disk.withLockedValue { $0 }?.remove(answer, at: key)
    }

    // MARK: Removing

    /// Removes the responses of URLs, because a request has changed the resources (RFC 9111 §4.4).
    func invalidate(_ urls: [String]) {
        for url in urls { self.purge(.url(url), isCounted: false) { _ in } }
    }

    /// Removes responses; those in memory at once. A response on its way to a client still arrives, but is not kept.
    ///
    /// - Parameter done: called on any thread with the number of removed responses, when those on disk are gone, too. A
    ///   response that is in both tiers counts once.
    package func purge(_ selection: Selection, done: @escaping @Sendable (Int) -> Void) {
        self.purge(selection, isCounted: true, done: done)
    }

    private func purge(_ selection: Selection, isCounted: Bool, done: @escaping @Sendable (Int) -> Void) {
        // The disk comes first, so that nothing is read from there into the purged memory.
        let disk = self.disk.withLockedValue { $0 }
        let removal = disk?.begin(selection, isCounted: isCounted)
        let (flights, watches) = self.underWay.withLockedValue { ($0.allFlights, $0.allWatches) }
        for flight in flights where selection.covers(flight.key.url, tags: flight.tags) { flight.revoke() }
        for watch in watches { watch.meet(selection) }
        let count = self.purgeMemory(selection)
        let tell: @Sendable (Int) -> Void = { onDisk in
            let all = max(count, onDisk)
            self.count { $0.purged += UInt64(all) }
            done(all)
        }
        guard let disk, let removal else { return tell(0) }
        disk.carryOut(removal, done: tell)
    }

    /// Works in steps, because event loops wait for the same lock.
    private func purgeMemory(_ selection: Selection) -> Int {
        let keys = self.memory.withLockedValue { memory in
            if case .url(let url) = selection { memory.keys(of: url) } else { memory.keys }
        }
        var count = 0
        for start in stride(from: 0, to: keys.count, by: Self.keysInStep) {
            let removed = self.memory.withLockedValue { memory in
                keys[start..<min(start + Self.keysInStep, keys.count)].flatMap { key in
                    memory.remove(at: key) { selection.covers(key.url, tags: $0.response.tags) }
                }
            }
            count += removed.count
        }
        return count
    }

    private static let keysInStep = 500

    // MARK: Requests in flight

    /// The flight of a key that other requests may join, or a new one.
    func flight(for key: CacheKey, joining: Bool) -> (flight: Flight, isNew: Bool) {
        self.underWay.withLockedValue { $0.flight(for: key, joining: joining) }
    }

    /// Notes that the responses of a key may not be stored.
    func noteUnshared(_ key: CacheKey) { self.unshared.withLockedValue { $0.note(key, at: .now()) } }

    /// True if the response to one request can probably not be shared, so that other requests need not wait for it.
    func isUnshared(_ key: CacheKey) -> Bool { self.unshared.withLockedValue { $0.has(key, at: .now()) } }

    func end(_ flight: Flight) { self.underWay.withLockedValue { $0.end(flight) } }

    /// Starts to watch for removals that affect a response under way to one client alone.
    func watch(_ key: CacheKey) -> RemovalWatch { self.underWay.withLockedValue { $0.watch(key) } }

    func end(_ watch: RemovalWatch) { self.underWay.withLockedValue { $0.end(watch) } }

    /// Creates the body of an incoming response, with reserved memory.
    ///
    /// - Parameters:
    ///   - length: of the body in bytes; nil if unknown.
    ///   - written: called once if the body goes to disk: with the writer when all is written, with nil if it never will be.
    /// - Returns: nil if the body is too long or there is no room; the response is then for one client alone.
    func body(
        of response: StoredResponse, at key: CacheKey, length: UInt64?,
        written: @escaping @Sendable (DiskCache.Writer?) -> Void
    ) -> SharedBody? {
        let disk = self.disk.withLockedValue { $0 }.flatMap { $0.takes(length) ? $0 : nil }
        let store = disk.map { disk in
            { @Sendable (body: SharedBody) in disk.store(body, of: response, at: key, length: length, done: written) }
        }
        if let share = self.reserve(length) { return SharedBody(limit: share.count, in: share, store: store) }
        guard let store, let share = self.budget.share(SharedBody.window, of: self.budget.most) else { return nil }
        return SharedBody(limit: 0, in: share, store: store)
    }

    /// Reserves memory for a body under way.
    ///
    /// - Parameters:
    ///   - length: in bytes; nil if unknown.
    ///   - isPassing: true if the body arrives at the speed of one client. Half of the memory is left for other bodies, however
    ///     slow such clients are.
    /// - Returns: at least one byte; nil if the body is too long, or if there is no room.
    func reserve(_ length: UInt64?, isPassing: Bool = false) -> BodyBudget.Share? {
        guard (length ?? 0) <= UInt64(self.longestBody) else { return nil }
        let wanted = max(length.map(Int.init) ?? self.longestBody, 1)
        return self.budget.share(wanted, of: self.budget.most / (isPassing ? 2 : 1))
    }
}
