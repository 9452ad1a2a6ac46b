// SPDX-License-Identifier: Apache-2.0

/// Values by key, in the order in which they were last used, with what they cost together. All but purges takes the same
/// time however many there are.
package struct RecencyEntries<Key: Hashable, Value> {
    @usableFromInline
    struct Content {
        @usableFromInline let key: Key
        @usableFromInline let value: Value
        @usableFromInline let cost: UInt64

        @usableFromInline
        init(key: Key, value: Value, cost: UInt64) { (self.key, self.value, self.cost) = (key, value, cost) }
    }

    // Inlinable all of it, or each use asks for the types at run time.
    @usableFromInline var contents: [Content?] = []
    @usableFromInline var chain = RecencyChain()
    @usableFromInline var places: [Key: Int] = [:]
    /// The sum of all costs. It is exact: two costs of an `Int` fit, and whoever adds one purges before the next.
    @usableFromInline package internal(set) var cost: UInt64 = 0

    /// Makes an empty collection.
    @inlinable
    package init() {}

    /// The number of values.
    @inlinable package var count: Int { self.places.count }

    /// All keys, in no order.
    package var keys: [Key] { Array(self.places.keys) }

    /// The value of a key, without using it.
    @inlinable
    package subscript(key: Key) -> Value? { self.places[key].flatMap { self.contents[$0]?.value } }

    /// Puts a value in, as the newest.
    ///
    /// - Returns: the one that the key had before.
    @inlinable @discardableResult
    package mutating func insert(_ value: Value, for key: Key, cost: UInt64) -> Value? {
        let old = self.remove(key)
        let place = self.chain.add()
        let content = Content(key: key, value: value, cost: cost)
        if place == self.contents.count { self.contents.append(content) } else { self.contents[place] = content }
        self.places[key] = place
        self.cost += cost
        return old
    }

    /// The value of a key, which becomes the newest.
    @inlinable
    package mutating func use(_ key: Key) -> Value? {
        guard let place = self.places[key] else { return nil }
        self.chain.use(place)
        return self.contents[place]?.value
    }

    /// Removes the value of a key.
    @inlinable @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let place = self.places.removeValue(forKey: key), let content = self.contents[place] else { return nil }
        self.chain.remove(place)
        self.contents[place] = nil
        self.cost -= content.cost
        return content.value
    }

    /// Removes the oldest ones until those that stay cost `limit` or less.
    ///
    /// - Parameter most: the most that are removed.
    @inlinable
    package mutating func removeOldest(untilCost limit: UInt64, most: Int = .max) -> [Value] {
        var removed: [Value] = []
        while self.cost > limit, removed.count < most, let place = self.chain.oldest,
            let key = self.contents[place]?.key
        {
            if let value = self.remove(key) { removed.append(value) }
        }
        return removed
    }

    /// Removes all.
    package mutating func removeAll() -> [Value] {
        defer { self = RecencyEntries() }
        return self.contents.compactMap { $0?.value }
    }
}

extension RecencyEntries.Content: Sendable where Key: Sendable, Value: Sendable {}

extension RecencyEntries: Sendable where Key: Sendable, Value: Sendable {}
