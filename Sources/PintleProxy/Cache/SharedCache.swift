// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleCache
package import PintleCacheStore
internal import PintleLoop
internal import PintleMessage
package import PintlePolicy
internal import PintleStorage
internal import PintleSystem

/// The shared cache (RFC 9111 §1) of all routes that use one. All event loops have the same.
///
/// It gives the events of clients, fetches and removals to the ``CacheSession`` of their key under one lock, and carries out the
/// consequences outside of it. Under this lock only the locks of bodies, of ``BodyBudget``, of ``RemovalHistory`` and of the signal to
/// the second tier's task may be taken; no code is called that could come back.
package final class SharedCache: Sendable {
    typealias Entry = CacheEntry<SharedBody>
    typealias Host = ProxyCacheHost

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

    private struct State {
        var table: CacheTable
        var changes = ChangeQueue()
        var counts = Counts()
        var tier: OpenTier?
        /// The searches that wait until the tier has carried out earlier changes of their key.
        var waitingSearches: [CacheKey: [WaitingSearch]] = [:]

        /// Queues a change of a key for the second tier.
        ///
        /// - Returns: false if it will not be; `done` is not called then.
        mutating func add(
            _ change: CacheChange, of key: CacheKey, cost: Int, done: @escaping @Sendable (Int) -> Void = { _ in }
        ) -> Bool {
            guard let tier else { return false }
            tier.signal.yield()
            let isAdded = self.changes.add(change, of: key, cost: cost, done: done)
            self.table.change(key) { session in
                // Without room for it, the tier loses the responses of the URL instead.
                if isAdded { session.beginChange() } else { session.noteChange() }
            }
            return isAdded
        }

        /// Takes the searches of a key that do not have to wait any more.
        mutating func takeReadySearches(_ key: CacheKey) -> [WaitingSearch] {
            guard let waiting = self.waitingSearches.removeValue(forKey: key) else { return [] }
            let session = self.table[key]
            func isReady(_ search: WaitingSearch) -> Bool { session?.hasToWait(search.number) != true }
            let others = waiting.filter { !isReady($0) }
            if !others.isEmpty { self.waitingSearches[key] = others }
            return waiting.filter(isReady)
        }
    }

    private struct WaitingSearch: Sendable {
        let number: UInt64
        let begin: @Sendable () -> Void
    }

    /// The second tier, and the task that carries out its changes.
    private struct OpenTier {
        let store: any SecondTier
        /// Nil for a store that is in no folder.
        let folder: String?
        /// Tells the task that there are changes; it ends with the signal.
        let signal: AsyncStream<Void>.Continuation
        let worker: Task<Void, Never>
        let loads = DiskLoads()
    }

    private let state: Locked<State>
    private let history: RemovalHistory
    /// The memory of bodies that are not in the cache's memory yet, or not any more.
    private let budget: BodyBudget
    /// The longest body that is stored, in bytes: a single one must not displace all others.
    private let longestBody: Int
    /// Empties the memory when the system runs short of it.
    private let pressure: MemoryPressure.Subscription

    /// - Parameter history: that of the caches of earlier configurations.
    package init(_ configuration: CacheConfiguration, _ history: RemovalHistory = RemovalHistory()) {
        let table = CacheTable(
            capacity: configuration.memory, preferredUsage: configuration.memoryAfterPurge)
        let state = Locked(State(table: table))
        let budget = BodyBudget(most: configuration.memory)
        (self.state, self.budget, self.history) = (state, budget, history)
        // The subscription ends with the cache. Responses on disk stay.
        self.pressure = MemoryPressure.system.whenItRises {
            while let gone = state.withLock({ $0.table.evictAll() }) { Self.release(gone, to: budget) }
        }
        self.longestBody = configuration.memory / 8
        history.add(self)
    }

    package var counts: Counts { self.state.withLock { $0.counts } }

    /// The number of responses in memory, and the bytes that they take.
    package var usage: (answers: Int, bytes: Int) { self.state.withLock { ($0.table.count, $0.table.usage) } }

    func count(_ change: (inout Counts) -> Void) { self.state.withLock { change(&$0.counts) } }

    // MARK: Requests of clients

    /// The entries of a key in memory, the latest first.
    func entries(of key: CacheKey) -> [Entry] { self.state.withLock { $0.table.entries(of: key) } }

    /// Puts a client's request.
    ///
    /// - Parameters:
    ///   - waiter: gets the response of a fetch on its loop.
    ///   - search: the result of the search that an earlier reply wanted.
    func put(
        _ question: CacheQuestion, at key: CacheKey, by waiter: Host.Waiter,
        after search: (number: UInt64, found: Entry?)? = nil
    ) -> CacheReply<Host> {
        let now = CacheTime.now()
        return self.state.withLock { state in
            let searches = state.tier != nil
            let isUncacheable = state.table.isUncacheable(key, at: now)
            return state.table.change(key) { session in
                session.put(
                    question, by: waiter, after: search, searches: searches, isUncacheable: isUncacheable, at: now)
            }
        }
    }

    /// Puts a request that the response to another request could not answer.
    func askAlone(
        _ question: CacheQuestion, at key: CacheKey, by waiter: Host.Waiter, _ reason: ForwardReason
    ) -> CacheReply<Host> {
        self.change(key) { $0.askAlone(question, by: waiter, reason, at: .now()) }
    }

    /// Stops a client's wait for a fetch.
    func leave(_ ticket: FetchTicket, at key: CacheKey) {
        let fetcher = self.change(key) { $0.leave(ticket) }
        fetcher?.run { $0.giveUpIfUnwanted() }
    }

    /// True if the origin has the request that a client waits for, or has answered.
    func isAsked(_ ticket: FetchTicket, at key: CacheKey) -> Bool {
        self.state.withLock { $0.table[key]?.isAsked(ticket) ?? true }
    }

    /// Changes the session of a key.
    func change<Result>(_ key: CacheKey, _ change: (inout CacheTable.Session) -> Result) -> Result {
        self.state.withLock { $0.table.change(key, change) }
    }

    // MARK: The second tier

    /// Opens the folder for responses on disk; does nothing if one is open already. Responses that were removed while the folder was
    /// closed do not answer.
    ///
    /// - Parameter report: called with errors, on any thread.
    /// - Throws: an error if the folder cannot be used; responses are then kept in memory alone.
    package func openDisk(
        _ folder: String, capacity: Int, report: @escaping @Sendable (DiskCache.Event) -> Void
    ) async throws(DiskCacheError) {
        guard self.tier == nil else { return }
        let disk = try await DiskCache.open(folder, capacity: UInt64(capacity), report: report)
        self.open(DiskStore(cache: disk), in: folder)
    }

    /// Begins to use a second tier.
    ///
    /// - Parameter folder: the one in which the store is, if any.
    func open(_ store: some SecondTier, in folder: String? = nil) {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let state = self.state
        let worker = Task {
            for await _ in signals {
                while let next = state.withLock({ $0.changes.next() }) {
                    let job = next.job
                    var count = 0
                    if next.isNeeded {
                        count = await store.carryOut(job.change, at: job.key)
                    } else {
                        job.change.skip()
                    }
                    let (ended, searches) = state.withLock { state -> ([ChangeQueue.Done], [WaitingSearch]) in
                        let ended = state.changes.end(job)
                        // Removals of many keys are noted elsewhere.
                        guard let key = job.key else { return (ended, []) }
                        state.table.change(key) { $0.endChange() }
                        return (ended, state.takeReadySearches(key))
                    }
                    // Only now may the tier answer for the key: this ends the fetch that has answered for it so far.
                    for done in ended { done(count) }
                    for search in searches { search.begin() }
                }
            }
        }
        self.state.withLock { state in
            for selection in folder.map({ self.history.missed(by: $0) }) ?? [] {
                state.changes.carryOut(state.changes.begin(selection, overtakes: false)) { _ in }
            }
            state.tier = OpenTier(store: store, folder: folder, signal: signal, worker: worker)
        }
        signal.yield()
    }

    private var tier: OpenTier? { self.state.withLock { $0.tier } }

    /// Carries out the pending changes, and closes the folder; does nothing if none is open.
    package func closeDisk() async {
        let tier = self.state.withLock { state in
            defer { state.tier = nil }
            if let folder = state.tier?.folder { self.history.noteClosed(folder) }
            return state.tier
        }
        guard let tier else { return }
        tier.signal.yield()
        tier.signal.finish()
        await tier.worker.value
        await tier.store.close()
    }

    /// The usage of the disk; nil if there is no disk cache.
    package var diskUsage: DiskCache.Statistics? { self.tier?.store.statistics }

    /// The memory that changes of the second tier take until they are carried out, in bytes.
    var pendingBytes: Int { self.state.withLock { $0.changes.cost } }

    /// Searches the second tier for a response to a request, once the tier has carried out the changes of the key that began
    /// before. If the tier has fallen far behind, nothing is found. The response is read into memory and kept there, unless it is
    /// too long.
    ///
    /// - Parameters:
    ///   - number: that of the search.
    ///   - done: called on any thread; ``put(_:at:by:after:)`` or ``endSearch(_:at:)`` has to follow.
    func search(
        _ key: CacheKey, _ number: UInt64, for question: CacheQuestion, done: @escaping @Sendable (Entry?) -> Void
    ) {
        guard let tier = self.tier, let mode = question.mode else { return done(nil) }
        let search = WaitingSearch(number: number) {
            Task { done(await self.found(in: tier, key, number, question.request, mode)) }
        }
        let begins: Bool? = self.state.withLock { state in
            guard state.table[key]?.hasToWait(number) == true else { return true }
            // An origin answers sooner.
            guard state.changes.count <= Self.mostJobsBeforeSearch else { return nil }
            state.waitingSearches[key, default: []].append(search)
            return false
        }
        guard let begins else { return done(nil) }
        if begins { search.begin() }
    }

    /// The most changes of all keys that may wait when a search begins to wait for some of them.
    static let mostJobsBeforeSearch = 500

    func endSearch(_ number: UInt64, at key: CacheKey) { self.change(key) { $0.endSingle(number) } }

    private func found(
        in tier: OpenTier, _ key: CacheKey, _ number: UInt64, _ request: RequestHead, _ mode: CacheMode
    ) async -> Entry? {
        let removals: [CacheSelection]? = self.state.withLock { state in
            state.changes.removes(key.url, tags: []) ? nil : state.changes.removalsByCommand
        }
        guard let removals else { return nil }
        let stored = await tier.store.find(key) { stored in
            Host.rules.concerned(by: request, among: stored, mode: mode, now: .now())
        }
        // A removal that has been carried out meanwhile covers the response all the same.
        guard let stored, !removals.contains(where: { $0.covers(key.url, tags: stored.response.tags) })
        else { return nil }
        self.change(key) { $0.note(tags: stored.response.tags, of: number) }
        let load = tier.loads.load(stored) { self.reserve(stored.reader.entry.length) }
        guard let load else { return stored.onDisk }
        guard let loaded = await load.value else { return nil }
        self.evicting { state in
            let hasRoom = loaded.entry.cost <= state.table.room
            return state.table.change(key) { session in
                if let gone = session.store(found: loaded.entry, by: number, hasRoom: hasRoom) { return gone }
                // Another search may have stored it. Otherwise its memory counts as long as it is read.
                return session.entries.contains { $0.id == loaded.entry.id } ? [] : [loaded.entry]
            }
        }
        return loaded.entry
    }

    // MARK: Storing

    /// Stores a response in place of those that its request would have got, unless it is revoked.
    ///
    /// - Parameter number: that of its request.
    func store(_ entry: Entry, for request: RequestHead, at key: CacheKey, by number: UInt64) {
        self.evicting { state in
            let hasRoom = entry.cost <= state.table.room
            let gone = state.table.change(key) { $0.store(entry, for: request, by: number, hasRoom: hasRoom) }
            guard let gone else { return [] }
            Self.stored(entry, for: request, at: key, &state)
            return gone
        }
    }

    private static func stored(_ entry: Entry, for request: RequestHead, at key: CacheKey, _ state: inout State) {
        state.table.forgetUncacheable(key)
        // Parts are kept in memory only.
        guard entry.response.isComplete else { return }
        _ = state.add(.store(entry, request), of: key, cost: Self.cost(of: entry, key, request))
    }

    /// Stores a response whose body is on disk, in place of those that its request would have got, unless it is revoked.
    ///
    /// - Parameter done: called once, on any thread, when the entry can be found, or never will be.
    func store(
        _ entry: Entry, for request: RequestHead, at key: CacheKey, by number: UInt64,
        writtenBy writer: DiskCache.Writer,
        done: @escaping @Sendable () -> Void
    ) {
        var waits = false
        self.evicting { state in
            let gone = state.table.change(key) { $0.store(entry, for: request, by: number, hasRoom: false) }
            guard let gone else { return [] }
            state.table.forgetUncacheable(key)
            let cost = Self.cost(of: entry, key, request)
            waits = state.add(.commit(writer, entry, request), of: key, cost: cost) { _ in done() }
            return gone
        }
        if !waits { done() }
    }

    /// Stores a part, combined with the parts that it adjoins (RFC 9111 §3.4); only in memory until it is complete.
    func store(
        _ part: PartialResponse, _ pieces: [ByteBuffer], for request: RequestHead, at key: CacheKey, by number: UInt64,
        _ times: ExchangeTimes, mode: CacheMode
    ) {
        self.evicting { state in
            let room = state.table.room
            let stored = state.table.change(key) { session in
                session.store(
                    part, for: request, by: number, at: times, mode: mode, longest: UInt64(self.longestBody),
                    hasRoom: { $0.cost <= room }
                ) { joined, others in
                    let entry = Entry(joined.response, BodyPieces(joined, part.range.lowerBound, pieces, with: others))
                    return UInt64(entry.byteCount) == joined.response.heldLength ? entry : nil
                }
            }
            guard let stored else { return [] }
            Self.stored(stored.new, for: request, at: key, &state)
            return stored.gone
        }
    }

    /// Removes the responses that a request would have got, because the origin has now given one that is not stored, unless that
    /// one is revoked.
    ///
    /// - Parameter mayBeStored: true if a response for the request is known to have been stored; it may be in the second tier
    ///   alone.
    func outdate(by number: UInt64, to request: RequestHead, at key: CacheKey, mayBeStored: Bool) {
        self.evicting { state in
            guard let gone = state.table.change(key, { $0.outdate(by: number, to: request) }) else { return [] }
            // A key whose responses are never stored has nothing in the second tier; so it is asked only once.
            guard mayBeStored || !gone.isEmpty || !state.table.isUncacheable(key, at: .now()) else { return gone }
            let updates: @Sendable ([StoredResponse]) -> [(place: Int, update: CacheUpdate)] = { stored in
                stored.indices.filter { Host.rules.matches(stored[$0], request) }.map { ($0, .outdated) }
            }
            _ = state.add(.learn(updates), of: key, cost: 2 * request.fields.byteCount + 512)
            return gone
        }
    }

    /// Notes that the origin wants responses of a key not to be shared.
    func noteUncacheable(_ key: CacheKey) { self.state.withLock { $0.table.noteUncacheable(key, at: .now()) } }

    /// Updates the stored responses with the head of a response that bypassed the cache.
    func update(
        by head: ResponseHead, to request: RequestHead, at key: CacheKey, by number: UInt64, _ times: ExchangeTimes,
        mode: CacheMode
    ) {
        self.evicting { state in
            guard state.table[key]?.isRevoked(number) == false else { return [] }
            let updates: @Sendable ([StoredResponse]) -> [(place: Int, update: CacheUpdate)] = { stored in
                Host.rules.updates(of: stored, by: head, to: request, at: times, mode: mode)
            }
            let cost = 2 * (head.fields.byteCount + request.fields.byteCount) + 512
            _ = state.add(.learn(updates), of: key, cost: cost)
            return state.table.change(key) { session in
                session.update(by: head, to: request, at: times, mode: mode, number: number)
            }
        }
    }

    /// Changes the state, begins an eviction if one is due, and frees the removed entries outside of the lock.
    private func evicting(_ change: (inout State) -> [Entry]) {
        let (gone, begins) = self.state.withLock { (change(&$0), $0.table.beginEviction()) }
        Self.release(gone, to: self.budget)
        // There is room, or an eviction is under way.
        guard begins else { return }
        Task { [state, budget] in
            while let gone = state.withLock({ $0.table.evict() }) { Self.release(gone, to: budget) }
        }
    }

    /// Counts the memory of removed entries as long as they are read.
    private static func release(_ entries: [Entry], to budget: BodyBudget) {
        for entry in entries { entry.body.leaveMemory(for: budget) }
    }

    /// The memory that a change takes, in bytes; a generous estimate.
    private static func cost(of entry: Entry, _ key: CacheKey, _ request: RequestHead? = nil) -> Int {
        entry.cost + key.url.utf8.count + 128 + (request.map { 2 * $0.fields.byteCount + 128 } ?? 0)
    }

    // MARK: Requests for one client alone

    /// Notes the surrogate keys of a response that bypasses the cache.
    func note(tags: [String], at key: CacheKey, of number: UInt64) {
        self.change(key) { $0.note(tags: tags, of: number) }
    }

    /// Ends the observation of a response that bypassed the cache.
    func endObserved(_ number: UInt64, at key: CacheKey) { self.change(key) { $0.endSingle(number) } }

    // MARK: Fetches

    func begin(_ number: UInt64, at key: CacheKey, by fetcher: Host.Fetcher) {
        self.change(key) { $0.begin(number, by: fetcher) }
    }

    /// Closes a reader of a fetched body.
    func close(_ reader: SharedBody.Reader, of response: FetchedResponse<Host>, at key: CacheKey) {
        // The body has other readers, or belongs to no fetch.
        guard response.body.close(reader), let number = response.fetch else { return }
        let fetcher = self.state.withLock { $0.table[key]?.fetcher(of: number) }
        fetcher?.run { $0.giveUpIfUnwanted() }
    }

    /// Notes that the origin gets the request of a fetch.
    func ask(_ number: UInt64, at key: CacheKey) { self.change(key) { $0.ask(number) } }

    /// Judges the head of the origin's response to a fetch, see ``CacheSession``.
    func received(
        _ head: ResponseHead, length: UInt64?, at times: ExchangeTimes, by plan: CacheFetchPlan<Host>, at key: CacheKey,
        isRepeated: Bool
    ) -> FetchStep<Host> {
        let (step, gone) = self.state.withLock { state in
            let step = state.table.change(key) { session in
                session.received(head, length: length, at: times, by: plan.number, isRepeated: isRepeated)
            }
            guard case .ended(_, let update, let gone) = step else { return (step, [Entry]()) }
            if let update, let validated = plan.validated {
                let change: CacheChange
                if case .store(let response) = update {
                    change = .update(validated, to: response)
                } else {
                    change = .remove(validated)
                }
                _ = state.add(change, of: key, cost: Self.cost(of: validated, key))
            }
            return (step, gone)
        }
        Self.release(gone, to: self.budget)
        return step
    }

    /// Begins to give the origin's response to the clients that wait for it.
    func answer(_ number: UInt64, at key: CacheKey, with response: FetchedResponse<Host>) -> FetchDelivery<Host> {
        self.change(key) { $0.answer(number, with: response) }
    }

    /// Ends a fetch that has failed before its response, see ``CacheSession``.
    func fail(
        _ number: UInt64, at key: CacheKey, _ failure: OriginFailure
    ) -> (delivery: FetchDelivery<Host>?, waiters: [(waiter: Host.Waiter, isOwner: Bool)]) {
        self.change(key) { $0.fail(number, failure, at: .now()) }
    }

    /// Ends a fetch before its response if no client waits for it.
    ///
    /// - Returns: false if a client waits.
    func giveUp(_ number: UInt64, at key: CacheKey) -> Bool { self.change(key) { $0.giveUp(number) } }

    /// Ends a fetch whose response has arrived.
    func end(_ number: UInt64, at key: CacheKey) { self.change(key) { $0.end(number) } }

    // MARK: Removing

    /// True if removed responses may be in a second tier: that of this cache, or of another configuration's.
    var removesFromTier: Bool { self.history.caches.contains { $0.tier != nil } }

    /// Removes the responses of URLs, because a request has changed the resources (RFC 9111 §4.4).
    ///
    /// - Parameter done: called once, on any thread, when they are gone from the second tier, too: from then on they do not answer
    ///   even if the process is killed. This waits for no other change than the one that is being carried out.
    func invalidate(_ urls: [String], done: @escaping @Sendable () -> Void = {}) {
        let left = Locked(urls.count)
        for url in urls {
            self.purge(.url(url), overtakes: true) { _ in
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if isLast { done() }
            }
        }
    }

    /// Removes responses; those in memory at once. A response on its way to a client still arrives, but is not kept.
    ///
    /// - Parameter done: called on any thread with the number of removed responses, when those on disk are gone, too. A
    ///   response that is in both tiers counts once.
    package func purge(_ selection: CacheSelection, done: @escaping @Sendable (Int) -> Void) {
        self.purge(selection, overtakes: false, done: done)
    }

    private func purge(_ selection: CacheSelection, overtakes: Bool, done: @escaping ChangeQueue.Done) {
        // A folder goes from one cache to the next, and misses nothing on the way if they are asked in this order.
        let caches = self.history.caches
        let counts = Locked((left: caches.count, most: 0))
        let tell: ChangeQueue.Done = { count in
            let all: Int? = counts.withLock { counts in
                counts.left -= 1
                counts.most = max(counts.most, count)
                return counts.left == 0 ? counts.most : nil
            }
            if let all { done(all) }
        }
        for cache in caches { cache.purgeOwn(selection, overtakes: overtakes, done: tell) }
    }

    /// Removes responses from this cache alone.
    private func purgeOwn(_ selection: CacheSelection, overtakes: Bool, done: @escaping ChangeQueue.Done) {
        // The second tier comes first, so that nothing is read from there into the purged memory.
        let (removal, keys) = self.state.withLock { state in
            self.history.note(selection)
            let removal = state.tier == nil ? nil : state.changes.begin(selection, overtakes: overtakes)
            return (removal, state.table.keys(of: selection))
        }
        let count = self.purgeMemory(selection, keys)
        let tell: ChangeQueue.Done = { [state] onDisk in
            let all = max(count, onDisk)
            state.withLock { $0.counts.purged += UInt64(all) }
            done(all)
        }
        let ended = self.state.withLock { state -> [ChangeQueue.Done] in
            guard let removal else { return [tell] }
            guard let tier = state.tier else {
                // It was closed in the meantime, with the first note but without the removal.
                self.history.note(removal.selection)
                return [tell] + state.changes.giveUp(removal)
            }
            state.changes.carryOut(removal, done: tell)
            tier.signal.yield()
            return []
        }
        for done in ended { done(0) }
    }

    /// Works in steps, because event loops wait for the same lock.
    private func purgeMemory(_ selection: CacheSelection, _ keys: [CacheKey]) -> Int {
        var count = 0
        for start in stride(from: 0, to: keys.count, by: Self.keysInStep) {
            let removed = self.state.withLock { state in
                keys[start..<min(start + Self.keysInStep, keys.count)].flatMap { key in
                    state.table.change(key) { $0.remove(selection, at: key.url) }
                }
            }
            count += removed.count
            Self.release(removed, to: self.budget)
        }
        return count
    }

    private static let keysInStep = 500

    // MARK: Bodies

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
        let tier = self.tier.flatMap { $0.store.takes(length) ? $0.store : nil }
        let write = tier.map { tier in
            { @Sendable (body: SharedBody) in tier.write(body, of: response, at: key, length: length, done: written) }
        }
        if let share = self.reserve(length) { return SharedBody(limit: share.count, in: share, store: write) }
        guard let write, let share = self.budget.share(SharedBody.window, of: self.budget.most) else { return nil }
        return SharedBody(limit: 0, in: share, store: write)
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
