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

    private let folder: TemporaryFolder
    /// Open at first.
    private let gate = HeldStore.Gate()
    /// Open at first.
    private let reading = HeldStore.Gate()
    private static let request = RequestHead(method: "GET", target: .origin(path: "/"))

    private static var entry: Entry { Self.entry(with: [:]) }

    private static func entry(
        with more: Fields, selecting: [SelectingField] = [], tags: [String] = []
    ) -> Entry {
        var fields: Fields = ["Cache-Control": "max-age=86400"]
        for (name, value) in more.pairs { fields.append(name, value) }
        let response = StoredResponse(
            head: ResponseHead(status: 200, fields: fields), requestTime: .now(), responseTime: .now(),
            selecting: selecting, length: 1, tags: tags)
        return Entry(response, BodyPieces([ByteBuffer(string: "a")]))
    }

    init() throws { self.folder = try TemporaryFolder() }

    /// A cache whose memory holds nothing, with a disk.
    private func open() async throws -> (cache: SharedCache, disk: DiskCache) {
        var configuration = CacheConfiguration()
        (configuration.memory, configuration.memoryAfterPurge) = (0, 0)
        return try await self.open(configuration)
    }

    private func open(_ configuration: CacheConfiguration) async throws -> (cache: SharedCache, disk: DiskCache) {
        let cache = SharedCache(configuration)
        let disk = try await DiskCache.open("\(self.folder.path)/cache", capacity: 100 << 20) { _ in }
        cache.open(HeldStore(store: DiskStore(cache: disk), gate: self.gate, reading: self.reading))
        return (cache, disk)
    }

    private func key(_ number: Int) -> CacheKey { CacheKey(partition: "p", url: "http://a.test/\(number)") }

    private func store(_ number: Int, _ entry: Entry? = nil, in cache: SharedCache) {
        let key = self.key(number)
        let request = cache.change(key) { $0.beginSingle() }
        cache.store(entry ?? Self.entry, for: Self.request, at: key, by: request)
        cache.endObserved(request, at: key)
    }

    /// Lets the head of a response to HEAD go past what is stored.
    private func pass(_ fields: Fields, _ number: Int, in cache: SharedCache) {
        let key = self.key(number)
        let request = cache.change(key) { $0.beginSingle() }
        cache.update(
            by: ResponseHead(status: 200, fields: fields), to: RequestHead(method: "HEAD", target: .origin(path: "/")),
            at: key, by: request, ExchangeTimes(request: .now(), response: .now()), mode: .protocol)
        cache.endObserved(request, at: key)
    }

    /// Begins a search.
    ///
    /// - Returns: a task that ends with it, and returns the response if its result counts.
    private func search(_ number: Int, in cache: SharedCache) -> Task<Entry?, Never> {
        let key = self.key(number)
        let question = CacheQuestion(Self.request, mode: .protocol, joins: false, isQueued: false)
        let search = cache.change(key) { $0.beginSingle() }
        let (results, result) = AsyncStream.makeStream(of: Entry?.self)
        cache.search(key, search, for: question) { entry in
            result.yield(entry)
            result.finish()
        }
        return Task {
            var found: Entry?
            for await entry in results { found = entry }
            let counts = cache.change(key) { !$0.isOvertaken(search) }
            cache.endSearch(search, at: key)
            return counts ? found : nil
        }
    }

    private func find(_ number: Int, in cache: SharedCache) async -> Entry? {
        await self.search(number, in: cache).value
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
        self.store(0, Self.entry(with: ["X": "new"]), in: cache)
        let search = self.search(0, in: cache)
        // A search of another key does not wait.
        #expect(await self.find(1, in: cache) != nil)
        self.gate.open()
        #expect(await search.value?.response.head.fields.values(of: "X") == ["new"])
        await cache.closeDisk()
    }

    // MARK: Searches during changes

    @Test(arguments: [true, false])
    func `a response is found while the disk compares it with a head that went past it`(isSame: Bool) async throws {
        let (cache, _) = try await self.open()
        self.store(0, Self.entry(with: ["ETag": "\"a\""]), in: cache)
        await self.settled(cache)
        self.gate.close()
        self.pass(["ETag": isSame ? "\"a\"" : "\"b\"", "Cache-Control": "max-age=60", "X": "new"], 0, in: cache)
        let search = self.search(0, in: cache)
        self.gate.open()
        let found = await search.value
        // The head shows that another state is out of date (RFC 9111 §4.3.5).
        #expect(found?.response.head.fields.values(of: "X") == (isSame ? ["new"] : nil))
        await cache.closeDisk()
    }

    @Test func `another variant is found while one is written`() async throws {
        let (cache, _) = try await self.open()
        func variant(_ value: [UInt8]?) -> Entry {
            Self.entry(with: ["Vary": "X-Variant"], selecting: [SelectingField(name: "x-variant", value: value)])
        }
        self.store(0, variant(nil), in: cache)
        await self.settled(cache)
        self.gate.close()
        let key = self.key(0)
        let number = cache.change(key) { $0.beginSingle() }
        let other = RequestHead(method: "GET", target: .origin(path: "/"), fields: ["X-Variant": "b"])
        cache.store(variant(Array("b".utf8)), for: other, at: key, by: number)
        cache.endObserved(number, at: key)
        let search = self.search(0, in: cache)
        self.gate.open()
        #expect(await search.value?.response.selecting == [SelectingField(name: "x-variant", value: nil)])
        await cache.closeDisk()
    }

    @Test func `a response that was read before a head went past it is neither given nor kept`() async throws {
        var configuration = CacheConfiguration()
        (configuration.memory, configuration.memoryAfterPurge) = (1 << 20, 1 << 20)
        let (cache, _) = try await self.open(configuration)
        self.store(0, Self.entry(with: ["ETag": "\"a\""]), in: cache)
        await self.settled(cache)
        let key = self.key(0)
        _ = cache.change(key) { $0.evict() }
        self.reading.close()
        let search = self.search(0, in: cache)
        while !self.reading.isWaitedAt { await Task.yield() }
        self.pass(["ETag": "\"b\""], 0, in: cache)
        self.reading.open()
        #expect(await search.value == nil)
        #expect(cache.entries(of: key).isEmpty)
        await self.settled(cache)
        #expect(await self.find(0, in: cache) == nil)
        await cache.closeDisk()
    }

    @Test func `a removal by tag that is carried out while the disk is read covers what was read`() async throws {
        let (cache, _) = try await self.open()
        self.store(0, Self.entry(with: [:], tags: ["a"]), in: cache)
        await self.settled(cache)
        self.gate.close()
        self.reading.close()
        let (counts, count) = AsyncStream.makeStream(of: Int.self)
        cache.purge(.tag("a")) { removed in
            count.yield(removed)
            count.finish()
        }
        let search = self.search(0, in: cache)
        while !self.reading.isWaitedAt { await Task.yield() }
        self.gate.open()
        for await removed in counts { #expect(removed == 1) }
        self.reading.open()
        #expect(await search.value == nil)
        await cache.closeDisk()
    }

    @Test func `a search does not wait for a disk that has fallen far behind`() async throws {
        let (cache, _) = try await self.open()
        self.gate.close()
        for number in 0...SharedCache.mostJobsBeforeSearch + 1 { self.store(number, in: cache) }
        #expect(await self.find(0, in: cache) == nil)
        self.gate.open()
        await self.settled(cache)
        #expect(await self.find(0, in: cache) != nil)
        await cache.closeDisk()
    }

    @Test func `a search whose changes are dropped because everything is removed ends`() async throws {
        let (cache, _) = try await self.open()
        self.gate.close()
        for number in 0..<3 { self.store(number, in: cache) }
        let search = self.search(2, in: cache)
        cache.purge(.all) { _ in }
        self.gate.open()
        #expect(await search.value == nil)
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

    @Test func `a removal by a request is over before the changes that wait, which then bring nothing back`()
        async throws
    {
        let (cache, disk) = try await self.open()
        self.store(0, in: cache)
        await self.settled(cache)
        self.gate.close()
        for number in [1, 0, 0] { self.store(number, in: cache) }
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        cache.invalidate([self.key(0).url]) {
            // The stores wait.
            end.yield(cache.pendingBytes > 0)
            end.finish()
        }
        self.gate.open()
        for await isEarly in ends { #expect(isEarly) }
        await self.settled(cache)
        #expect(await self.find(0, in: cache) == nil)
        #expect(await self.find(1, in: cache) != nil)
        #expect(disk.statistics.entries == 1)
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
