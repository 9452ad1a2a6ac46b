// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSystem
internal import Synchronization

/// The responses to the requests of one key, and the requests under way for them (RFC 9111).
///
/// A value without clock, lock or socket: an event is a method, and its consequences are returned. The owner carries them out.
/// The proxy's cache has many clients and a second tier; the library's cache has one user, and uses the first part only.
///
/// Among the responses for one key, the one counts whose request was sent last: a late response to an earlier request is older
/// news. The Date field does not help, because an origin sets it when it answers. So each request has a number, and a response
/// is *revoked* if a removal has covered it since its request, or if the response to a later request has changed the entries.
/// A revoked response still reaches the clients that wait for it, but is neither stored nor given to later requests.
package struct CacheSession<Host: CacheHost>: Sendable {
    package typealias Entry = CacheEntry<Host.Body>

    /// A request under way for one client alone, or a search in the second tier.
    private struct Single: Sendable {
        /// The surrogate keys of what it brings; nil until they are known.
        var tags: [String]?
        var isRevoked = false
        /// The number of changes for the second tier that had begun before. A search waits until they are carried out.
        let earlierChanges: UInt64
        /// True for a search in place of one that was overtaken.
        let isRepeated: Bool
    }

    /// The stored responses in memory, the latest first.
    package private(set) var entries: [Entry] = []
    /// The fetches under way in the order of their requests. Other requests may join the last one.
    var fetches = WaitingLine<CacheFetch<Host>>()
    private var singles: [UInt64: Single] = [:]
    private var lastNumber: UInt64 = 0
    /// Responses to requests up to this number are revoked. An owner that forgets the session while such a response may still
    /// come has to remember it.
    package private(set) var revokedThrough: UInt64 = 0
    /// The last number that was given to a request when a response last changed the entries.
    private var changedThrough: UInt64 = 0
    /// The number of changes for the second tier so far.
    private var begunChanges: UInt64 = 0
    /// The number of those that it has carried out, in their order.
    private var endedChanges: UInt64 = 0
    /// The last number that was given to a request when a change for the second tier last began.
    private var tierChangedThrough: UInt64 = 0

    package init() {}

    /// True if it holds nothing, and may be forgotten.
    package var isEmpty: Bool { self.entries.isEmpty && !self.isBusy }

    /// True if requests, searches or changes are under way.
    package var isBusy: Bool { !self.fetches.isEmpty || !self.singles.isEmpty || self.isUnsettled }

    /// The memory that the entries take, in bytes.
    package var cost: Int { self.entries.reduce(0) { $0 + $1.cost } }

    // MARK: Order

    /// True if the response to a request is out of date.
    package func isRevoked(_ number: UInt64) -> Bool {
        if number <= self.revokedThrough { return true }
        return self.singles[number]?.isRevoked ?? self.fetches[number]?.isRevoked ?? false
    }

    /// Revokes the responses to earlier requests.
    mutating func revoke(before number: UInt64) {
        self.revokedThrough = max(self.revokedThrough, number - 1)
        self.changedThrough = self.lastNumber
    }

    mutating func nextNumber() -> UInt64 {
        self.lastNumber = RequestNumbers.next()
        return self.lastNumber
    }

    /// True if a response has changed the entries since a request has got its number.
    func hasChanged(since number: UInt64) -> Bool { number <= self.changedThrough }

    /// Removes the entries that a request would have got.
    mutating func removeEntries(matching request: RequestHead) -> [Entry] {
        self.put(nil) { Host.rules.matches($0.response, request) }
    }

    // MARK: Entries

    /// Stores a response in place of those that its request would have got.
    ///
    /// - Parameters:
    ///   - hasRoom: false if memory is full; the others go all the same.
    ///   - mostCost: the most memory that all entries together may take, in bytes; the oldest ones go first.
    /// - Returns: the entries that are gone; nil if the response is revoked.
    package mutating func store(
        _ entry: Entry, for request: RequestHead, by number: UInt64, hasRoom: Bool = true, mostCost: Int = .max
    ) -> [Entry]? {
        guard !self.isRevoked(number) else { return nil }
        self.revoke(before: number)
        return self.put(hasRoom ? entry : nil, mostCost: mostCost) {
            Host.rules.replaces(entry.response, $0.response, for: request)
        }
    }

    /// Stores a response that was found in the second tier, unless there is one for the same requests.
    ///
    /// - Parameter number: that of the search.
    /// - Returns: the entries that are gone; nil if the response is not stored.
    package mutating func store(found entry: Entry, by number: UInt64, hasRoom: Bool) -> [Entry]? {
        guard hasRoom, !self.isOvertaken(number), !self.entries.contains(where: entry.isLike) else { return nil }
        return self.put(entry) { _ in false }
    }

    /// Removes the entries that a request would have got, because the origin has now given a response that is not stored.
    ///
    /// - Returns: the entries that are gone; nil if the response is revoked.
    package mutating func outdate(by number: UInt64, to request: RequestHead) -> [Entry]? {
        guard !self.isRevoked(number) else { return nil }
        self.revoke(before: number)
        return self.removeEntries(matching: request)
    }

    /// Stores a part of a representation, combined with the parts that it adjoins (RFC 9111 §3.4).
    ///
    /// Both the number of parts and their total length are limited; the oldest ones go.
    ///
    /// - Parameters:
    ///   - longest: the most bytes of all parts.
    ///   - join: makes the combined entry from the part's stored form and the entries that it is combined with; nil if their
    ///     bytes are not there.
    ///   - hasRoom: true if there is room for an entry.
    /// - Returns: the entries that are gone; nil if the part is not stored.
    package mutating func store(
        _ part: PartialResponse, for request: RequestHead, by number: UInt64, at times: ExchangeTimes, mode: CacheMode,
        longest: UInt64, hasRoom: (Entry) -> Bool, join: (JoinedPart, [Entry]) -> Entry?
    ) -> (new: Entry, gone: [Entry])? {
        let (rules, stored) = (Host.rules, self.entries.map(\.response))
        guard !self.isRevoked(number), var joined = rules.joined(part, with: stored, at: times, mode: mode) else {
            return nil
        }
        if joined.response.heldLength > longest {
            guard let alone = rules.joined(part, with: [], at: times, mode: mode) else { return nil }
            joined = alone
        }
        guard let entry = join(joined, joined.places.map { self.entries[$0] }) else { return nil }
        self.revoke(before: number)
        var gone = Set(joined.places.map { self.entries[$0].id })
        // Another response may have come between the head of the part and its end.
        for (place, update) in rules.updates(of: stored, by: part.head, to: part.request, at: times, mode: mode)
        where update == .outdated { gone.insert(self.entries[place].id) }
        var (length, count) = (entry.response.heldLength, 1)
        for other in self.entries where !other.response.isComplete && !gone.contains(other.id) {
            length += other.response.heldLength
            count += 1
            if length > longest || count > Self.mostParts { gone.insert(other.id) }
        }
        let removed = self.put(hasRoom(entry) ? entry : nil) {
            gone.contains($0.id) || rules.replaces(entry.response, $0.response, for: request)
        }
        return (entry, removed)
    }

    /// The most parts of a representation that are stored, so that there is room for variants.
    private static var mostParts: Int { 8 }

    /// Updates the entries with the head of a response that bypassed the cache (RFC 9111 §3.4, §4.3.4, §4.3.5). Fetches whose
    /// responses it shows to be out of date are revoked.
    package mutating func update(
        by head: ResponseHead, to request: RequestHead, at times: ExchangeTimes, mode: CacheMode, number: UInt64
    ) -> [Entry] {
        guard !self.isRevoked(number) else { return [] }
        let known = self.entries
        let updates = Host.rules.updates(
            of: known.map(\.response), by: head, to: request, at: times, mode: mode)
        var gone: [Entry] = []
        for (place, update) in updates { gone += self.apply(update, to: known[place], by: number) }
        self.fetches.changeAll { fetch in
            // The length of a response may be unknown until its end; then it cannot be compared.
            guard fetch.plan.number < number, let response = fetch.response, response.length != nil,
                let stored = response.stored
            else { return }
            let updates = Host.rules.updates(of: [stored], by: head, to: request, at: times, mode: mode)
            if updates.contains(where: { $0.update == .outdated }) { fetch.isRevoked = true }
        }
        return gone
    }

    /// Applies the consequences of a response to an entry, if it is still there.
    ///
    /// - Returns: the entries that are gone.
    package mutating func apply(_ update: CacheUpdate, to known: Entry, by number: UInt64) -> [Entry] {
        guard !self.isRevoked(number), self.entries.contains(where: { $0.id == known.id }) else { return [] }
        switch update {
        case .store(let response):
            self.revoke(before: number)
            let new = known.with(Host.rules.judged(response))
            return self.put(new) { $0.id == known.id || new.isLike($0) }
        case .answerOnce(_, _, keepsStored: true), .unrelated: return []
        case .answerOnce, .outdated:
            self.revoke(before: number)
            return self.put(nil) { $0.id == known.id }
        }
    }

    /// Removes the responses that a removal covers, and revokes those that are on their way.
    package mutating func remove(_ selection: CacheSelection, at url: String) -> [Entry] {
        if case .tag = selection {
            // The keys of a response that has not begun are unknown; so it may have the one that is removed.
            func isCovered(_ tags: [String]?) -> Bool { tags.map { selection.covers(url, tags: $0) } ?? true }
            for number in self.singles.keys where isCovered(self.singles[number]?.tags) {
                self.singles[number]?.isRevoked = true
            }
            self.fetches.changeAll { if isCovered($0.tags) { $0.isRevoked = true } }
        } else if selection.covers(url, tags: []) {
            self.revokedThrough = max(self.revokedThrough, self.lastNumber)
        }
        return self.put(nil) { selection.covers(url, tags: $0.response.tags) }
    }

    /// Removes all entries, because memory is needed.
    package mutating func evict() -> [Entry] {
        defer { self.entries = [] }
        return self.entries
    }

    /// Stores an entry in place of others.
    ///
    /// - Returns: the entries that are gone.
    private mutating func put(
        _ entry: Entry?, mostCost: Int = .max, insteadOf isReplaced: (Entry) -> Bool
    ) -> [Entry] {
        var kept: [Entry] = entry.map { [$0] } ?? []
        var cost = entry?.cost ?? 0
        var gone: [Entry] = []
        for old in self.entries {
            if isReplaced(old) {
                // An entry with another head has the same body.
                if old.id != entry?.id { gone.append(old) }
                continue
            }
            cost += old.cost
            let isOver = entry != nil && (kept.count >= Host.rules.variantLimit || cost > mostCost)
            if isOver { gone.append(old) } else { kept.append(old) }
        }
        if entry != nil || !gone.isEmpty { self.entries = kept }
        return gone
    }

    // MARK: Requests for one client alone, and searches

    /// Begins to observe a response that bypasses the cache, or a search in the second tier.
    ///
    /// - Parameter isRepeated: true for a search in place of one that was overtaken.
    package mutating func beginSingle(isRepeated: Bool = false) -> UInt64 {
        let number = self.nextNumber()
        self.singles[number] = Single(earlierChanges: self.begunChanges, isRepeated: isRepeated)
        return number
    }

    /// Notes the surrogate keys of the response, from which on removals of other keys do not concern it.
    package mutating func note(tags: [String], of number: UInt64) { self.singles[number]?.tags = tags }

    package mutating func endSingle(_ number: UInt64) {
        guard self.singles.removeValue(forKey: number) != nil else { preconditionFailure("BUG: a request ends twice") }
    }

    // MARK: The second tier

    /// Notes that the entries of the second tier change: a search that has begun may miss it.
    package mutating func noteChange() { self.tierChangedThrough = self.lastNumber }

    /// Notes that a change for the second tier waits to be carried out.
    package mutating func beginChange() {
        self.begunChanges += 1
        self.noteChange()
    }

    /// Notes that the second tier has carried out the earliest change that waited.
    package mutating func endChange() {
        precondition(self.isUnsettled, "BUG: a change ends that has not begun")
        self.endedChanges += 1
    }

    /// True if changes wait to be carried out.
    package var isUnsettled: Bool { self.endedChanges < self.begunChanges }

    /// True if a search has to wait, because the second tier has not carried out a change that began before it.
    package func hasToWait(_ search: UInt64) -> Bool {
        self.singles[search].map { $0.earlierChanges > self.endedChanges } ?? false
    }

    /// True if the result of a search does not count, because a removal or a response has changed the key meanwhile.
    package func isOvertaken(_ search: UInt64) -> Bool {
        search <= self.tierChangedThrough || self.hasChanged(since: search) || self.isRevoked(search)
    }

    /// Ends a search, and decides on its result.
    ///
    /// - Returns: true if the result counts; and true if it does not, and the search is worth repeating.
    mutating func endSearch(_ number: UInt64) -> (counts: Bool, repeats: Bool) {
        let isOvertaken = self.isOvertaken(number)
        // Changes may come one after the other; a client waits for one repetition at most.
        let repeats = isOvertaken && self.singles[number]?.isRepeated == false
        self.endSingle(number)
        return (!isOvertaken, repeats)
    }
}

/// The numbers of requests. They are unique in this process, because a session may be forgotten and begun anew while a client
/// still has a number of the first one.
private enum RequestNumbers {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { self.last.wrappingAdd(1, ordering: .relaxed).newValue }
}
