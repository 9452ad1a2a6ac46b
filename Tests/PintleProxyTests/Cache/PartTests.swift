// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleMessage
import PintlePolicy
import Testing

@testable import PintleProxy

/// Parts of answers in the store: their bytes, their number, and removals that come between.
struct PartTests {
    private static let key = CacheKey(partition: "p", url: "http://a.test/")
    private static let times = ExchangeTimes(request: .now(), response: .now())
    private static let whole = Array(0..<200 as Range<UInt8>)

    private func part(_ range: Range<Int>, of length: Int = 200) -> PartialResponse? {
        let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        let head = ResponseHead(
            status: 206, fields: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Content-Range": text])
        return PartialResponse(
            head, to: RequestHead(method: "GET", target: .origin(path: "/"), fields: ["Range": "bytes=0-"]))
    }

    private func join(_ range: Range<Int>, of length: Int = 200, in cache: SharedCache, revoked: Bool = false) throws {
        let bytes = range.map { UInt8(truncatingIfNeeded: $0) }
        let pieces = stride(from: 0, to: bytes.count, by: 7).map {
            ByteBuffer(bytes: bytes[$0..<min($0 + 7, bytes.count)])
        }
        let number = cache.change(Self.key) { $0.beginSingle() }
        if revoked { cache.purge(.url(Self.key.url)) { _ in } }
        cache.store(
            try #require(self.part(range, of: length)), pieces,
            for: RequestHead(method: "GET", target: .origin(path: "/")), at: Self.key, by: number, Self.times,
            mode: .protocol)
        cache.endObserved(number, at: Self.key)
    }

    private func bytes(_ entry: SharedCache.Entry) -> [UInt8] {
        (entry.body.whole ?? []).flatMap { $0.readableBytesView }
    }

    private func ranges(_ cache: SharedCache) -> [Range<UInt64>?] { cache.entries(of: Self.key).map(\.response.range) }

    @Test func `parts become the whole, in whatever order they come, and whatever they share`() throws {
        let cache = SharedCache(CacheConfiguration())
        for range in [150..<160, 0..<50, 40..<60, 100..<200, 70..<90] { try self.join(range, in: cache) }
        #expect(self.ranges(cache) == [70..<90, 100..<200, 0..<60])
        try self.join(55..<120, in: cache)
        let kept = cache.entries(of: Self.key)
        #expect(kept.count == 1 && kept[0].response.isComplete && self.bytes(kept[0]) == Self.whole)
        // From here on the whole is updated.
        try self.join(3..<5, in: cache)
        #expect(cache.entries(of: Self.key).map { self.bytes($0) } == [Self.whole])
    }

    @Test func `what a removal has met is not kept`() throws {
        let cache = SharedCache(CacheConfiguration())
        try self.join(0..<50, in: cache, revoked: true)
        #expect(cache.entries(of: Self.key).isEmpty)
        func isRevoked(_ selection: CacheSelection, tags: [String]? = nil) -> Bool {
            let number = cache.change(Self.key) { $0.beginSingle() }
            defer { cache.endObserved(number, at: Self.key) }
            if let tags { cache.note(tags: tags, at: Self.key, of: number) }
            cache.purge(selection) { _ in }
            return cache.change(Self.key) { $0.isRevoked(number) }
        }
        #expect(isRevoked(.url(Self.key.url)) && !isRevoked(.url("http://a.test/b")) && isRevoked(.all))
        // Before the head has come it may have any key.
        #expect(isRevoked(.tag("x")) && isRevoked(.tag("x"), tags: ["x"]) && !isRevoked(.tag("x"), tags: ["y"]))
    }

    @Test func `bodies at the speed of one client leave half of the memory to others`() {
        var configuration = CacheConfiguration()
        (configuration.memory, configuration.memoryAfterPurge) = (8000, 8000)
        let cache = SharedCache(configuration)
        var passing = (0..<8).map { _ in cache.reserve(1000, isPassing: true) }
        #expect(passing.map { $0?.count ?? 0 } == [1000, 1000, 1000, 1000, 0, 0, 0, 0])
        var others = (0..<8).compactMap { _ in cache.reserve(1000) }
        #expect(others.count == 4)
        others = []
        passing[0] = nil
        let last = cache.reserve(1000, isPassing: true)
        #expect(last?.count == 1000 && cache.reserve(1, isPassing: true) == nil)
    }

    @Test func `small pieces are put together, and long ones stay as they are`() {
        var pieces = BodyPieces()
        for _ in 0..<20_000 { pieces.append(ByteBuffer(bytes: [1])) }
        #expect(pieces.all.count == 2)
        pieces.append(ByteBuffer(repeating: 2, count: 5000))
        #expect(pieces.all.map(\.readableBytes) == [16 << 10, 20_000 - (16 << 10), 5000] && pieces.count == 25_000)
    }

    @Test func `the parts of a URL are few, and no longer than the longest body`() throws {
        var configuration = CacheConfiguration()
        (configuration.memory, configuration.memoryAfterPurge) = (16_000, 16_000)
        let cache = SharedCache(configuration)
        for start in stride(from: 0, to: 5600, by: 800) { try self.join(start..<start + 600, of: 6000, in: cache) }
        #expect(self.ranges(cache) == [4800..<5400, 4000..<4600, 3200..<3800])
    }
}
