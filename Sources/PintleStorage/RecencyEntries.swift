// SPDX-License-Identifier: Apache-2.0

/// Values by key in the order of their last use, with the sum of their costs. All operations except purges take constant
/// time.
package struct RecencyEntries<Key: Hashable, Value> {
    @usableFromInline
    struct Content {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        @usableFromInline var cost: UInt64

        @usableFromInline
        init(key: Key, value: Value, cost: UInt64) { (self.key, self.value, self.cost) = (key, value, cost) }
    }

    // Everything is inlinable, because each use would otherwise look up generic types at run time.
    @usableFromInline var contents: [Content?] = []
    @usableFromInline var chain = RecencyChain()
    @usableFromInline var places: [Key: Int] = [:]
    /// The sum of all costs. It cannot overflow: it has room for two costs of an `Int`, and callers purge after each
    /// insertion.
    @usableFromInline package internal(set) var cost: UInt64 = 0

    /// Creates an empty collection.
    @inlinable
    package init() {}

    /// The number of values.
    @inlinable package var count: Int { self.places.count }

    /// All keys, in no particular order.
    package var keys: [Key] { Array(self.places.keys) }

    /// Returns the value of a key, without counting this as its use.
    @inlinable
    package subscript(key: Key) -> Value? { self.places[key].flatMap { self.contents[$0]?.value } }

    /// Adds a value as the newest.
    ///
    /// - Returns: the previous value of the key.
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

    /// Returns the value of a key, which becomes the newest.
    @inlinable
    package mutating func use(_ key: Key) -> Value? {
        guard let place = self.places[key] else { return nil }
        self.chain.use(place)
        return self.contents[place]?.value
    }

    /// Changes the value of a key in its place, and makes it the newest.
    ///
    /// - Parameter change: gets `initial` if there is no value; returns the new cost, or nil to remove the value.
    @inlinable
    package mutating func change<Result>(
        _ key: Key, default initial: @autoclosure () -> Value, _ change: (inout Value) -> (Result, cost: UInt64?)
    ) -> Result {
        if let place = self.places[key] { self.chain.use(place) } else { self.insert(initial(), for: key, cost: 0) }
        guard let place = self.places[key] else { preconditionFailure("BUG: a value has no place") }
        return self.change(at: place, change)
    }

    /// Changes the oldest values in their places until the rest costs `limit` or less. A value that stays becomes the newest.
    ///
    /// - Parameters:
    ///   - most: the maximum number of values to change.
    ///   - change: returns the new cost, or nil to remove the value.
    @inlinable
    package mutating func changeOldest(
        untilCost limit: UInt64, most: Int = .max, _ change: (Key, inout Value) -> UInt64?
    ) {
        var left = most
        while left > 0, self.cost > limit, let place = self.chain.oldest, let key = self.contents[place]?.key {
            left -= 1
            self.chain.use(place)
            self.change(at: place) { ((), cost: change(key, &$0)) }
        }
    }

    @inlinable
    mutating func change<Result>(at place: Int, _ change: (inout Value) -> (Result, cost: UInt64?)) -> Result {
        // Moved out, so that a change of the value copies nothing.
        var moved: Content?
        swap(&moved, &self.contents[place])
        guard var content = moved.take() else { preconditionFailure("BUG: a place has no value") }
        let (result, cost) = change(&content.value)
        self.cost -= content.cost
        if let cost {
            content.cost = cost
            self.cost += cost
        } else {
            self.places[content.key] = nil
            self.chain.remove(place)
        }
        self.contents[place] = cost == nil ? nil : content
        return result
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

    /// Removes the oldest values until the rest costs `limit` or less.
    ///
    /// - Parameter most: the maximum number of values to remove.
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

    /// Removes all values and returns them.
    package mutating func removeAll() -> [Value] {
        defer { self = RecencyEntries() }
        return self.contents.compactMap { $0?.value }
    }
}

extension RecencyEntries.Content: Sendable where Key: Sendable, Value: Sendable {}

extension RecencyEntries: Sendable where Key: Sendable, Value: Sendable {}
