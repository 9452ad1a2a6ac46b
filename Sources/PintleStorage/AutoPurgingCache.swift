// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Values in memory, up to a capacity in bytes. When an added value exceeds it, those that were not used for longest go,
/// down to the preferred usage; when the system runs short of memory, all go.
///
/// Looking up, adding and removing take the same time however many values there are. A cache can be used from any thread;
/// values are let go outside its lock.
public final class AutoPurgingCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State: Sendable {
        var entries = RecencyEntries<Key, Value>()
        var capacity: UInt64
        var preferredUsage: UInt64
    }

    private let state: Locked<State>
    private let cost: @Sendable (Value) -> Int
    private let isWanted: @Sendable (Key, Value) -> Bool
    private let subscription: MemoryPressure.Subscription?

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: in bytes; 100 MiB unless given. Less than 0 counts as 0.
    ///   - preferredUsageAfterPurge: in bytes; 60 MiB unless given. More than the capacity counts as the capacity.
    ///   - pressure: its rising empties the cache; nil for a cache that keeps its values then.
    ///   - shouldCache: the answer to `shouldCache(_:for:)`; yes to everything unless given.
    ///   - cost: the bytes that a value takes; asked once, when the value is added. Less than 0 counts as 0.
    public init(
        capacity: Int = 100 << 20, preferredUsageAfterPurge: Int = 60 << 20, pressure: MemoryPressure? = .system,
        shouldCache: @escaping @Sendable (Key, Value) -> Bool = { _, _ in true },
        cost: @escaping @Sendable (Value) -> Int
    ) {
        let state = Locked(
            State(
                capacity: UInt64(max(0, capacity)), preferredUsage: UInt64(max(0, preferredUsageAfterPurge))))
        self.state = state
        self.cost = cost
        self.isWanted = shouldCache
        // The subscription ends with the cache, which it must not keep.
        self.subscription = pressure?.whenItRises { [weak state] in
            _ = state?.withLock { $0.entries.removeAll() }
        }
    }

    // MARK: Sizes

    /// The bytes that values may take together. A lower one purges nothing until the next value is added.
    public var capacity: Int {
        get { Int(clamping: self.state.withLock { $0.capacity }) }
        set { self.state.withLock { $0.capacity = UInt64(max(0, newValue)) } }
    }

    /// The bytes to which a purge brings the usage, or fewer: whole values go. More than the capacity counts as the capacity.
    public var preferredUsageAfterPurge: Int {
        get { Int(clamping: self.state.withLock { $0.preferredUsage }) }
        set { self.state.withLock { $0.preferredUsage = UInt64(max(0, newValue)) } }
    }

    /// The bytes that all values take, to the byte.
    public var usage: Int { Int(clamping: self.state.withLock { $0.entries.cost }) }

    /// The number of values.
    public var count: Int { self.state.withLock { $0.entries.count } }

    // MARK: Values

    /// Says whether a value is worth adding. Only a question for whoever loads values: `add(_:for:)` does not ask it.
    public func shouldCache(_ value: Value, for key: Key) -> Bool { self.isWanted(key, value) }

    /// Adds a value in the place of one that the key may have, and purges when the usage is above the capacity then. A value
    /// that is larger than the capacity goes at once, and all others with it.
    public func add(_ value: Value, for key: Key) {
        let cost = UInt64(max(0, self.cost(value)))
        let released = self.state.withLock { state in
            var released = state.entries.insert(value, for: key, cost: cost).map { [$0] } ?? []
            if state.entries.cost > state.capacity {
                released += state.entries.removeOldest(untilCost: min(state.preferredUsage, state.capacity))
            }
            return released
        }
        withExtendedLifetime(released) {}
    }

    /// The value of a key, which counts as its use; nil where there is none.
    public func value(for key: Key) -> Value? { self.state.withLock { $0.entries.use(key) } }

    /// Removes the value of a key.
    ///
    /// - Returns: false where there was none.
    @discardableResult
    public func remove(_ key: Key) -> Bool { self.state.withLock { $0.entries.remove(key) } != nil }

    /// Removes every value.
    ///
    /// - Returns: false where there was none.
    @discardableResult
    public func removeAll() -> Bool { !self.state.withLock { $0.entries.removeAll() }.isEmpty }
}
