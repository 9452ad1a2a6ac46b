// SPDX-License-Identifier: Apache-2.0

/// Values under keys, with what each costs: above the capacity the ones that were longest unused go, down to the preferred usage
/// (AFNetworking's AFAutoPurgingImageCache). Every operation but a purge takes the same time, however many there are.
package struct AutoPurgingTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: Key
        var value: Value
        var cost: Int
        /// Places in ``slots``; the neighbours in the order of use.
        var older: Int?
        var newer: Int?
    }

    /// The cost from which on a purge begins.
    package var capacity: Int
    /// The cost down to which one goes.
    package var preferredUsage: Int
    /// The cost of all values.
    package private(set) var usage = 0
    private var places: [Key: Int] = [:]
    private var slots: [Slot?] = []
    private var free: [Int] = []
    private var oldest: Int?
    private var newest: Int?

    /// Makes an empty table.
    package init(capacity: Int, preferredUsage: Int) {
        self.capacity = capacity
        self.preferredUsage = preferredUsage
    }

    /// The number of values.
    package var count: Int { self.places.count }

    /// All values, in no order.
    package var values: [Value] { self.slots.compactMap { $0?.value } }

    /// All keys and values, in no order.
    package var entries: [(key: Key, value: Value)] {
        self.slots.compactMap { slot in slot.map { ($0.key, $0.value) } }
    }

    /// The value of a key, which is the latest used then.
    package mutating func value(for key: Key) -> Value? {
        guard let place = self.places[key] else { return nil }
        self.unlink(place)
        self.link(place)
        return self.slots[place]?.value
    }

    /// Puts a value under a key, in the place of the one that was there.
    package mutating func set(_ value: Value, for key: Key, cost: Int) {
        if let place = self.places[key] {
            self.usage -= self.slots[place]?.cost ?? 0
            self.unlink(place)
            self.slots[place] = Slot(key: key, value: value, cost: cost)
            self.link(place)
        } else {
            let place = self.free.popLast() ?? self.slots.endIndex
            let slot = Slot(key: key, value: value, cost: cost)
            if place == self.slots.endIndex { self.slots.append(slot) } else { self.slots[place] = slot }
            self.places[key] = place
            self.link(place)
        }
        self.usage += cost
        if self.usage > self.capacity { self.purge() }
    }

    /// Removes the value of a key.
    ///
    /// - Returns: nil where there was none.
    @discardableResult package mutating func remove(_ key: Key) -> Value? {
        guard let place = self.places[key], let slot = self.slots[place] else { return nil }
        self.unlink(place)
        self.places[key] = nil
        self.slots[place] = nil
        self.free.append(place)
        self.usage -= slot.cost
        return slot.value
    }

    /// Removes what was longest unused, until the preferred usage is reached.
    package mutating func purge() {
        while self.usage > self.preferredUsage, let oldest, let key = self.slots[oldest]?.key { self.remove(key) }
    }

    /// Removes everything.
    package mutating func removeAll() {
        self = AutoPurgingTable(capacity: self.capacity, preferredUsage: self.preferredUsage)
    }

    // MARK: The order of use

    private mutating func link(_ place: Int) {
        self.slots[place]?.older = self.newest
        if let newest { self.slots[newest]?.newer = place } else { self.oldest = place }
        self.newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let slot = self.slots[place] else { return }
        if let older = slot.older { self.slots[older]?.newer = slot.newer } else { self.oldest = slot.newer }
        if let newer = slot.newer { self.slots[newer]?.older = slot.older } else { self.newest = slot.older }
        self.slots[place]?.older = nil
        self.slots[place]?.newer = nil
    }
}
