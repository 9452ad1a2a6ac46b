// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleCacheStore
import PintleCacheTrial
import PintleDatabase
import PintleTesting
import Testing

/// Disks that give back other bytes than they were given, and folders that others use.
@Suite struct DiskCacheDamageTests {
    private let place: CacheTrialFolder

    init() throws { self.place = try CacheTrialFolder() }

    private var index: String { "\(self.place.path)/index.sqlite" }

    // MARK: Bodies

    /// Magic, version, generation, id and checksum of the header; the first, a middle and the last byte of blocks; and
    /// their checksums.
    @Test(arguments: [
        0, 7, 8, 11, 12, 19, 20, 27, 28, 31, 32, 33, 65_567, 65_568, 65_571, 65_572, 131_107, 131_108, 140_000, 150_043,
    ])
    func `no byte of a damaged body is served, and the entry is gone`(offset: Int) async throws {
        let body = TrialContent.bytes(4, count: 150_000)
        let cache = try await self.place.open()
        let entry = try await cache.store("u", body)
        let file = try #require(try self.place.bodies().first)
        try CacheTrialFolder.damage(file, at: offset)
        var read: [UInt8] = []
        let code = await code { () throws(DiskCacheError) in
            let reader = try await cache.reader(of: entry)
            while true {
                let piece = try await reader.read(offset: UInt64(read.count), upTo: 65_536)
                if piece.readableBytes == 0 { break }
                read += piece.readableBytesView
            }
        }
        #expect(code == .damagedEntry)
        #expect(read == Array(body.prefix(read.count)) && read.count < body.count)
        #expect(try await cache.entries(for: "u") == [])
        #expect(cache.statistics == DiskCache.Statistics())
        #expect(try self.place.bodies() == [])
        #expect(self.place.told == [.entryDamaged(url: "u")])
    }

    @Test(arguments: [0, 31, 32, 40, 65_572, 100_000, 150_043])
    func `a body that was cut off is damaged`(length: Int) async throws {
        let cache = try await self.place.open()
        let entry = try await cache.store("u", TrialContent.bytes(4, count: 150_000))
        truncate(try #require(try self.place.bodies().first), off_t(length))
        let code = await code { () throws(DiskCacheError) in _ = try await cache.body(of: entry) }
        #expect(code == .damagedEntry)
        #expect(try await cache.entries(for: "u") == [])
    }

    @Test func `a body in the place of another, or none, is damaged`() async throws {
        let cache = try await self.place.open()
        let first = try await cache.store("a", TrialContent.bytes(1, count: 1000))
        let second = try await cache.store("b", TrialContent.bytes(2, count: 1000))
        let third = try await cache.store("c", TrialContent.bytes(3, count: 1000))
        let files = try self.place.bodies()
        try FileManager.default.removeItem(atPath: files[0])
        try FileManager.default.copyItem(atPath: files[1], toPath: files[0])
        try FileManager.default.removeItem(atPath: files[2])
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.body(of: first) } == .damagedEntry)
        #expect(try await cache.body(of: second) == TrialContent.bytes(2, count: 1000))
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.body(of: third) } == .damagedEntry)
        #expect(cache.statistics.entries == 1)
    }

    @Test func `blocks that were exchanged are damaged`() async throws {
        let cache = try await self.place.open()
        let entry = try await cache.store("u", TrialContent.bytes(4, count: 131_072))
        let file = URL(fileURLWithPath: try #require(try self.place.bodies().first))
        let bytes = try Data(contentsOf: file)
        let (first, second) = (bytes[32..<65_572], bytes[65_572...])
        try (bytes[..<32] + second + first).write(to: file)
        #expect(await code { () throws(DiskCacheError) in _ = try await cache.body(of: entry) } == .damagedEntry)
    }

    // MARK: The index

    @Test func `a row that was changed is no entry any more`() async throws {
        let changes = [
            "head = zeroblob(3)", "length = length + 1", "length = -1", "url = 'v'", "checksum = 0",
            "length = 'many'", "head = 7", "checksum = NULL || 'x'",
        ]
        for change in changes {
            let cache = try await self.place.open()
            try await cache.store("u", [1, 2])
            try await cache.store("w", [1, 2])
            await cache.close()
            let database = try Database(self.index)
            let changed = try database.write { connection in
                try connection.run("UPDATE OR IGNORE entry SET \(change) WHERE key = 'u'")
                return connection.changes
            }
            database.close()
            let again = try await self.place.open()
            if changed != 0 { #expect(try await again.entries(for: "u") == [], "\(change)") }
            #expect(try await again.body("w") == [1, 2])
            try await again.removeAll()
            await again.close()
        }
    }

    @Test(arguments: ["noise", "short", "text", "zeros", "tables", "rows", "older"])
    func `a damaged index is put aside, said once, and a new one begins without the old files`(
        kind: String
    ) async throws {
        let cache = try await self.place.open()
        for number in 0..<100 { try await cache.store("u\(number)", [1], head: [UInt8](repeating: 1, count: 500)) }
        await cache.close()
        let file = URL(fileURLWithPath: self.index)
        switch kind {
        case "noise": try Data(TrialContent.bytes(1, count: 50_000)).write(to: file)
        case "short": try Data(try Data(contentsOf: file).prefix(5000)).write(to: file)
        case "text": try Data("this is no database".utf8).write(to: file)
        case "zeros": try Data(count: 20_000).write(to: file)
        default:
            let database = try Database(self.index)
            try database.write { connection in
                let changes = [
                    "tables": "DROP TABLE tag", "rows": "DELETE FROM cache", "older": "PRAGMA user_version = 0",
                ]
                try connection.runScript(try #require(changes[kind]))
            }
            database.close()
        }
        let again = try await self.place.open()
        #expect(again.statistics == DiskCache.Statistics())
        let events = self.place.told
        guard case .indexReplaced(let place, _)? = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(FileManager.default.fileExists(atPath: place))
        try await again.store("u1", [2])
        await again.waitForSweep()
        #expect(try self.place.bodies().count == 1)
        #expect(try await again.body("u1") == [2])
        await again.close()
        // The index stays sound.
        #expect(try await self.place.open().body("u1") == [2])
        #expect(self.place.told.count == 1)
    }

    @Test func `an index that is damaged while it is open is replaced, and the cache goes on`() async throws {
        let cache = try await self.place.open()
        for number in 0..<300 { try await cache.store("u\(number)", [1], head: [UInt8](repeating: 1, count: 3000)) }
        let kept = try #require(try await cache.entries(for: "u1").first)
        let reader = try await cache.reader(of: kept)
        let writer = try await cache.write("w", url: "w", head: [])
        // The damage begins after the page that has the size of the file; the journal is damaged, too, since SQLite reads
        // new pages from it.
        for file in [self.index, "\(self.index)-wal"] {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
            let size = try handle.seekToEnd()
            try handle.seek(toOffset: min(4096, size))
            try handle.write(contentsOf: Data(TrialContent.bytes(1, count: max(0, Int(size) - 4096))))
            try handle.close()
        }
        for number in 0..<300 where self.place.told.isEmpty {
            _ = try? await cache.entries(for: "u\(number)")
            _ = try? await cache.store("more \(number)", [1])
        }
        // The first call that notices the damage fails; from then on there is a new index.
        while await code({ () throws(DiskCacheError) in try await cache.store("new", [7]) }) != nil {}
        #expect(try await cache.body("new") == [7])
        let replaced = self.place.told.filter { if case .indexReplaced = $0 { true } else { false } }
        #expect(replaced.count == 1)
        #expect(await code { () throws(DiskCacheError) in try await writer.commit() } == .gone)
        #expect(try await reader.rest() == [1])
        let updated = await code { () throws(DiskCacheError) in
            try await cache.updateHead(of: kept, to: [], tags: [])
        }
        #expect(updated == .gone)
    }

    @Test func `an index of a newer version is refused and left as it is`() async throws {
        try await self.place.open().close()
        let database = try Database(self.index)
        try database.write { try $0.runScript("PRAGMA user_version = 2") }
        database.close()
        let error = await #expect(throws: DiskCacheError.self) { _ = try await self.place.open() }
        #expect(error?.code == .newerVersion)
        #expect(
            error?.description
                == "\(self.index): a newer version of pintle wrote this cache; use that, another folder, or remove this one"
        )
        #expect(self.place.told == [])
    }

    @Test func `an index that names rows which are not there is replaced`() async throws {
        let cache = try await self.place.open()
        for number in 0..<3 { try await cache.store("u\(number)", [1]) }
        await cache.close()
        // The index by URL keeps rows that the table has lost.
        let database = try Database(self.index) { connection in
            try connection.runScript(
                """
                CREATE TEMP TABLE kept AS SELECT * FROM main.sqlite_schema WHERE name = 'entry_by_url';
                DROP TRIGGER entry_removed;
                PRAGMA writable_schema = ON;
                DELETE FROM main.sqlite_schema WHERE name = 'entry_by_url';
                PRAGMA writable_schema = RESET;
                DELETE FROM entry;
                PRAGMA writable_schema = ON;
                INSERT INTO main.sqlite_schema SELECT * FROM kept;
                PRAGMA writable_schema = RESET;
                """)
        }
        database.close()
        let again = try await self.place.open()
        #expect(await code { () throws(DiskCacheError) in try await again.remove(url: "u1") } == .damagedIndex)
        #expect(try await again.remove(url: "u1") == 0)
        try await again.store("u1", [2])
        #expect(try await again.body("u1") == [2])
    }

    @Test func `a removal that cannot be recorded leaves nothing that should be gone`() async throws {
        let cache = try await self.place.open()
        for url in ["a", "b"] { try await cache.store(url, [1]) }
        let (isHeld, mayEnd, path) = (Watched(false), Watched(false), self.index)
        // Another program writes the index.
        Thread.detachNewThread {
            let database = try? Database(path)
            try? database?.write { _ in
                isHeld.change { $0 = true }
                _ = try mayEnd.wait(for: "the removal") { $0 }
            }
            database?.close()
        }
        try await isHeld.reach("the other program") { $0 }
        #expect(await code { () throws(DiskCacheError) in try await cache.remove(url: "a") } == .unusable)
        mayEnd.change { $0 = true }
        for url in ["a", "b"] { #expect(try await cache.entries(for: url) == []) }
        try await cache.store("b", [2])
        await cache.close()
        let again = try await self.place.open()
        #expect(try await again.entries(for: "a") == [])
        #expect(try await again.body("b") == [2])
    }

    // MARK: Orphans

    @Test func `files that no index knows are removed in the background, and others stay`() async throws {
        let cache = try await self.place.open()
        for number in 0..<20 { try await cache.store("u\(number)", [UInt8(number)]) }
        await cache.close()
        let known = try self.place.bodies()
        let generation = URL(fileURLWithPath: known[0]).deletingLastPathComponent().deletingLastPathComponent()
        for number in 0..<2000 {
            let folder = generation.appendingPathComponent(String(format: "%02x", number % 3))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data([1]).write(to: folder.appendingPathComponent(String(1 << 30 + number, radix: 16)))
        }
        let other = generation.deletingLastPathComponent().appendingPathComponent("00000000000000ff/07")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        for number in 0..<700 { try Data([1]).write(to: other.appendingPathComponent("\(number)")) }
        let again = try await self.place.open()
        await again.waitForSweep()
        #expect(try self.place.bodies() == known)
        #expect(!FileManager.default.fileExists(atPath: other.deletingLastPathComponent().path))
        for number in 0..<20 { #expect(try await again.body("u\(number)") == [UInt8(number)]) }
    }

    // MARK: Folders

    @Test func `a folder that another cache has open is refused by the name of its process`() async throws {
        let cache = try await self.place.open()
        let error = await #expect(throws: DiskCacheError.self) { _ = try await self.place.open() }
        #expect(error?.code == .inUse)
        #expect(
            error?.description == "\(self.place.path) is the cache of another process (\(getpid())); "
                + "give each its own folder, or stop that one")
        await cache.close()
    }

    @Test func `a folder that cannot be made is said to be so`() async throws {
        let file = try self.place.folder.write("", to: "file")
        let error = await #expect(throws: DiskCacheError.self) { _ = try await DiskCache.open("\(file)/cache") }
        #expect(error?.code == .device && error?.description == "\(file)/cache cannot be made: not a folder")
    }
}
