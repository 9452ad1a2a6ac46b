// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleLoop
internal import PintleStorage

/// The types of the proxy's cache.
enum ProxyCacheHost: CacheHost {
    typealias Body = SharedBody
    typealias Waiter = LoopBound<CachedOrigin>
    typealias Fetcher = LoopBound<OriginFetch>

    static let rules = CacheRules()
}

/// The sessions of all keys, with the stored responses in memory up to a capacity in bytes.
///
/// Beyond the capacity the entries of the least recently used keys go, in steps that the owner takes, because there may be tens
/// of thousands; until they are gone the usage exceeds the capacity by one eighth at most. Removed entries are returned, so that
/// the owner frees their memory outside of its lock.
struct CacheTable: Sendable {
    typealias Session = CacheSession<ProxyCacheHost>
    typealias Entry = CacheEntry<SharedBody>

    private let capacity: UInt64
    private let preferredUsage: UInt64
    private var sessions = RecencyEntries<CacheKey, Session>()
    /// The partitions that sessions were ever for; there are few.
    private var partitions: Set<String> = []
    private var uncacheable = UncacheableKeys()
    /// The number of entries; a key may have several.
    private(set) var count = 0
    private var isEvicting = false

    init(capacity: Int, preferredUsage: Int) {
        (self.capacity, self.preferredUsage) = (UInt64(capacity), UInt64(preferredUsage))
    }

    /// The memory that the entries take, in bytes.
    var usage: Int { Int(clamping: self.sessions.cost) }

    /// The entries of a key, the latest first; marks the key as used.
    mutating func entries(of key: CacheKey) -> [Entry] { self.sessions.use(key)?.entries ?? [] }

    /// The session of a key; nil if it holds nothing.
    subscript(key: CacheKey) -> Session? { self.sessions[key] }

    /// Changes the session of a key, and marks it as used.
    mutating func change<Result>(_ key: CacheKey, _ change: (inout Session) -> Result) -> Result {
        self.partitions.insert(key.partition)
        var added = 0
        let result = self.sessions.change(key, default: Session()) { session in
            added -= session.entries.count
            let result = change(&session)
            added += session.entries.count
            return (result, cost: Self.cost(of: session, key))
        }
        self.count += added
        return result
    }

    /// - Returns: nil if the session holds nothing.
    private static func cost(of session: Session, _ key: CacheKey) -> UInt64? {
        if session.isEmpty { return nil }
        if session.entries.isEmpty { return 0 }
        return UInt64(session.cost + 2 * (key.url.utf8.count + key.partition.utf8.count))
    }

    /// The memory for a further entry, in bytes.
    var room: Int { Int(clamping: self.capacity + self.capacity / 8) - self.usage }

    // MARK: Eviction

    /// Begins an eviction if one is due. It removes entries until the preferred usage is reached.
    ///
    /// - Returns: true if the caller has to take the steps of the eviction.
    mutating func beginEviction() -> Bool {
        guard !self.isEvicting, self.sessions.cost > self.capacity else { return false }
        self.isEvicting = true
        return true
    }

    /// Takes a step of an eviction.
    ///
    /// - Returns: the removed entries; nil if the eviction is over.
    mutating func evict() -> [Entry]? {
        let gone = self.evict(downTo: self.preferredUsage)
        if gone == nil { self.isEvicting = false }
        return gone
    }

    /// Takes a step of an eviction of all entries.
    ///
    /// - Returns: the removed entries; nil if there is none left.
    mutating func evictAll() -> [Entry]? { self.evict(downTo: 0) }

    private mutating func evict(downTo limit: UInt64) -> [Entry]? {
        guard self.sessions.cost > limit else { return nil }
        var gone: [Entry] = []
        self.sessions.changeOldest(untilCost: limit, most: Self.keysInStep) { _, session in
            gone += session.evict()
            return session.isBusy ? 0 : nil
        }
        self.count -= gone.count
        return gone
    }

    /// The number of keys that one step looks at.
    private static let keysInStep = 200

    /// The keys whose entries a removal may cover.
    func keys(of selection: CacheSelection) -> [CacheKey] {
        guard case .url(let url) = selection else { return self.sessions.keys }
        return self.partitions.map { CacheKey(partition: $0, url: url) }.filter { self.sessions[$0] != nil }
    }

    // MARK: Uncacheable keys

    mutating func noteUncacheable(_ key: CacheKey, at now: CacheTime) { self.uncacheable.note(key, at: now) }

    mutating func forgetUncacheable(_ key: CacheKey) { self.uncacheable.forget(key) }

    mutating func isUncacheable(_ key: CacheKey, at now: CacheTime) -> Bool { self.uncacheable.has(key, at: now) }
}

extension CacheEntry where Body == SharedBody {
    /// Creates an entry whose body is in memory.
    init(_ response: StoredResponse, _ bytes: BodyPieces) {
        let cost = bytes.all.reduce(0) { $0 + $1.storageCapacity + 64 }
        self.init(ProxyCacheHost.rules.judged(response), SharedBody(whole: bytes.all), bodyCost: cost)
    }

    /// Creates an entry whose body is on disk, or on its way there.
    init(_ response: StoredResponse, onDisk body: SharedBody) {
        self.init(ProxyCacheHost.rules.judged(response), body, bodyCost: 0)
    }

    /// The stored bytes, in pieces; empty if they are on disk.
    var pieces: [ByteBuffer] { self.body.pieces }

    var isInMemory: Bool { self.byteCount == 0 || !self.pieces.isEmpty }
}
