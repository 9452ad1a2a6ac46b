// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCacheStore
import PintleCacheTrial
import PintleDatabase
import PintleTesting
import Testing

/// Caches that are full, and caches with many entries.
@Suite struct DiskCacheSizeTests {
    private let place: CacheTrialFolder

    init() throws { self.place = try CacheTrialFolder() }

    @Test func `the disk that a cache takes stays within its capacity, whatever is offered`() async throws {
        let capacity: UInt64 = 8 << 20
        let cache = try await self.place.open(capacity: capacity)
        for number in 0..<1500 as Range<UInt64> {
            let body = TrialContent.bytes(number, count: Int(TrialContent.mix(number) % 40_000))
            try await cache.store("http://offered.test/\(number)", body, head: TrialContent.bytes(number, count: 400))
            #expect(cache.statistics.bytes <= capacity)
        }
        #expect(cache.statistics.bytes > capacity / 2)
        // The journal is beside: it is cut to 2 MiB.
        #expect(try self.place.bytesOnDisk() <= capacity + 2 << 20)
        #expect(try self.place.bodies().count == cache.statistics.entries)
        #expect(try await cache.entries(for: "http://offered.test/0") == [])
        #expect(try await cache.entries(for: "http://offered.test/1499").count == 1)
    }

    @Test func `ever new URLs with nothing behind them leave as many entries as fit`() async throws {
        let capacity: UInt64 = 2 << 20
        let cache = try await self.place.open(capacity: capacity)
        var most = 0
        for number in 0..<3000 {
            try await cache.store("http://offered.test/\(number)", [])
            most = max(most, cache.statistics.entries)
        }
        #expect(most < 500, "each counts for a page of disk and its rows")
        #expect(try self.place.bytesOnDisk() <= capacity + 2 << 20)
    }

    @Test func `whoever was not used for longest is evicted first`() async throws {
        let cache = try await self.place.open(capacity: 1 << 20)
        let body = TrialContent.bytes(1, count: 90_000)
        for number in 0..<10 { try await cache.store("u\(number)", body) }
        // 0 and 1 are used again, the one by being read, the other by getting another head.
        #expect(try await cache.body("u0") == body)
        let second = try #require(try await cache.entries(for: "u1").first)
        try await cache.updateHead(of: second, to: [4], tags: [])
        for number in 10..<16 { try await cache.store("u\(number)", body) }
        var found: [Int] = []
        for number in 0..<16 where try await !cache.entries(for: "u\(number)").isEmpty { found.append(number) }
        #expect(found.prefix(2) == [0, 1] && found.last == 15)
        #expect(Array(found.dropFirst(2)) == Array(18 - found.count..<16), "\(found)")
    }

    @Test func `the order of use is kept when the cache is closed`() async throws {
        let cache = try await self.place.open(capacity: 1 << 20)
        let body = TrialContent.bytes(1, count: 90_000)
        for number in 0..<10 { try await cache.store("u\(number)", body) }
        _ = try await cache.body("u0")
        await cache.close()
        let again = try await self.place.open(capacity: 1 << 20)
        for number in 10..<14 { try await again.store("u\(number)", body) }
        #expect(try await again.entries(for: "u0").count == 1)
        #expect(try await again.entries(for: "u1") == [])
    }

    @Test func `a smaller capacity is kept from the next entry on`() async throws {
        let cache = try await self.place.open(capacity: 16 << 20)
        for number in 0..<40 { try await cache.store("u\(number)", TrialContent.bytes(1, count: 100_000)) }
        await cache.close()
        let again = try await self.place.open(capacity: 1 << 20)
        #expect(again.statistics.entries == 40)
        try await again.store("new", [1])
        #expect(again.statistics.bytes <= 1 << 20)
        #expect(try await again.body("new") == [1])
    }

    @Test func `entries that are being written have room, or are refused`() async throws {
        let cache = try await self.place.open(capacity: 1 << 20)
        try await cache.store("old", TrialContent.bytes(1, count: 200_000))
        var writers: [DiskCache.Writer] = []
        for number in 0..<3 {
            writers.append(try await cache.write("w\(number)", url: "w", head: [], length: 250_000))
        }
        // Nothing else can go: four quarters are promised, if not written.
        #expect(
            await code { () throws(DiskCacheError) in
                for number in 3..<6 {
                    writers.append(try await cache.write("w\(number)", url: "w", head: [], length: 250_000))
                }
            } == .busy)
        #expect(try await cache.entries(for: "old") == [])
        for writer in writers {
            try await writer.append(ByteBuffer(bytes: TrialContent.bytes(2, count: 250_000)))
            try await writer.commit()
        }
        #expect(cache.statistics.entries == writers.count && cache.statistics.bytes <= 1 << 20)
    }

    @Test func `no more than 256 entries are written at a time`() async throws {
        let cache = try await self.place.open()
        var writers: [DiskCache.Writer] = []
        for number in 0..<DiskCache.Limits.writers {
            writers.append(try await cache.write("w\(number)", url: "w", head: []))
        }
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.write("x", url: "x", head: []) } == .busy)
        writers.removeLast().abandon()
        try await cache.store("x", [1])
    }

    /// Opening must not depend on how many entries there are. The rows are put in directly, and there are no files for
    /// them: a start that looked at bodies would find out.
    @Test func `a cache with 100,000 entries is opened without a look at them`() async throws {
        let first = try await self.place.open(capacity: 1 << 30)
        try await first.store("real", [1, 2, 3])
        await first.close()
        let count = 100_000
        let database = try Database("\(self.place.path)/index.sqlite")
        try database.write { connection in
            try connection.run(
                """
                WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                INSERT INTO entry (id, key, url, head, length, cost, used, checksum)
                SELECT n, '0:http://many.test/a/path/of/some/length/' || n, 'http://many.test/' || n,
                    zeroblob(500), 1000, 6000, n, 0 FROM number
                """, [.integer(Int64(count))])
        }
        database.close()
        let cache = try await self.place.open(capacity: 1 << 30)
        #expect(cache.statistics.entries == count + 1)
        #expect(try await cache.body("real") == [1, 2, 3])
        await cache.waitForSweep()
        #expect(cache.statistics.entries == count + 1, "nobody has missed the bodies")
        // One whose row is damaged is removed when it is asked for.
        #expect(try await cache.entries(for: "0:http://many.test/a/path/of/some/length/77") == [])
        #expect(self.place.told == [.entryDamaged(url: "http://many.test/77")])
        #expect(cache.statistics.entries == count)
    }
}
