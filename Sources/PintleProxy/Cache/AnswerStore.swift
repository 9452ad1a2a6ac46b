// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleCache
package import PintleCacheStore
internal import PintleMessage
package import PintlePolicy
internal import PintleStorage

/// The answers that are kept for the routes which use the cache, and the requests under way for them. One for all loops.
package final class AnswerStore: Sendable {
    /// The fates of requests and answers so far.
    package struct Counts: Sendable, Equatable {
        /// Requests that were answered with what is kept.
        package var hits: UInt64 = 0
        /// Requests that went to an origin.
        package var misses: UInt64 = 0
        /// Requests that were answered with the answer to another one.
        package var merged: UInt64 = 0
        /// Answers that were removed by commands, and because what they answer has changed.
        package var purged: UInt64 = 0
    }

    static let rules = CacheRules()
    var rules: CacheRules { Self.rules }
    private let memory: NIOLockedValueBox<AnswerMemory>
    private let underWay = NIOLockedValueBox(AnswersUnderWay())
    /// The keys whose answers are not for others.
    private let unshared = NIOLockedValueBox(UnsharedKeys())
    /// For bodies that are not in memory, or not any more.
    private let budget: BodyBudget
    private let counted = NIOLockedValueBox(Counts())
    private let disk = NIOLockedValueBox<AnswerDisk?>(nil)
    /// The answers on disk that are being read into memory, by the numbers of their entries.
    private let loads = NIOLockedValueBox<[Int64: Task<KeptAnswer?, Never>]>([:])
    /// The longest body that is kept, in bytes: no single one takes the place of all others.
    private let longestBody: Int
    /// Memory that runs short empties this one.
    private let pressure: MemoryPressure.Subscription

    package init(_ configuration: CacheConfiguration) {
        let memory = NIOLockedValueBox(
            AnswerMemory(
                capacity: configuration.memory, preferredUsage: configuration.memoryAfterPurge,
                variantLimit: Self.rules.variantLimit))
        self.memory = memory
        // The subscription ends with the store. What is on disk stays.
        self.pressure = MemoryPressure.system.whenItRises {
            let released = memory.withLockedValue { $0.removeAll() }
            withExtendedLifetime(released) {}
        }
        self.longestBody = configuration.memory / 8
        self.budget = BodyBudget(most: configuration.memory)
    }

    package var counts: Counts { self.counted.withLockedValue { $0 } }

    /// The number of answers in memory, and the bytes that they take.
    package var usage: (answers: Int, bytes: Int) { self.memory.withLockedValue { ($0.count, $0.usage) } }

    func count(_ change: (inout Counts) -> Void) { self.counted.withLockedValue { change(&$0) } }

    // MARK: What is kept

    func find(_ key: CacheKey) -> [KeptAnswer] { self.memory.withLockedValue { $0.answers(for: key) } }

    /// True where answers may be on disk that are not in memory.
    var hasDisk: Bool { self.disk.withLockedValue { $0 != nil } }

    /// Finds what is on disk for a request. Where it is not too long for memory it is read, and kept there from then on.
    ///
    /// - Parameter found: told on any thread; what is there may answer, or be confirmed.
    func findOnDisk(
        _ key: CacheKey, for request: RequestHead, mode: CacheMode,
        then found: @escaping @Sendable (KeptAnswer?) -> Void
    ) {
        guard let disk = self.disk.withLockedValue({ $0 }) else { return found(nil) }
        // An answer that was read before its removal is neither given nor kept after it.
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

    /// Reads an answer into memory, and keeps it there, once for all who want it at the time. One for which there is no room
    /// stays on the disk.
    ///
    /// - Parameter watch: has noticed removals since before it was found.
    private func load(_ stored: StoredAnswerOnDisk, under watch: RemovalWatch) async -> KeptAnswer? {
        let id = stored.reader.entry.id
        let load = self.loads.withLockedValue { loads -> Task<KeptAnswer?, Never>? in
            if let load = loads[id] { return load }
            guard let share = self.reserve(stored.reader.entry.length) else { return nil }
            let load = Task {
                let answer = await stored.inMemory()
                if let answer { self.keep(loaded: answer, under: watch) }
                self.loads.withLockedValue { $0[id] = nil }
                // Its memory is counted where it is kept by now.
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

    /// Takes the folder of answers on disk, where the configuration has one.
    ///
    /// - Parameter report: told of troubles, on any thread.
    /// - Throws: where it cannot be used; answers are kept in memory alone then.
    package func openDisk(
        _ folder: String, capacity: Int, report: @escaping @Sendable (DiskCache.Event) -> Void
    ) async throws(DiskCacheError) {
        guard !self.hasDisk else { return }
        let cache = try await DiskCache.open(folder, capacity: UInt64(capacity), report: report)
        self.disk.withLockedValue { $0 = AnswerDisk(cache) }
    }

    /// Writes down what waits for it, and lets the folder go.
    package func closeDisk() async {
        let disk = self.disk.withLockedValue { disk in
            defer { disk = nil }
            return disk
        }
        await disk?.close()
    }

    /// How much is on disk; nil where nothing is kept there.
    package var diskUsage: DiskCache.Statistics? { self.disk.withLockedValue { $0?.cache.statistics } }

    /// Keeps an answer, in the place of those that the request for it would have got.
    ///
    /// - Parameter source: has brought it; nothing is kept if it is outdated by now.
    func keep(_ answer: KeptAnswer, for request: RequestHead, from source: any AnswerUnderWay) {
        self.change(source, for: request) { _ in source.isRevoked ? nil : (answer, []) }
    }

    /// Has nothing kept of those that were asked for earlier.
    func outdateEarlier(than source: any AnswerUnderWay) {
        for earlier in self.underWay.withLockedValue({ $0.earlier(than: source) }) { earlier.outdate() }
    }

    /// Removes what a request would have got, because the origin has answered it with what is not kept, unless that is outdated
    /// itself.
    ///
    /// - Parameter found: an answer that the request was to confirm, which may be on the disk alone.
    func outdate(by source: any AnswerUnderWay, to request: RequestHead, found: KeptAnswer? = nil) {
        guard !source.isRevoked else { return }
        let key = source.key
        self.outdateEarlier(than: source)
        let removed = self.memory.withLockedValue { memory in
            memory.remove(at: key) { self.rules.matches($0.response, request) }
        }
        withExtendedLifetime(removed) {}
        // Of a key whose answers are never kept there is nothing on the disk, which is asked once.
        guard found != nil || !removed.isEmpty || !self.isUnshared(key) else { return }
        let lesson = AnswerDisk.Lesson(cost: 2 * request.fields.byteCount + 512) { stored in
            stored.indices.filter { Self.rules.matches(stored[$0], request) }.map { ($0, .outdated) }
        }
        self.learnOnDisk(lesson, at: key)
    }

    /// Keeps an answer whose body is on the disk, in the place of those that the request for it would have got.
    ///
    /// - Parameters:
    ///   - source: as for ``keep(_:for:from:)``.
    ///   - done: told, on any thread, when it is found, or will never be.
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

    /// Keeps a part, joined with those that it meets (RFC 9111 §3.4), in memory alone until it is the whole.
    ///
    /// The parts of a URL are few, and together no longer than the longest body: the oldest ones go.
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

    /// The most parts of a URL that are kept: beside them there is room for variants.
    private static let mostParts = 8

    /// Puts an answer in the place of others at once, in memory and on the disk's queue. A removal that has not revoked it before
    /// comes after it, and finds it.
    ///
    /// - Parameter choose: told what is kept of the key, the latest first; returns what comes and what goes, or nil for no change.
    private func change(
        _ source: any AnswerUnderWay, for request: RequestHead,
        _ choose: ([KeptAnswer]) -> (new: KeptAnswer, gone: [KeptAnswer])?
    ) {
        let key = source.key
        // Answers that go give their memory back outside of the lock.
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

    /// Has those that were not used for longest go, on another thread, where there are more than may be and nobody does so yet.
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

    /// Puts another answer in the place of one, unless that was removed meanwhile.
    func replace(_ old: KeptAnswer, by new: KeptAnswer, at key: CacheKey) {
        self.memory.withLockedValue { memory in
            guard memory.remove(old, at: key) else { return }
            _ = memory.keep(new, at: key, replacing: new.isLike)
        }
        self.disk.withLockedValue { $0 }?.update(new, at: key)
    }

    /// Has what is on the disk learn from an answer that went past the cache.
    func learnOnDisk(_ lesson: AnswerDisk.Lesson, at key: CacheKey) {
        self.disk.withLockedValue { $0 }?.learn(lesson, at: key)
    }

    func remove(_ answer: KeptAnswer, at key: CacheKey) {
        self.memory.withLockedValue { _ = $0.remove(answer, at: key) }
        self.disk.withLockedValue { $0 }?.remove(answer, at: key)
    }

    // MARK: Removing

    /// Removes the answers of URLs, since a request has changed what is there (RFC 9111 §4.4).
    func invalidate(_ urls: [String]) {
        for url in urls { self.purge(.url(url), isCounted: false) { _ in } }
    }

    /// Removes answers, in memory at once. What is on its way to a client arrives, and is not kept.
    ///
    /// - Parameter done: told, on any thread, how many there were when those on disk are gone, too: an answer that is in both
    ///   counts once.
    package func purge(_ selection: Selection, done: @escaping @Sendable (Int) -> Void) {
        self.purge(selection, isCounted: true, done: done)
    }

    private func purge(_ selection: Selection, isCounted: Bool, done: @escaping @Sendable (Int) -> Void) {
        // The disk first, so that nothing is read from there into a memory that was purged.
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

    /// In steps: loops wait for the same lock.
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

    // MARK: What is under way

    /// The flight of a key that others may board, or a new one.
    func flight(for key: CacheKey, joining: Bool) -> (flight: Flight, isNew: Bool) {
        self.underWay.withLockedValue { $0.flight(for: key, joining: joining) }
    }

    /// Notes that the origin does not want the answers of a key to be stored.
    func noteUnshared(_ key: CacheKey) { self.unshared.withLockedValue { $0.note(key, at: .now()) } }

    /// True where the answer to one request will hardly be one for others, so that these need not wait for it.
    func isUnshared(_ key: CacheKey) -> Bool { self.unshared.withLockedValue { $0.has(key, at: .now()) } }

    func end(_ flight: Flight) { self.underWay.withLockedValue { $0.end(flight) } }

    /// Notices the removals that an answer under way to one client alone must not outlive.
    func watch(_ key: CacheKey) -> RemovalWatch { self.underWay.withLockedValue { $0.watch(key) } }

    func end(_ watch: RemovalWatch) { self.underWay.withLockedValue { $0.end(watch) } }

    /// The body of an answer that comes, and the memory that is set apart for it.
    ///
    /// - Parameters:
    ///   - length: of the body in bytes; nil where nobody knows.
    ///   - written: told once, where the body goes to the disk, when all of it is there; nil where that will never be.
    /// - Returns: nil where the body is too long, or there is no room: it is for one client alone.
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

    /// Sets memory apart for a body under way.
    ///
    /// - Parameters:
    ///   - length: in bytes; nil where nobody knows.
    ///   - isPassing: whether the body comes at the speed of one client. However slow such clients are, half of the memory is
    ///     left for other bodies.
    /// - Returns: at least one byte; nil where the body is too long, or there is no room.
    func reserve(_ length: UInt64?, isPassing: Bool = false) -> BodyBudget.Share? {
        guard (length ?? 0) <= UInt64(self.longestBody) else { return nil }
        let wanted = max(length.map(Int.init) ?? self.longestBody, 1)
        return self.budget.share(wanted, of: self.budget.most / (isPassing ? 2 : 1))
    }
}
