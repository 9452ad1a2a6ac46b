// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// Responses in memory, up to a capacity in bytes: those of a place together, as they are used together.
///
/// Responses that go are returned, so that their memory is given back outside of a lock.
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

    /// The bytes that they take.
    var usage: UInt64 { self.groups.cost }

    /// The responses of a place, the latest first, which counts as their use.
    mutating func use(_ place: ResponsePlace) -> [KeptResponse] { self.groups.use(place)?.responses ?? [] }

    /// Keeps a response in the place of all that answer the same request; nil only removes those. Nothing happens where one of
    /// them was asked for later, or a removal has met the response on its way.
    ///
    /// - Parameters:
    ///   - time: when the response was asked for.
    ///   - isReplaced: true for what answers the same request.
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

    /// Puts a response in the place of one; nil only removes that. Nothing happens where it has gone, or was asked for later.
    ///
    /// - Parameter time: when the origin was asked for what changes it.
    mutating func change(
        _ known: KeptResponse, to response: KeptResponse?, at place: ResponsePlace,
        askedFor time: ContinuousClock.Instant
    ) -> [KeptResponse] {
        let all = self.groups[place]?.responses ?? []
        let others = all.filter { $0.judged !== known.judged }
        guard others.count < all.count, known.askedFor <= time else { return [] }
        return self.put(response, before: others, of: all, at: place)
    }

    /// Removes those of URLs, and does not keep what was asked for there before.
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

    /// Does not keep what was asked for before.
    mutating func invalidateAll(at time: ContinuousClock.Instant) { self.removals.noteAll(at: time) }

    mutating func removeAll() -> [KeptResponse] {
        self.places = [:]
        self.count = 0
        return self.groups.removeAll().flatMap(\.responses)
    }

    /// Leaves a place with a response, if there is one, and the others that fit, and purges where the capacity is exceeded.
    ///
    /// - Parameter known: what the place has.
    private mutating func put(
        _ response: KeptResponse?, before others: [KeptResponse], of known: [KeptResponse], at place: ResponsePlace
    ) -> [KeptResponse] {
        guard let response else {
            if others.count < known.count { self.set(others, at: place) }
            return known
        }
        // A place may have a quarter of the capacity, and goes as a whole: the latest one would go with it.
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

    /// Takes a group that was removed out of what is counted.
    private mutating func forget(_ group: Group) {
        self.count -= group.responses.count
        let url = group.place.url
        self.places[url]?.remove(group.place)
        if self.places[url]?.isEmpty == true { self.places[url] = nil }
    }
}

/// The latest removals, by which a response is known that was asked for before what it was made of has changed.
struct RemovalLog: Sendable {
    /// The most URLs that are known one by one; with one more, the removals so far count for every URL.
    static let limit = 1024

    /// By the hash of the URL, which may be long. Where two have one, a response is not kept that could have been.
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

    /// True where a response was asked for before a removal that it belongs to.
    func hasMet(_ url: String, askedFor time: ContinuousClock.Instant) -> Bool {
        [self.timeOfAll, self.times[url.hashValue]].contains { $0.map { time <= $0 } ?? false }
    }
}
