// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleMessage
import Testing

@testable import PintleProxy

/// The responses in memory, and their eviction.
struct CacheTableTests {
    private typealias Entry = CacheEntry<SharedBody>

    private static let request = RequestHead(method: "GET", target: .origin(path: "/"))

    private static func entry(_ length: Int, selecting: [SelectingField] = []) -> Entry {
        Entry(
            StoredResponse(
                head: ResponseHead(status: 200), requestTime: .now(), responseTime: .now(), selecting: selecting,
                length: UInt64(length)),
            BodyPieces([ByteBuffer(repeating: 1, count: length)]))
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(partition: "p", url: "http://a.test/\(number)") }

    /// - Returns: the entries that are gone.
    @discardableResult
    private func store(_ entry: Entry, _ number: Int, in table: inout CacheTable) -> [Entry] {
        let hasRoom = entry.cost <= table.room
        return table.change(Self.key(number)) { session in
            let request = session.beginSingle()
            defer { session.endSingle(request) }
            return session.store(entry, for: Self.request, by: request, hasRoom: hasRoom) ?? []
        }
    }

    @Test func `an eviction goes in steps, from the least recently used key, to the preferred usage`() {
        var table = CacheTable(capacity: 10 << 20, preferredUsage: 5 << 20)
        var number = 0
        while !table.beginEviction() {
            self.store(Self.entry(10), number, in: &table)
            number += 1
        }
        #expect(table.count == number && table.usage > 10 << 20 && table.usage < 10 << 20 + 10_000)
        // One is under way.
        let second = table.beginEviction()
        #expect(!second)
        let used = table.entries(of: Self.key(0)).count
        var evicted = 0
        while let step = table.evict() {
            #expect(step.count <= 200)
            evicted += step.count
        }
        #expect(table.count == number - evicted && table.usage <= 5 << 20 && table.usage > 4 << 20)
        let (first, next) = (table.entries(of: Self.key(0)), table.entries(of: Self.key(1)))
        #expect(used == 1 && first.count == 1 && next.isEmpty)
        // The next one may begin.
        for length in [4 << 20, 2 << 20] {
            number += 1
            self.store(Self.entry(length), number, in: &table)
        }
        let begins = table.beginEviction()
        #expect(begins)
    }

    @Test func `until an eviction is over there is an eighth more, at most, and replaced entries go all the same`() {
        var table = CacheTable(capacity: 8 << 20, preferredUsage: 4 << 20)
        for number in 0..<20 { self.store(Self.entry(1 << 20), number, in: &table) }
        #expect(table.usage <= 9 << 20 && table.usage > 7 << 20)
        let count = table.count
        let old = self.store(Self.entry(3 << 20), 0, in: &table)
        let left = table.entries(of: Self.key(0))
        #expect(old.count == 1 && left.isEmpty && table.count == count - 1)
    }

    @Test func `an eviction of everything leaves requests that are under way`() {
        var table = CacheTable(capacity: 8 << 20, preferredUsage: 4 << 20)
        for number in 0..<5 { self.store(Self.entry(1000), number, in: &table) }
        let request = table.change(Self.key(3)) { $0.beginSingle() }
        var gone = 0
        while let step = table.evictAll() { gone += step.count }
        #expect(gone == 5 && table.count == 0 && table.usage == 0)
        #expect(table.keys(of: .all) == [Self.key(3)])
        table.change(Self.key(3)) { $0.endSingle(request) }
        #expect(table.keys(of: .all).isEmpty)
        self.store(Self.entry(1000), 1, in: &table)
        let entries = table.entries(of: Self.key(1))
        #expect(table.count == 1 && entries.count == 1)
    }

    @Test func `LOOK-89 values of fields that Vary names count`() {
        func entry(_ length: Int) -> Entry {
            Self.entry(1, selecting: [SelectingField(name: "x-a", value: [UInt8](repeating: 1, count: length))])
        }
        #expect(entry(64 << 10).cost - entry(0).cost == 64 << 10)
        var table = CacheTable(capacity: 1 << 20, preferredUsage: 1 << 19)
        for number in 0..<100 { self.store(entry(64 << 10), number, in: &table) }
        #expect(table.count < 18 && table.usage >= table.count * 64 << 10)
    }

    @Test func `LOOK-93 a hundred thousand requests of one key are no work that grows with their number`() {
        var table = CacheTable(capacity: 1 << 20, preferredUsage: 1 << 19)
        let key = Self.key(0)
        let numbers = (0..<100_000).map { _ in table.change(key) { $0.beginSingle() } }
        self.store(Self.entry(10), 0, in: &table)
        for number in numbers { table.change(key) { $0.endSingle(number) } }
        #expect(table[key]?.isBusy == false)
    }
}
