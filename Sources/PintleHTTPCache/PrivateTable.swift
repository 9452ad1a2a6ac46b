// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleMessage
internal import PintleStorage

/// The sessions of a private cache, with their responses in memory up to a capacity in bytes. The responses of a place are used
/// together.
///
/// Removed responses are returned, so that the caller frees their memory outside of its lock.
struct PrivateTable: Sendable {
    typealias Session = CacheSession<PrivateCacheHost>
    typealias Entry = CacheEntry<WholeBody>

    /// In bytes.
    var capacity: UInt64
    /// In bytes; above the capacity it counts as the capacity.
    var preferredUsage: UInt64
    private var sessions = RecencyEntries<ResponsePlace, Session>()
    /// The places of each URL.
    private var places: [String: Set<ResponsePlace>] = [:]
    private var removals = RemovalLog()
    /// The number of responses.
    private(set) var count = 0

    init(capacity: UInt64, preferredUsage: UInt64) {
        (self.capacity, self.preferredUsage) = (capacity, preferredUsage)
    }

    /// The bytes that the responses take.
    var usage: UInt64 { self.sessions.cost }

    /// The responses of a place, the latest first; marks the place as used.
    mutating func entries(at place: ResponsePlace) -> [Entry] { self.sessions.use(place)?.entries ?? [] }

    /// Changes the session of a place by a response, and evicts the least recently used places if the capacity is exceeded.
    /// Nothing happens if the response is older news than what was removed.
    ///
    /// - Parameters:
    ///   - number: that of the response's request.
    ///   - change: returns the removed responses.
    /// - Returns: the removed responses.
    mutating func change(at place: ResponsePlace, by number: UInt64, _ change: (inout Session) -> [Entry]) -> [Entry] {
        guard !self.removals.covers(place.url, number) else { return [] }
        var gone = self.change(at: place, change)
        guard self.usage > self.capacity else { return gone }
        // A place goes as a whole, including its latest response.
        var evicted: [(place: ResponsePlace, revoked: UInt64)] = []
        self.sessions.changeOldest(untilCost: min(self.preferredUsage, self.capacity)) { place, session in
            evicted.append((place, session.revokedThrough))
            gone += session.entries
            self.count -= session.entries.count
            return nil
        }
        for (place, revoked) in evicted { self.forget(place, revoked) }
        return gone
    }

    private mutating func change(at place: ResponsePlace, _ change: (inout Session) -> [Entry]) -> [Entry] {
        var added = 0
        var revoked: UInt64 = 0
        let texts = place.url.utf8.count + (place.credentials?.utf8.count ?? 0)
        let gone = self.sessions.change(place, default: Session()) { session in
            added -= session.entries.count
            let gone = change(&session)
            added += session.entries.count
            revoked = session.revokedThrough
            return (gone, cost: session.isEmpty ? nil : UInt64(session.cost + texts))
        }
        self.count += added
        if self.sessions[place] == nil {
            self.forget(place, revoked)
        } else {
            self.places[place.url, default: []].insert(place)
        }
        return gone
    }

    /// Removes the responses of URLs; responses to requests up to a number will not be kept for these URLs.
    mutating func invalidate(_ urls: [String], through number: UInt64) -> [Entry] {
        var removed: [Entry] = []
        for url in urls {
            self.removals.note(url, through: number)
            for place in self.places[url] ?? [] {
                removed += self.change(at: place) { $0.remove(.url(url), at: url) }
            }
        }
        return removed
    }

    /// From now on, does not keep responses to requests up to a number.
    mutating func invalidateAll(through number: UInt64) { self.removals.noteAll(through: number) }

    mutating func removeAll() -> [Entry] {
        (self.places, self.count) = ([:], 0)
        let sessions = self.sessions.removeAll()
        self.removals.noteAll(through: sessions.map(\.revokedThrough).max() ?? 0)
        return sessions.flatMap(\.entries)
    }

    /// Forgets the session of a place, but not which responses would be older news than those that it had.
    ///
    /// - Parameter revoked: the number up to which the session has revoked responses.
    private mutating func forget(_ place: ResponsePlace, _ revoked: UInt64) {
        if revoked > 0 { self.removals.note(place.url, through: revoked) }
        self.places[place.url]?.remove(place)
        if self.places[place.url]?.isEmpty == true { self.places[place.url] = nil }
    }
}
