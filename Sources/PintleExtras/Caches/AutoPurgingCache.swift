// SPDX-License-Identifier: Apache-2.0

public import PintleStorage
internal import PintleSystem

/// A cache of values in memory, up to a capacity in bytes. If an added value exceeds it, the least recently used values are
/// removed, down to the preferred usage. If the system runs short of memory, all values are removed.
///
/// Lookup, insertion and removal take constant time. The cache can be used from any thread; values are released outside its
/// lock.
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

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: size in bytes; default 100 MiB. Less than 0 counts as 0.
    ///   - preferredUsageAfterPurge: size in bytes; default 60 MiB. More than the capacity counts as the capacity.
    ///   - pressure: empties the cache whenever it rises; with nil the cache ignores memory pressure.
    ///   - shouldCache: the implementation of `shouldCache(_:for:)`; by default always true.
    ///   - cost: returns the size of a value in bytes; called once, when the value is added. Less than 0 counts as 0.
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
        // The subscription belongs to the cache and ends with it, so it retains the state and not the cache.
        self.subscription = pressure?.whenItRises {
            _ = state.withLock { $0.entries.removeAll() }
        }
    }

    // MARK: Sizes

    /// The maximum size of all values together, in bytes. A lower value takes effect when the next value is added.
    public var capacity: Int {
        get { Int(clamping: self.state.withLock { $0.capacity }) }
        set { self.state.withLock { $0.capacity = UInt64(max(0, newValue)) } }
    }

    /// The size in bytes to which a purge reduces the usage. Whole values are removed, so it may become less. More than the
    /// capacity counts as the capacity.
    public var preferredUsageAfterPurge: Int {
        get { Int(clamping: self.state.withLock { $0.preferredUsage }) }
        set { self.state.withLock { $0.preferredUsage = UInt64(max(0, newValue)) } }
    }

    /// The exact size of all values together, in bytes.
    public var usage: Int { Int(clamping: self.state.withLock { $0.entries.cost }) }

    /// The number of values.
    public var count: Int { self.state.withLock { $0.entries.count } }

    // MARK: Values

    /// True if the value should be added. For loaders of values only: `add(_:for:)` does not call it.
    public func shouldCache(_ value: Value, for key: Key) -> Bool { self.isWanted(key, value) }

    /// Adds a value, replaces the previous one of the key, and purges if the usage then exceeds the capacity. A value that
    /// is larger than the capacity is removed at once, together with all others.
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

    /// Returns the value of a key and counts this as its use; nil if there is none.
    public func value(for key: Key) -> Value? { self.state.withLock { $0.entries.use(key) } }

    /// Removes the value of a key.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    public func remove(_ key: Key) -> Bool { self.state.withLock { $0.entries.remove(key) } != nil }

    /// Removes every value.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    public func removeAll() -> Bool { !self.state.withLock { $0.entries.removeAll() }.isEmpty }
}
