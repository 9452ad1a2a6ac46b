// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleCacheStore
import PintleMessage
import PintlePolicy
import PintleSystem
import PintleTesting
import Testing

@testable import PintleProxy

/// Responses and removals that come faster than a disk takes them.
@Suite(.timeLimit(.minutes(60))) struct SecondTierTests {
    private typealias Entry = CacheEntry<SharedBody>

    /// A disk that takes no change while it is held, and is read as usual.
    private struct HeldStore: SecondTier {
        final class Gate: Sendable {
            private let state = Locked((isOpen: true, waiting: [CheckedContinuation<Void, Never>]()))

            func close() { self.state.withLock { $0.isOpen = false } }

            func open() {
                let waiting = self.state.withLock { state in
                    state.isOpen = true
                    defer { state.waiting = [] }
                    return state.waiting
                }
                for waiter in waiting { waiter.resume() }
            }

            func pass() async {
                await withCheckedContinuation { waiter in
                    let passes = self.state.withLock { state in
                        if !state.isOpen { state.waiting.append(waiter) }
                        return state.isOpen
                    }
                    if passes { waiter.resume() }
                }
            }
        }

        let store: DiskStore
        let gate: Gate

        var statistics: DiskCache.Statistics { self.store.statistics }

        func find(_ key: CacheKey, choosing choose: @Sendable ([StoredResponse]) -> Int?) async -> DiskEntry? {
            await self.store.find(key, choosing: choose)
        }

        func carryOut(_ change: CacheChange, at key: CacheKey?) async -> Int {
            await self.gate.pass()
            return await self.store.carryOut(change, at: key)
        }

        func takes(_ length: UInt64?) -> Bool { self.store.takes(length) }

        func write(
            _ body: SharedBody, of response: StoredResponse, at key: CacheKey, length: UInt64?,
            done: @escaping @Sendable (DiskCache.Writer?) -> Void
        ) {
            self.store.write(body, of: response, at: key, length: length, done: done)
        }

        func close() async { await self.store.close() }
    }

    private let folder: TemporaryFolder
    /// Open at first.
    private let gate = HeldStore.Gate()
    private static let request = RequestHead(method: "GET", target: .origin(path: "/"))

    private static var entry: Entry {
        Entry(
            StoredResponse(
                head: ResponseHead(status: 200, fields: ["Cache-Control": "max-age=86400"]), requestTime: .now(),
                responseTime: .now(), length: 1),
            BodyPieces([ByteBuffer(string: "a")]))
    }

    init() throws { self.folder = try TemporaryFolder() }

    /// A cache whose memory holds nothing, with a disk.
    private func open() async throws -> (cache: SharedCache, disk: DiskCache) {
        var configuration = CacheConfiguration()
        (configuration.memory, configuration.memoryAfterPurge) = (0, 0)
        let cache = SharedCache(configuration)
        let disk = try await DiskCache.open("\(self.folder.path)/cache", capacity: 100 << 20) { _ in }
        cache.open(HeldStore(store: DiskStore(cache: disk), gate: self.gate))
        return (cache, disk)
    }

    private func key(_ number: Int) -> CacheKey { CacheKey(partition: "p", url: "http://a.test/\(number)") }

    private func store(_ number: Int, in cache: SharedCache) {
        let key = self.key(number)
        let request = cache.change(key) { $0.beginSingle() }
        cache.store(Self.entry, for: Self.request, at: key, by: request)
        cache.endObserved(request, at: key)
    }

    private func find(_ number: Int, in cache: SharedCache) async -> Entry? {
        let key = self.key(number)
        let question = CacheQuestion(Self.request, mode: .protocol, joins: false, isQueued: false)
        let search = cache.change(key) { $0.beginSingle() }
        defer { cache.endSearch(search, at: key) }
        return await withCheckedContinuation { found in
            cache.search(key, search, for: question) { found.resume(returning: $0) }
        }
    }

    private func settled(_ cache: SharedCache) async { while cache.pendingBytes > 0 { await Task.yield() } }

    @discardableResult
    private func purge(_ selection: CacheSelection, in cache: SharedCache) async -> Int {
        await withCheckedContinuation { done in cache.purge(selection) { done.resume(returning: $0) } }
    }

    @Test func `changes that wait take no more memory than they may, however small they are`() async throws {
        let (cache, _) = try await self.open()
        self.gate.close()
        var most = 0
        for number in 0..<60_000 {
            self.store(number, in: cache)
            most = max(most, cache.pendingBytes)
        }
        #expect(most > 31 << 20 && most <= 48 << 20)
        self.gate.open()
        await self.purge(.all, in: cache)
        await cache.closeDisk()
    }

    @Test func `LOOK-67 an older response is not read while a newer one waits to be written`() async throws {
        let (cache, _) = try await self.open()
        for number in 0..<2 { self.store(number, in: cache) }
        await self.settled(cache)
        self.gate.close()
        self.store(0, in: cache)
        #expect(await self.find(0, in: cache) == nil)
        #expect(await self.find(1, in: cache) != nil)
        self.gate.open()
        await self.settled(cache)
        #expect(await self.find(0, in: cache) != nil)
        await cache.closeDisk()
    }

    @Test func `LOOK-67 a body written as it came is reported when the disk answers with it`() async throws {
        let (cache, disk) = try await self.open()
        let key = self.key(0)
        let writer = try await disk.write(
            DiskCache.key(partition: "p", url: key.url), url: key.url, head: Self.entry.response.encoded(), tags: [],
            length: 1)
        try await writer.append(ByteBuffer(string: "a"))
        try await writer.finish()
        let request = cache.change(key) { $0.beginSingle() }
        let isUnsettled = await withCheckedContinuation { told in
            cache.store(Self.entry, for: Self.request, at: key, by: request, writtenBy: writer) {
                told.resume(returning: cache.change(key) { $0.isUnsettled })
            }
        }
        cache.endObserved(request, at: key)
        #expect(!isUnsettled)
        #expect(await self.find(0, in: cache) != nil)
        await cache.closeDisk()
    }

    @Test func `LOOK-67 a response that cannot be written leaves no older one`() async throws {
        let (cache, disk) = try await self.open()
        self.store(0, in: cache)
        await self.settled(cache)
        #expect(disk.statistics.entries == 1)
        // It is longer than the disk takes.
        let key = self.key(0)
        let long = Entry(
            StoredResponse(
                head: ResponseHead(status: 200, fields: ["Cache-Control": "max-age=86400"]), requestTime: .now(),
                responseTime: .now(), length: 30 << 20),
            BodyPieces([ByteBuffer(repeating: 1, count: 30 << 20)]))
        let request = cache.change(key) { $0.beginSingle() }
        cache.store(long, for: Self.request, at: key, by: request)
        cache.endObserved(request, at: key)
        await self.settled(cache)
        #expect(disk.statistics.entries == 0)
        await cache.closeDisk()
    }

    @Test func `LOOK-89 removals cover waiting entries, and others are read meanwhile`() async throws {
        let (cache, _) = try await self.open()
        for number in 0..<2 { self.store(number, in: cache) }
        await self.settled(cache)
        self.gate.close()
        cache.invalidate([self.key(0).url])
        #expect(await self.find(0, in: cache) == nil)
        #expect(await self.find(1, in: cache) != nil)
        self.gate.open()
        self.store(0, in: cache)
        await self.settled(cache)
        #expect(await self.find(0, in: cache) != nil)
        #expect(await self.purge(.prefix("http://a.test/"), in: cache) == 2)
        #expect(await self.find(1, in: cache) == nil)
        await cache.closeDisk()
    }

    @Test func `removals beyond those that can be remembered remove everything`() async throws {
        let (cache, disk) = try await self.open()
        self.store(0, in: cache)
        await self.settled(cache)
        self.gate.close()
        // Removals of other keys, so that this entry is removed only if all entries are. Their URLs are long, so that few suffice.
        let path = String(repeating: "a", count: 8000)
        for number in 1..<5000 { cache.invalidate(["http://a.test/\(path)/\(number)"]) }
        #expect(cache.pendingBytes <= 48 << 20)
        self.gate.open()
        while disk.statistics.entries > 0 { await Task.yield() }
        // Responses are stored again once everything is removed, which is a moment later.
        while disk.statistics.entries == 0 {
            if cache.pendingBytes == 0 { self.store(0, in: cache) }
            await Task.yield()
        }
        await self.settled(cache)
        #expect(await self.find(0, in: cache) != nil)
        await cache.closeDisk()
    }
}
