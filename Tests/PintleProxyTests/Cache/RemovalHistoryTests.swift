// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleCacheStore
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import PintleProxy

/// Removals while a folder is closed, and by requests of earlier configurations.
struct RemovalHistoryTests {
    private static let urls = (0..<3).map { "http://a.test/\($0)" }
    private let folder: TemporaryFolder
    private let history = RemovalHistory()

    init() throws { self.folder = try TemporaryFolder() }

    /// The cache of a configuration whose memory holds nothing.
    private func cache() -> SharedCache {
        var configuration = CacheConfiguration()
        (configuration.memory, configuration.memoryAfterPurge) = (0, 0)
        return SharedCache(configuration, self.history)
    }

    private func open(_ name: String, for cache: SharedCache) async throws {
        try await cache.openDisk("\(self.folder.path)/\(name)", capacity: 100 << 20) { _ in }
    }

    /// Stores a response for each URL.
    private func fill(_ cache: SharedCache) async {
        let request = RequestHead(method: "GET", target: .origin(path: "/"))
        for url in Self.urls {
            let key = CacheKey(partition: "p", url: url)
            let response = StoredResponse(
                head: ResponseHead(status: 200, fields: ["Cache-Control": "max-age=600"]), requestTime: .now(),
                responseTime: .now(), length: 1, tags: [url])
            let entry = CacheEntry<SharedBody>(response, BodyPieces([ByteBuffer(string: "a")]))
            let number = cache.change(key) { $0.beginSingle() }
            cache.store(entry, for: request, at: key, by: number)
            cache.endObserved(number, at: key)
        }
        await self.settled(cache)
    }

    private func settled(_ cache: SharedCache) async { while cache.pendingBytes > 0 { await Task.yield() } }

    private func purge(_ selection: CacheSelection, from cache: SharedCache) async -> Int {
        await withCheckedContinuation { done in cache.purge(selection) { done.resume(returning: $0) } }
    }

    /// The number of responses in a folder, once it is opened for a new configuration.
    private func count(in name: String) async throws -> Int? {
        let cache = self.cache()
        try await self.open(name, for: cache)
        await self.settled(cache)
        let count = cache.diskUsage?.entries
        await cache.closeDisk()
        return count
    }

    @Test func `what is removed while a folder is closed is not there when it is opened again`() async throws {
        let first = self.cache()
        try await self.open("a", for: first)
        await self.fill(first)
        await first.closeDisk()
        #expect(try await self.count(in: "a") == 3)
        let second = self.cache()
        try await self.open("b", for: second)
        second.invalidate([Self.urls[0]])
        #expect(await self.purge(.tag(Self.urls[1]), from: second) == 0)
        await second.closeDisk()
        #expect(try await self.count(in: "a") == 1)
        // It has them now, and loses nothing by them again.
        let third = self.cache()
        try await self.open("a", for: third)
        await self.fill(third)
        await third.closeDisk()
        #expect(try await self.count(in: "a") == 3)
    }

    @Test func `removals before a folder is opened count, too`() async throws {
        let first = self.cache()
        try await self.open("a", for: first)
        await self.fill(first)
        await first.closeDisk()
        let second = self.cache()
        second.invalidate([Self.urls[0]])
        try await self.open("a", for: second)
        await self.settled(second)
        #expect(second.diskUsage?.entries == 2)
        await second.closeDisk()
    }

    /// During a reload, some loops have the earlier configuration, and others the later one.
    @Test(arguments: [true, false])
    func `requests of one configuration remove what another keeps`(isEarlier: Bool) async throws {
        let caches = [self.cache(), self.cache()]
        let (keeping, asking) = (caches[isEarlier ? 0 : 1], caches[isEarlier ? 1 : 0])
        try await self.open("a", for: keeping)
        await self.fill(keeping)
        #expect(asking.removesFromTier)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            asking.invalidate([Self.urls[0]]) { done.resume() }
        }
        #expect(keeping.diskUsage?.entries == 2)
        #expect(await self.purge(.url(Self.urls[1]), from: asking) == 1)
        await keeping.closeDisk()
        #expect(try await self.count(in: "a") == 1)
    }

    @Test func `more removals than are remembered count as one of everything`() {
        let history = RemovalHistory(most: 4096)
        history.noteClosed("a")
        for number in 0..<4 { history.note(.url("http://a.test/\(number)")) }
        history.note(.url("http://a.test/0"))
        #expect(history.missed(by: "a").count == 4 && history.missed(by: "b").count == 4)
        history.noteClosed("c")
        for number in 0..<100 { history.note(.url("http://b.test/\(number)")) }
        for folder in ["a", "b", "c"] { #expect(history.missed(by: folder) == [.all]) }
        // Nothing before is remembered any more, and there is room.
        history.note(.all)
        history.noteClosed("c")
        #expect(history.missed(by: "c").isEmpty)
        history.note(.tag("x"))
        #expect(history.missed(by: "c") == [.tag("x")])
        history.note(.all)
        #expect(history.missed(by: "c") == [.all])
    }
}
