// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCacheStore
import PintleCacheTrial
import PintleTesting
import Testing

/// Entries that are written, found, read, changed and removed.
@Suite struct DiskCacheTests {
    private let place: CacheTrialFolder

    init() throws { self.place = try CacheTrialFolder() }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 262_144, 262_145, 700_001])
    func `a body is read as it was written, now and by another process`(length: Int) async throws {
        let body = TrialContent.bytes(3, count: length)
        let cache = try await self.place.open()
        let stored = try await cache.store("http://a/", body, head: [9, 8], tags: ["b", "a", "b"])
        #expect(stored.length == UInt64(length) && stored.tags == ["a", "b"])
        #expect(try await cache.entries(for: "http://a/") == [stored])
        #expect(try await cache.body("http://a/") == body)
        await cache.close()
        let again = try await self.place.open()
        let found = try #require(try await again.entries(for: "http://a/").first)
        #expect(found == stored && found.head == [9, 8])
        #expect(try await again.body(of: found) == body)
        #expect(again.statistics.entries == 1 && again.statistics.bytes > UInt64(length))
        #expect(self.place.told == [])
    }

    @Test func `a part of a body is read from any place, in pieces of at most 256 KiB`() async throws {
        let body = TrialContent.bytes(5, count: 400_000)
        let cache = try await self.place.open()
        let entry = try await cache.store("u", body)
        let reader = try await cache.reader(of: entry)
        for offset in [0, 1, 65_535, 65_536, 100_000, 262_143, 393_215, 393_216, 399_999] {
            for count in [1, 10, 65_536, 70_000, .max] {
                let piece = try await reader.read(offset: UInt64(offset), upTo: count)
                #expect((1...262_144).contains(piece.readableBytes) && piece.readableBytes <= count)
                #expect(Array(piece.readableBytesView) == Array(body[offset..<offset + piece.readableBytes]))
            }
            #expect(try await reader.rest(from: UInt64(offset)) == Array(body[offset...]))
        }
        #expect(try await reader.read(offset: 400_000).readableBytes == 0)
        #expect(try await reader.read(offset: .max).readableBytes == 0)
    }

    @Test func `what is written of an entry can be read before it counts, and when it was given up`() async throws {
        let body = TrialContent.bytes(7, count: 300_000)
        let cache = try await self.place.open()
        let writer = try await cache.write("u", url: "u", head: [1])
        // Bytes that do not fill a block are not written yet.
        #expect(try await writer.append(ByteBuffer(bytes: body[..<65_535])) == 0)
        #expect(await code { () throws(DiskCacheError) in _ = try await writer.read(offset: 0) } == .damagedEntry)
        #expect(try await writer.append(ByteBuffer(bytes: body[65_535..<200_000])) == 196_608)
        #expect(
            Array(try await writer.read(offset: 70_000, upTo: 100).readableBytesView) == Array(body[70_000..<70_100]))
        #expect(try await writer.append(ByteBuffer(bytes: body[200_000...])) == 262_144)
        try await writer.finish()
        let last = try await writer.read(offset: 299_000)
        #expect(Array(last.readableBytesView) == Array(body[299_000...]))
        writer.abandon()
        while try !self.place.bodies().isEmpty { await Task.yield() }
        #expect(Array(try await writer.read(offset: 0, upTo: 10).readableBytesView) == Array(body[..<10]))
    }

    @Test func `an entry may get its head when its body is known`() async throws {
        let cache = try await self.place.open()
        let writer = try await cache.write("u", url: "u", head: [1])
        try await writer.append(ByteBuffer(bytes: TrialContent.bytes(1, count: 10)))
        try await writer.commit(head: [2, 3])
        #expect(try await cache.entries(for: "u").map(\.head) == [[2, 3]])
    }

    @Test func `an entry is found when it is committed and not before`() async throws {
        let cache = try await self.place.open()
        let writer = try await cache.write("u", url: "u", head: [])
        try await writer.append(ByteBuffer(bytes: TrialContent.bytes(1, count: 200_000)))
        #expect(try await cache.entries(for: "u") == [])
        #expect(try self.place.bodies().count == 1)
        try await writer.commit()
        #expect(try await cache.entries(for: "u").count == 1)
        #expect(await code { () throws(DiskCacheError) in try await writer.append(ByteBuffer(bytes: [1])) } == .gone)
        #expect(await code { () throws(DiskCacheError) in try await writer.commit() } == .gone)
        #expect(try await cache.body("u") == TrialContent.bytes(1, count: 200_000))
    }

    @Test func `an entry that is abandoned, or whose writer is dropped, leaves nothing`() async throws {
        let cache = try await self.place.open()
        let writer = try await cache.write("u", url: "u", head: [])
        try await writer.append(ByteBuffer(bytes: TrialContent.bytes(1, count: 200_000)))
        writer.abandon()
        #expect(await code { () throws(DiskCacheError) in try await writer.commit() } == .gone)
        _ = try await cache.write("v", url: "v", head: [])
        // Closing waits only for the index; another process would remove the leftover files.
        await cache.close()
        #expect(cache.statistics.entries == 0)
        let again = try await self.place.open()
        await again.waitForSweep()
        #expect(try self.place.bodies() == [])
        #expect(try await again.entries(for: "u") == [])
    }

    @Test func `variants of a key come newest first, and a commit may replace some`() async throws {
        let cache = try await self.place.open()
        let first = try await cache.store("u", [1])
        let second = try await cache.store("u", [2])
        #expect(try await cache.entries(for: "u") == [second, first])
        let third = try await cache.store("u", [3], replacing: [first])
        #expect(try await cache.entries(for: "u") == [third, second])
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.reader(of: first) } == .gone)
        #expect(cache.statistics.entries == 2)
        #expect(try self.place.bodies().count == 2)
    }

    @Test func `a key has at most 32 variants, of which the oldest go`() async throws {
        let cache = try await self.place.open()
        for number in 0..<40 { try await cache.store("u", [UInt8(number)]) }
        let entries = try await cache.entries(for: "u")
        #expect(entries.count == DiskCache.Limits.variants && cache.statistics.entries == entries.count)
        #expect(try await cache.body(of: #require(entries.last)) == [8])
        #expect(try self.place.bodies().count == entries.count)
    }

    @Test func `a head is replaced, and the body stays`() async throws {
        let cache = try await self.place.open()
        let entry = try await cache.store("u", [1, 2], head: [1], tags: ["t"])
        let bytes = cache.statistics.bytes
        let changed = try await cache.updateHead(
            of: entry, to: [UInt8](repeating: 7, count: 5000), tags: entry.tags)
        #expect(try await cache.entries(for: "u") == [changed] && changed.tags == ["t"])
        #expect(try await cache.body(of: changed) == [1, 2])
        #expect(cache.statistics.bytes > bytes + 5000)
        try await cache.remove(changed)
        let gone = await code { () throws(DiskCacheError) in
            try await cache.updateHead(of: entry, to: [], tags: [])
        }
        #expect(gone == .gone && cache.statistics == DiskCache.Statistics())
    }

    @Test func `an entry whose head is replaced is removed by its new tags alone`() async throws {
        let cache = try await self.place.open()
        let entry = try await cache.store("u", [1, 2], tags: ["old", "both"])
        let changed = try await cache.updateHead(of: entry, to: [1], tags: ["new", "both", "new"])
        #expect(changed.tags == ["both", "new"])
        #expect(try await cache.entries(for: "u") == [changed])
        #expect(try await cache.remove(tag: "old") == 0)
        #expect(try await cache.remove(tag: "new") == 1)
        #expect(cache.statistics == DiskCache.Statistics())
    }

    @Test func `keys of partitions and URLs do not collide`() async throws {
        let pairs = [("", "1:ab"), ("1:a", "b"), ("a", "b"), ("ab", ""), ("", "ab"), ("é", "x"), ("e\u{301}", "x")]
        let keys = pairs.map { DiskCache.key(partition: $0, url: $1) }
        #expect(Set(keys.map { Array($0.utf8) }).count == pairs.count)
        let cache = try await self.place.open()
        for (number, key) in keys.enumerated() { try await cache.store("u", [UInt8(number)], key: key) }
        for (number, key) in keys.enumerated() { #expect(try await cache.body(key) == [UInt8(number)], "\(key)") }
    }

    // MARK: Removing

    @Test func `entries are removed one by one, by URL, by prefix, by tag and all together`() async throws {
        let cache = try await self.place.open()
        for (url, tags) in [
            ("http://a/x", ["red", "big"]), ("http://a/y", ["red"]), ("http://a/", []), ("http://b/", ["big"]),
            ("http://c/%_", ["red"]), ("http://c/ab", []),
        ] {
            try await cache.store(url, [1], tags: tags, key: "one \(url)")
            try await cache.store(url, [2], tags: tags, key: "two \(url)")
        }
        #expect(try await cache.remove(url: "http://a/x") == 2)
        #expect(try await cache.remove(url: "http://a/x") == 0)
        #expect(try await cache.remove(prefix: "http://c/%") == 2)
        #expect(try await cache.remove(tag: "red") == 2)
        #expect(try await cache.remove(tag: "small") == 0)
        #expect(try await cache.remove(prefix: "http://a/") == 2)
        let entry = try #require(try await cache.entries(for: "one http://b/").first)
        #expect(try await cache.remove(entry))
        #expect(try await !cache.remove(entry))
        #expect(cache.statistics.entries == 3)
        #expect(try self.place.bodies().count == 3)
        #expect(try await cache.removeAll() == 3)
        #expect(cache.statistics == DiskCache.Statistics())
        #expect(try self.place.bodies() == [])
        #expect(try await cache.removeAll() == 0)
    }

    @Test func `a removal takes many entries, in steps`() async throws {
        let cache = try await self.place.open()
        for number in 0..<450 { try await cache.store("http://a/\(number)", [], tags: ["t"]) }
        #expect(try await cache.remove(tag: "t") == 450)
        #expect(cache.statistics == DiskCache.Statistics())
    }

    @Test(arguments: ["url", "prefix", "tag", "all"])
    func `what is being written when a removal comes is never found`(kind: String) async throws {
        let cache = try await self.place.open()
        let writer = try await cache.write("u", url: "http://a/u", head: [], tags: ["t"])
        let other = try await cache.write("v", url: "http://b/v", head: [])
        try await writer.append(ByteBuffer(bytes: [1]))
        switch kind {
        case "url": try await cache.remove(url: "http://a/u")
        case "prefix": try await cache.remove(prefix: "http://a")
        case "tag": try await cache.remove(tag: "t")
        default: try await cache.removeAll()
        }
        #expect(await code { () throws(DiskCacheError) in try await writer.commit() } == .gone)
        #expect(try await cache.entries(for: "u") == [])
        let code = await code { () throws(DiskCacheError) in try await other.commit() }
        #expect(code == (kind == "all" ? .gone : nil))
    }

    @Test func `a body that is open is read to its end when the entry is gone`() async throws {
        let cache = try await self.place.open()
        let body = TrialContent.bytes(2, count: 500_000)
        let entry = try await cache.store("u", body)
        let reader = try await cache.reader(of: entry)
        let start = try await reader.read(offset: 0)
        #expect(try await cache.removeAll() == 1)
        #expect(try self.place.bodies() == [])
        #expect(try await Array(start.readableBytesView) + reader.rest(from: UInt64(start.readableBytes)) == body)
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.reader(of: entry) } == .gone)
        #expect(self.place.told == [])
    }

    // MARK: Limits

    @Test func `entries beyond the limits are refused in plain words`() async throws {
        let cache = try await self.place.open(capacity: 4 << 20)
        func refusal(_ key: String = "u", head: Int = 0, tags: [String] = [], length: UInt64? = nil) async -> String {
            do throws(DiskCacheError) {
                _ = try await cache.write(
                    key, url: "u", head: [UInt8](repeating: 0, count: head), tags: tags, length: length)
                return "stored"
            } catch {
                return error.code == .tooLarge ? error.description : "\(error.code)"
            }
        }
        let limits = "u is not stored: its head, key, URL or a tag exceeds the cache's limits"
        #expect(await refusal(head: 262_145) == limits)
        #expect(await refusal(String(repeating: "k", count: 65_537)) == limits)
        #expect(await refusal(tags: [String(repeating: "k", count: 65_537)]) == limits)
        #expect(await refusal(tags: (0..<257).map { "\($0)" }) == limits)
        #expect(await refusal(length: .max) == limits)
        #expect(
            await refusal(length: 2 << 20)
                == "u is not stored: it takes more than 1048576 bytes, the most for an entry")
        let writer = try await cache.write("u", url: "u", head: [])
        let code = await code { () throws(DiskCacheError) in
            for _ in 0..<100 { try await writer.append(ByteBuffer(bytes: TrialContent.bytes(1, count: 50_000))) }
        }
        #expect(code == .tooLarge)
        #expect(cache.statistics.entries == 0)
    }

    @Test func `a cache that is closed says so, and closing it twice is nothing`() async throws {
        let cache = try await self.place.open()
        let entry = try await cache.store("u", [1])
        let reader = try await cache.reader(of: entry)
        await cache.close()
        await cache.close()
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.entries(for: "u") } == .closed)
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.store("v", [1]) } == .closed)
        #expect(await code { () throws(DiskCacheError) in try await cache.removeAll() } == .closed)
        #expect(try await reader.rest() == [1])
    }
}
