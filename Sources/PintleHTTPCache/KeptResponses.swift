// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// Responses in memory, up to a capacity in bytes. The responses of a place are kept and used together.
///
/// Removed responses are returned, so that the caller frees their memory outside of its lock.
struct KeptResponses: Sendable {
    private struct Group: Sendable {
        let place: ResponsePlace
        let responses: [KeptResponse]
    }

    /// In bytes.
    var capacity: UInt64
    /// In bytes; above the capacity it counts as the capacity.
    var preferredUsage: UInt64
    private let limit: Int
    private var groups = RecencyEntries<ResponsePlace, Group>()
    /// The places of each URL.
    private var places: [String: Set<ResponsePlace>] = [:]
    private var removals = RemovalLog()
    /// The number of responses.
    private(set) var count = 0

    /// - Parameter limit: the most responses of a place.
    init(capacity: UInt64, preferredUsage: UInt64, limit: Int) {
        (self.capacity, self.preferredUsage, self.limit) = (capacity, preferredUsage, limit)
    }

    /// The bytes that the responses take.
    var usage: UInt64 { self.groups.cost }

    /// The responses of a place, the latest first; marks the place as used.
    mutating func use(_ place: ResponsePlace) -> [KeptResponse] { self.groups.use(place)?.responses ?? [] }

    /// Keeps a response in place of all that answer the same request; nil only removes those. Nothing happens if one of them
    /// has a later request, or if a removal was made after the request of this response.
    ///
    /// - Parameters:
    ///   - time: the time of the response's request.
    ///   - isReplaced: true for a response that answers the same request.
    mutating func keep(
        _ response: KeptResponse?, at place: ResponsePlace, askedFor time: ContinuousClock.Instant,
        insteadOf isReplaced: (KeptResponse) -> Bool
    ) -> [KeptResponse] {
        guard !self.removals.hasMet(place.url, askedFor: time) else { return [] }
        let known = self.groups[place]?.responses ?? []
        var others: [KeptResponse] = []
        for old in known {
            guard isReplaced(old) else {
                others.append(old)
                continue
            }
            guard old.askedFor <= time else { return [] }
        }
        return self.put(response, before: others, of: known, at: place)
    }

    /// Replaces a response; nil only removes it. Nothing happens if it is gone, or if its request was later.
    ///
    /// - Parameter time: the time of the request that led to the change.
    mutating func change(
        _ known: KeptResponse, to response: KeptResponse?, at place: ResponsePlace,
        askedFor time: ContinuousClock.Instant
    ) -> [KeptResponse] {
        let all = self.groups[place]?.responses ?? []
        let others = all.filter { $0.judged !== known.judged }
        guard others.count < all.count, known.askedFor <= time else { return [] }
        return self.put(response, before: others, of: all, at: place)
    }

    /// Removes the responses of URLs; responses to earlier requests for these URLs will not be kept.
    mutating func invalidate(_ urls: [String], at time: ContinuousClock.Instant) -> [KeptResponse] {
        var removed: [KeptResponse] = []
        for url in urls {
            self.removals.note(url, at: time)
            for place in self.places[url] ?? [] {
                removed += self.groups[place]?.responses ?? []
                self.set([], at: place)
            }
        }
        return removed
    }

    /// From now on, does not keep responses to earlier requests.
    mutating func invalidateAll(at time: ContinuousClock.Instant) { self.removals.noteAll(at: time) }

    mutating func removeAll() -> [KeptResponse] {
        self.places = [:]
        self.count = 0
        return self.groups.removeAll().flatMap(\.responses)
    }

    /// Sets the content of a place: the response, if any, and as many of the others as fit. Purges if the capacity is exceeded.
    ///
    /// - Parameter known: the present content of the place.
    private mutating func put(
        _ response: KeptResponse?, before others: [KeptResponse], of known: [KeptResponse], at place: ResponsePlace
    ) -> [KeptResponse] {
        guard let response else {
            if others.count < known.count { self.set(others, at: place) }
            return known
        }
        // A place may take a quarter of the capacity. It is purged as a whole, including its latest response.
        var cost = response.cost
        let fitting = others.prefix(self.limit - 1).prefix { other in
            cost += other.cost
            return UInt64(cost) <= self.capacity / 4
        }
        self.set([response] + fitting, at: place)
        guard self.usage > self.capacity else { return known }
        let purged = self.groups.removeOldest(untilCost: min(self.preferredUsage, self.capacity))
        for group in purged { self.forget(group) }
        return known + purged.flatMap(\.responses)
    }

    private mutating func set(_ responses: [KeptResponse], at place: ResponsePlace) {
        if let old = self.groups.remove(place) { self.forget(old) }
        guard !responses.isEmpty else { return }
        let texts = place.url.utf8.count + (place.credentials?.utf8.count ?? 0)
        let cost = responses.reduce(texts) { $0 + $1.cost }
        self.groups.insert(Group(place: place, responses: responses), for: place, cost: UInt64(cost))
        self.places[place.url, default: []].insert(place)
        self.count += responses.count
    }

    /// Subtracts a removed group from the counts.
    private mutating func forget(_ group: Group) {
        self.count -= group.responses.count
        let url = group.place.url
        self.places[url]?.remove(group.place)
        if self.places[url]?.isEmpty == true { self.places[url] = nil }
    }
}

/// The latest removals. They reveal a response whose request was sent before the removal, and which may therefore be out of
/// date.
struct RemovalLog: Sendable {
    /// The most URLs that are recorded individually; one more turns the removals so far into a removal of all URLs.
    static let limit = 1024

    /// By the hash of the URL, because URLs may be long. If two URLs have one hash, a response may needlessly not be kept.
    private var times: [Int: ContinuousClock.Instant] = [:]
    private var timeOfAll: ContinuousClock.Instant?

    /// Notes a removal of a URL's responses.
    mutating func note(_ url: String, at time: ContinuousClock.Instant) {
        if self.times.count >= Self.limit, self.times[url.hashValue] == nil { self.noteAll(at: time) }
        self.times[url.hashValue] = time
    }

    /// Notes a removal of all responses.
    mutating func noteAll(at time: ContinuousClock.Instant) {
        self.times = [:]
        self.timeOfAll = time
    }

    /// True if the request of a response was sent before a removal that covers it.
    func hasMet(_ url: String, askedFor time: ContinuousClock.Instant) -> Bool {
        [self.timeOfAll, self.times[url.hashValue]].contains { $0.map { time <= $0 } ?? false }
    }
}
