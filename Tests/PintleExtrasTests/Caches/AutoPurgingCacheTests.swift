// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleExtras
import PintleMessage
import PintleSerialization
import PintleStorage
import PintleSystem
import PintleTesting
import Testing

/// The cache in memory that purges itself, behaviour by behaviour.
@Suite struct AutoPurgingCacheTests {
    /// A value that is distinguished by its identity.
    private final class Thing: Sendable {
        let cost: Int

        init(_ cost: Int = 1) { self.cost = cost }
    }

    private typealias Things = AutoPurgingCache<CacheIdentifier, Thing>

    private static func things(capacity: Int = 1000, preferred: Int = 600) -> Things {
        Things(capacity: capacity, preferredUsageAfterPurge: preferred, pressure: nil) { $0.cost }
    }

    private static func url(_ text: String) throws -> HTTPURL { try HTTPURL(text) }

    /// The three forms of a key: a name, a URL, and a URL with an addition.
    private static let keys: [CacheIdentifier] = [
        "a name", CacheIdentifier("https://example.test/a"),
        CacheIdentifier("https://example.test/a", addition: "blurred"),
    ]

    private static let image = Bitmap(
        size: ImageSize(width: 850, height: 300), pixels: [UInt8](repeating: 1, count: 850 * 300 * 4))
    private static let imageCost = 1_020_000

    private static func images() -> ImageCache {
        ImageCache(capacity: 10 * self.imageCost, preferredUsageAfterPurge: 6 * self.imageCost, pressure: nil)
    }

    // MARK: Values

    @Test func `CCH-01 what was added is found by the same key`() throws {
        let cache = Self.things()
        let values = Self.keys.map { _ in Thing() }
        for (key, value) in zip(Self.keys, values) { cache.add(value, for: key) }
        for (key, value) in zip(Self.keys, values) { #expect(cache.value(for: key) === value) }
        #expect(try cache.value(for: CacheIdentifier(Self.url("HTTPS://Example.test:443/a#part"))) === values[1])
    }

    @Test func `CCH-02 without its addition, or by another URL, nothing is found`() throws {
        let cache = Self.things()
        cache.add(Thing(), for: Self.keys[2])
        #expect(cache.value(for: Self.keys[1]) == nil)
        #expect(cache.value(for: CacheIdentifier("https://example.test/a", addition: "")) == nil)
        #expect(cache.value(for: CacheIdentifier("https://example.test/b", addition: "blurred")) == nil)
    }

    @Test func `CCH-03 of two values that were added under one key the second is found`() {
        let cache = Self.things()
        let second = Thing()
        cache.add(Thing(), for: "a")
        cache.add(second, for: "a")
        #expect(cache.value(for: "a") === second && cache.count == 1)
    }

    @Test(arguments: AutoPurgingCacheTests.keys)
    func `CCH-04 removing says whether there was a value`(key: CacheIdentifier) {
        let cache = Self.things()
        cache.add(Thing(), for: key)
        #expect(cache.remove(key))
        #expect(!cache.remove(key))
        #expect(cache.value(for: key) == nil)
    }

    @Test func `CCH-05 removing without the addition, or with another one, leaves the value`() {
        let cache = Self.things()
        cache.add(Thing(), for: Self.keys[2])
        #expect(!cache.remove(Self.keys[1]))
        #expect(!cache.remove(CacheIdentifier("https://example.test/a", addition: "round")))
        #expect(cache.value(for: Self.keys[2]) != nil)
    }

    // MARK: Sizes

    @Test func `CCH-06 and CCH-20 a bitmap takes four bytes for each of its pixels`() throws {
        let cache = ImageCache(pressure: nil)
        #expect(cache.usage == 0 && cache.capacity == 104_857_600 && cache.preferredUsageAfterPurge == 62_914_560)
        cache.add(try #require(Self.image), for: "a")
        #expect(cache.usage == Self.imageCost)
        cache.remove("a")
        #expect(cache.usage == 0)
    }

    @Test func `CCH-07 the usage grows up to the capacity, and falls to what is preferred`() throws {
        let cache = Self.images()
        let image = try #require(Self.image)
        for number in 1...10 {
            cache.add(image, for: CacheIdentifier("\(number)"))
            #expect(cache.usage == number * Self.imageCost)
        }
        cache.add(image, for: "11")
        #expect(cache.usage == 6 * Self.imageCost)
    }

    @Test func `CCH-08 those that were not used for longest are purged`() throws {
        let cache = Self.images()
        let image = try #require(Self.image)
        for number in 0..<10 { cache.add(image, for: CacheIdentifier("\(number)")) }
        #expect(cache.value(for: "0") == image)
        cache.add(image, for: "10")
        let found = (0...10).filter { cache.value(for: CacheIdentifier("\($0)")) != nil }
        #expect(found == [0, 6, 7, 8, 9, 10])
    }

    @Test func `CCH-09 anything may be cached`() {
        #expect(Self.things().shouldCache(Thing(), for: "a"))
        #expect(Self.things().shouldCache(Thing(.max), for: ""))
    }

    @Test func `CCH-10 a usage that equals the capacity purges nothing`() {
        let cache = Self.things(capacity: 100, preferred: 10)
        cache.add(Thing(60), for: "a")
        cache.add(Thing(40), for: "b")
        #expect(cache.usage == 100 && cache.count == 2)
        cache.add(Thing(1), for: "c")
        #expect(cache.usage == 1 && cache.value(for: "c") != nil)
    }

    @Test func `CCH-11 a value that takes the place of another is counted instead of it`() {
        let cache = Self.things(capacity: 100, preferred: 50)
        cache.add(Thing(70), for: "a")
        cache.add(Thing(90), for: "a")
        #expect(cache.usage == 90)
        cache.add(Thing(20), for: "a")
        #expect(cache.usage == 20 && cache.count == 1)
    }

    @Test func `CCH-12 a purge takes whole values, down to the preferred usage or below`() {
        let cache = Self.things(capacity: 100, preferred: 50)
        cache.add(Thing(20), for: "a")
        cache.add(Thing(40), for: "b")
        cache.add(Thing(45), for: "c")
        #expect(cache.usage == 45 && cache.value(for: "c") != nil)
    }

    @Test func `CCH-13 a value larger than the capacity goes at once, and all others with it`() {
        let cache = Self.things(capacity: 100, preferred: 50)
        cache.add(Thing(10), for: "a")
        cache.add(Thing(101), for: "b")
        #expect(cache.usage == 0 && cache.count == 0)
    }

    @Test func `CCH-14 a preferred usage above the capacity counts as the capacity`() {
        let cache = Self.things(capacity: 100, preferred: 1000)
        cache.add(Thing(60), for: "a")
        cache.add(Thing(60), for: "b")
        #expect(cache.usage == 60 && cache.value(for: "b") != nil)
        cache.preferredUsageAfterPurge = .max
        cache.add(Thing(60), for: "c")
        #expect(cache.usage == 60 && cache.value(for: "c") != nil)
    }

    @Test func `CCH-15 removing all says whether there was a value`() {
        let cache = Self.things()
        #expect(!cache.removeAll())
        cache.add(Thing(0), for: "a")
        #expect(cache.removeAll())
        #expect(cache.usage == 0 && cache.count == 0 && !cache.removeAll())
    }

    @Test func `CCH-17 a name and its addition are two parts of a key`() {
        let cache = Self.things()
        let (one, other) = (Thing(), Thing())
        cache.add(one, for: CacheIdentifier("http://h/a", addition: "b"))
        cache.add(other, for: CacheIdentifier("http://h/ab"))
        #expect(cache.value(for: CacheIdentifier("http://h/a", addition: "b")) === one)
        #expect(cache.value(for: "http://h/ab") === other)
    }

    @Test func `CCH-18 adding does not ask what should be cached`() {
        let cache = Things(pressure: nil, shouldCache: { key, value in key.name == "a" && value.cost == 1 }) { $0.cost }
        #expect(cache.shouldCache(Thing(), for: "a") && !cache.shouldCache(Thing(), for: "b"))
        cache.add(Thing(2), for: "b")
        #expect(cache.value(for: "b") != nil)
    }

    @Test func `CCH-19 a lower capacity purges nothing until the next value is added`() {
        let cache = Self.things(capacity: 100, preferred: 50)
        for name in ["a", "b", "c"] { cache.add(Thing(30), for: CacheIdentifier(name)) }
        (cache.capacity, cache.preferredUsageAfterPurge) = (40, 35)
        #expect(cache.usage == 90 && cache.value(for: "a") != nil)
        cache.add(Thing(1), for: "d")
        #expect(cache.usage == 31, "a, which was read last, and the new one")
    }

    // MARK: Beyond AFNetworking

    @Test func `costs and sizes below zero count as none, and huge ones do not overflow`() {
        let cache = Self.things(capacity: -1, preferred: -7)
        #expect(cache.capacity == 0 && cache.preferredUsageAfterPurge == 0)
        cache.add(Thing(-5), for: "a")
        #expect(cache.usage == 0 && cache.count == 1)
        cache.capacity = .max
        cache.add(Thing(.max), for: "b")
        #expect(cache.usage == .max)
        cache.add(Thing(.max), for: "c")
        #expect(cache.usage == 0)
        cache.preferredUsageAfterPurge = .max
        cache.add(Thing(.max), for: "d")
        cache.add(Thing(.max), for: "e")
        #expect(cache.usage == .max && cache.value(for: "e") != nil)
    }

    /// Compared with a list that is searched from its beginning.
    @Test func `any order of adding, reading and removing is kept as a plain list keeps it`() {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        let cache = Self.things(capacity: 300, preferred: 200)
        var list: [(key: CacheIdentifier, cost: Int)] = []
        for _ in 0..<20_000 {
            let key = CacheIdentifier("\(Int.random(in: 0..<40, using: &random))")
            let place = list.firstIndex { $0.key == key }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let cost = Int.random(in: 0...30, using: &random)
                if let place { list.remove(at: place) }
                list.append((key, cost))
                cache.add(Thing(cost), for: key)
                if list.reduce(0, { $0 + $1.cost }) > 300 {
                    while list.reduce(0, { $0 + $1.cost }) > 200 { list.removeFirst() }
                }
            case 5..<9:
                if let place { list.append(list.remove(at: place)) }
                #expect((cache.value(for: key) != nil) == (place != nil))
            default:
                if let place { list.remove(at: place) }
                #expect(cache.remove(key) == (place != nil))
            }
            #expect(
                cache.count == list.count && cache.usage == list.reduce(0) { $0 + $1.cost },
                "PINTLE_SEED=\(Seed.ofThisRun)")
        }
    }

    @Test func `many threads at once lose no byte of the account`() async {
        let cache = Self.things(capacity: 5000, preferred: 3000)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for number in 0..<2000 {
                        let key = CacheIdentifier("\((number &* 7 &+ worker) % 500)")
                        switch number % 3 {
                        case 0: cache.add(Thing(number % 50), for: key)
                        case 1: _ = cache.value(for: key)
                        default: cache.remove(key)
                        }
                    }
                }
            }
        }
        let sum = (0..<500).reduce(0) { $0 + (cache.value(for: CacheIdentifier("\($1)"))?.cost ?? 0) }
        #expect(cache.usage == sum && sum <= 5000)
        cache.removeAll()
        #expect(cache.usage == 0)
    }

    @Test func `CCH-16 memory that runs short empties the cache`() async throws {
        let pair = try UrgentPair()
        defer { close(pair.sender) }
        let pressure = try MemoryPressure(stallsOf: pair.receiver)
        let (emptied, kept) = (
            AutoPurgingCache<String, Int>(pressure: pressure) { $0 },
            AutoPurgingCache<String, Int>(pressure: nil) { $0 }
        )
        for cache in [emptied, kept] { cache.add(7, for: "a") }
        let event = Latch()
        let receiver = pair.receiver
        let subscription = pressure.whenItRises {
            // The kernel's own descriptors need no reading.
            var byte: UInt8 = 0
            recv(receiver, &byte, 1, Int32(MSG_OOB))
            event.happen()
        }
        pair.send()
        await event.wait()
        withExtendedLifetime(subscription) {}
        #expect(emptied.usage == 0 && emptied.count == 0 && emptied.value(for: "a") == nil)
        #expect(kept.value(for: "a") == 7)
        emptied.add(8, for: "b")
        #expect(emptied.usage == 8)
    }
}
