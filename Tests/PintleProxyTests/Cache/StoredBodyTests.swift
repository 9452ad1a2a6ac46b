// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleCacheStore
import PintleMessage
import PintleSession
import PintleSystem
import PintleTesting
import Testing

@testable import PintleProxy

/// Bodies that are too long for memory, and go to a disk while they come.
@Suite(.timeLimit(.minutes(15))) struct StoredBodyTests {
    private let folder: TemporaryFolder
    private static let key = CacheKey(partition: "p", url: "http://a.test/long")
    private static let response = StoredResponse(
        head: ResponseHead(status: 200, fields: ["Cache-Control": "max-age=60"]), requestTime: .now(),
        responseTime: .now(), length: 0)

    init() throws { self.folder = try TemporaryFolder() }

    private func open(capacity: UInt64 = 100 << 20) async throws -> DiskStore {
        DiskStore(cache: try await DiskCache.open("\(self.folder.path)/cache", capacity: capacity) { _ in })
    }

    /// A body that goes to the disk, and a stream that reports when it is there, or never will be.
    private func body(
        limit: Int, on disk: DiskStore, length: UInt64? = nil
    ) -> (SharedBody, AsyncStream<DiskCache.Writer?>) {
        let (written, told) = AsyncStream.makeStream(of: DiskCache.Writer?.self)
        let body = SharedBody(limit: limit) { body in
            disk.write(body, of: Self.response, at: Self.key, length: length) { writer in
                told.yield(writer)
                told.finish()
            }
        }
        return (body, written)
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) }
    }

    /// Appends bytes in pieces of any size, as fast as there is room.
    private static func fill(_ body: SharedBody, _ bytes: [UInt8], seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        var rest = bytes[...]
        while !rest.isEmpty {
            let sizes = [1, 100, 5000, 16_384, 65_536, 300_000]
            let piece = rest.prefix(
                Int.random(in: 1...(sizes.randomElement(using: &generator) ?? 1), using: &generator))
            rest = rest.dropFirst(piece.count)
            if body.append(ByteBuffer(bytes: piece)) { continue }
            await withCheckedContinuation { go in body.whenRoom { go.resume() } }
        }
        body.finish(nil)
    }

    /// Waits for the end of writing.
    private static func writer(_ written: AsyncStream<DiskCache.Writer?>) async -> DiskCache.Writer? {
        for await writer in written { return writer }
        return nil
    }

    /// Reads a body to its end.
    private static func read(_ body: SharedBody, _ reader: SharedBody.Reader) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let (signal, wake) = AsyncStream.makeStream(of: Void.self)
            switch body.next(reader, wake: { wake.finish() }) {
            case .piece(let piece): bytes += piece.readableBytesView
            case .wait: for await _ in signal {}
            case .end(nil): return bytes
            case .end(let error?): throw error
            }
        }
    }

    @Test(arguments: [0, 700_000])
    func `who is behind reads from the disk, and holds up nobody`(limit: Int) async throws {
        let disk = try await self.open()
        let (body, written) = self.body(limit: limit, on: disk)
        let bytes = Self.bytes(5_000_003)
        let slow = try #require(body.open())
        let quick = try #require(body.open())
        async let quickly = Self.read(body, quick)
        // Filling ends although one reader does not read at all.
        await Self.fill(body, bytes, seed: Seed.ofThisRun)
        #expect(try await quickly == bytes)
        #expect(await Self.writer(written) != nil && body.begun == nil && body.count == UInt64(bytes.count))
        #expect(!body.close(quick))
        #expect(try await Self.read(body, slow) == bytes)
        // Late readers get all bytes, too.
        let late = try #require(body.open())
        #expect(try await Self.read(body, late) == bytes)
        let middle = try #require(body.open(at: 3_141_592))
        #expect(try await Self.read(body, middle) == Array(bytes[3_141_592...]))
        for reader in [slow, late] { #expect(!body.close(reader)) }
        #expect(body.close(middle) && body.closeIfUnread() && body.open() == nil)
        await disk.close()
    }

    @Test func `readers of any speed get the same bytes`() async throws {
        let disk = try await self.open()
        let (body, _) = self.body(limit: 100_000, on: disk)
        let bytes = Self.bytes(3_000_001)
        let readers = try (0..<20).map { _ in try #require(body.open()) }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for reader in readers {
                group.addTask {
                    try await Self.read(body, reader)
                }
            }
            group.addTask {
                await Self.fill(body, bytes, seed: Seed.ofThisRun)
                return bytes
            }
            for try await read in group { #expect(read == bytes) }
        }
        await disk.close()
    }

    @Test func `where the disk takes no more, the source waits for the slowest reader`() async throws {
        // An entry may take a quarter of it.
        let disk = try await self.open(capacity: 2 << 20)
        let (body, written) = self.body(limit: 0, on: disk)
        let bytes = Self.bytes(2_000_000)
        let slow = try #require(body.open())
        let quick = try #require(body.open())
        let filled = Task { await Self.fill(body, bytes, seed: Seed.ofThisRun) }
        async let quickly = Self.read(body, quick)
        #expect(await Self.writer(written) == nil)
        #expect(body.count < 1_500_000)
        // Stored bytes are read from the disk, and the rest from memory.
        #expect(try await Self.read(body, slow) == bytes)
        #expect(try await quickly == bytes)
        await filled.value
        await disk.close()
    }

    @Test func `a body that breaks off is stored by nobody, and read to where it breaks off`() async throws {
        let disk = try await self.open()
        let (body, written) = self.body(limit: 0, on: disk)
        let reader = try #require(body.open())
        while body.append(ByteBuffer(repeating: 7, count: 50_000)) {}
        let count = body.count
        body.finish(SessionError(.truncated, "cut"))
        #expect(await Self.writer(written) == nil)
        var read: UInt64 = 0
        while true {
            let (signal, wake) = AsyncStream.makeStream(of: Void.self)
            switch body.next(reader, wake: { wake.finish() }) {
            case .piece(let piece): read += UInt64(piece.readableBytes)
            case .wait: for await _ in signal {}
            case .end(let error):
                #expect(error?.code == .truncated && read == count)
                await disk.close()
                #expect(disk.cache.statistics.entries == 0)
                return
            }
        }
    }

    @Test func `a long answer counts when it is written, and has its length`() async throws {
        let disk = try await self.open()
        let (body, written) = self.body(limit: 0, on: disk)
        let bytes = Self.bytes(1_000_000)
        await Self.fill(body, bytes, seed: Seed.ofThisRun)
        let writer = try #require(await Self.writer(written))
        #expect(await disk.find(Self.key) { _ in 0 } == nil)
        var response = Self.response
        response.length = body.count
        let entry = SharedCache.Entry(response, onDisk: body)
        #expect(!entry.isInMemory)
        let request = RequestHead(method: "GET", target: .origin(path: "/long"))
        _ = await disk.carryOut(.commit(writer, entry, request), at: Self.key)
        let found = try #require(await disk.find(Self.key) { _ in 0 })
        #expect(found.response == response)
        let stored = found.onDisk
        let reader = try #require(stored.body.open(at: 999_990))
        #expect(try await Self.read(stored.body, reader) == Array(bytes.suffix(10)))
        let loaded = try #require(await found.inMemory())
        #expect(loaded.isInMemory && loaded.pieces.flatMap(\.readableBytesView) == bytes)
        await disk.close()
    }
}
