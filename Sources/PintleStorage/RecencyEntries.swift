// SPDX-License-Identifier: Apache-2.0

/// Values by key, in the order in which they were last used, with what they cost together. All but purges takes the same
/// time however many there are.
package struct RecencyEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Content: Sendable {
        let key: Key
        var value: Value
        var cost: UInt64
    }

    /// A link of the chain from the oldest to the newest; one without content is free, and leads to the next free one.
    private struct Link: Sendable {
        var content: Content?
        var older: Int?
        var newer: Int?
    }

    private var links: [Link] = []
    private var places: [Key: Int] = [:]
    private var oldest: Int?
    private var newest: Int?
    private var free: Int?
    /// The sum of all costs. It is exact: two costs of an `Int` fit, and whoever adds one purges before the next.
    package private(set) var cost: UInt64 = 0

    /// Makes an empty collection.
    package init() {}

    /// The number of values.
    package var count: Int { self.places.count }

    /// All keys, in no order.
    package var keys: [Key] { Array(self.places.keys) }

    /// The value of a key, without using it.
    package subscript(key: Key) -> Value? { self.places[key].flatMap { self.links[$0].content?.value } }

    /// Puts a value in, as the newest.
    ///
    /// - Returns: the one that the key had before.
    @discardableResult package mutating func insert(_ value: Value, for key: Key, cost: UInt64) -> Value? {
        let old = self.remove(key)
        let place = self.takeLink()
        self.links[place].content = Content(key: key, value: value, cost: cost)
        self.places[key] = place
        self.cost += cost
        self.append(place)
        return old
    }

    /// The value of a key, which becomes the newest.
    package mutating func use(_ key: Key) -> Value? {
        guard let place = self.places[key] else { return nil }
        if place != self.newest {
            self.detach(place)
            self.append(place)
        }
        return self.links[place].content?.value
    }

    /// Removes the value of a key.
    @discardableResult package mutating func remove(_ key: Key) -> Value? {
        guard let place = self.places.removeValue(forKey: key), let content = self.links[place].content else {
            return nil
        }
        self.detach(place)
        self.links[place] = Link(newer: self.free)
        self.free = place
        self.cost -= content.cost
        return content.value
    }

    /// Removes the oldest ones until those that stay cost `limit` or less.
    package mutating func removeOldest(untilCost limit: UInt64) -> [Value] {
        var removed: [Value] = []
        while self.cost > limit, let place = self.oldest, let key = self.links[place].content?.key {
            if let value = self.remove(key) { removed.append(value) }
        }
        return removed
    }

    /// Removes all.
    package mutating func removeAll() -> [Value] {
        defer { self = RecencyEntries() }
        return self.links.compactMap { $0.content?.value }
    }

    // MARK: The chain

    private mutating func takeLink() -> Int {
        guard let place = self.free else {
            self.links.append(Link())
            return self.links.count - 1
        }
        self.free = self.links[place].newer
        self.links[place] = Link()
        return place
    }

    private mutating func append(_ place: Int) {
        self.links[place].older = self.newest
        self.links[place].newer = nil
        if let newest { self.links[newest].newer = place } else { self.oldest = place }
        self.newest = place
    }

    private mutating func detach(_ place: Int) {
        let (older, newer) = (self.links[place].older, self.links[place].newer)
        if let older { self.links[older].newer = newer } else { self.oldest = newer }
        if let newer { self.links[newer].older = older } else { self.newest = older }
    }
}
