// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleHTTPCache
import PintleMessage
import PintleSession
import PintleStorage
import PintleTesting
import Testing

/// The memory that an HTTPCache takes.
@Suite struct HTTPCacheCapacityTests {
    private let fields: Fields = ["Cache-Control": "max-age=60"]
    private let body = String(repeating: "x", count: 1024)

    @Test func `the usage is the sum of what responses take, and falls when they go or are replaced`() async throws {
        let stage = CacheStage()
        #expect(stage.cache.usage == 0 && stage.cache.count == 0)
        try await stage.store("/a", self.fields, self.body)
        let one = stage.cache.usage
        #expect(one > 3072 && one < 3424)
        try await stage.store("/b", self.fields, self.body)
        #expect(stage.cache.usage == 2 * one && stage.cache.count == 2)
        try await stage.store("/a", self.fields, "")
        #expect(stage.cache.usage == 2 * one - 1024 && stage.cache.count == 2)
        #expect(stage.cache.remove(try stage.url("/b")) && stage.cache.usage == one - 1024 && stage.cache.count == 1)
        #expect(stage.cache.removeAll() && stage.cache.usage == 0 && stage.cache.count == 0)
    }

    @Test func `above the capacity those that were not used for longest go, down to what is preferred`() async throws {
        let stage = CacheStage()
        try await stage.store("/00", self.fields, self.body)
        let one = stage.cache.usage
        (stage.cache.capacity, stage.cache.preferredUsageAfterPurge) = (10 * one, 6 * one)
        for number in 1..<10 { try await stage.store("/0\(number)", self.fields, self.body) }
        #expect(stage.cache.usage == 10 * one && stage.cache.count == 10)
        _ = await stage.ask("/00")
        try await stage.store("/10", self.fields, self.body)
        #expect(stage.cache.usage == 6 * one && stage.cache.count == 6)
        for (path, isKept) in [("/00", true), ("/01", false), ("/05", false), ("/06", true), ("/10", true)] {
            let kept = await stage.ask(path)
            #expect((kept != nil) == isKept, "\(path)")
        }
    }

    @Test func `a lower capacity purges nothing until the next response, and a negative one counts as none`()
        async throws
    {
        let stage = CacheStage(capacity: -1, preferredUsageAfterPurge: -1)
        #expect(stage.cache.capacity == 0 && stage.cache.preferredUsageAfterPurge == 0)
        try await stage.store("/a", self.fields, self.body)
        #expect(stage.cache.count == 0)
        stage.cache.capacity = 1 << 20
        stage.cache.preferredUsageAfterPurge = .max
        try await stage.store("/a", self.fields, self.body)
        stage.cache.capacity = 40_000
        #expect(stage.cache.count == 1)
        for number in 0..<20 { try await stage.store("/\(number)", self.fields, self.body) }
        #expect(stage.cache.usage <= 40_000 && stage.cache.usage > 35_000)
    }

    @Test func `a response of more than an eighth of the capacity is not kept, and the one that was there goes`()
        async throws
    {
        let stage = CacheStage(capacity: 80_000, preferredUsageAfterPurge: 80_000)
        try await stage.store("/a", self.fields, self.body)
        try await stage.store("/b", self.fields, self.body)
        try await stage.store("/a", self.fields, String(repeating: "x", count: 10_000))
        #expect(stage.cache.count == 1)
        #expect(await stage.ask("/b") != nil)
    }

    @Test func `of a URL's responses to different requests the 32 latest are kept`() async throws {
        let stage = CacheStage()
        for number in 0..<40 {
            try await stage.store(
                "/a", ["Cache-Control": "max-age=60", "Vary": "X"], "\(number)", request: ["X": "\(number)"])
        }
        #expect(stage.cache.count == 32)
        #expect(await stage.ask("/a", fields: ["X": "39"])?.text == "39")
        #expect(await stage.ask("/a", fields: ["X": "7"]) == nil)
    }

    @Test func `a URL's responses to different requests take a quarter of the capacity, the oldest going first`()
        async throws
    {
        let stage = CacheStage()
        let varying: Fields = ["Cache-Control": "max-age=60", "Vary": "X"]
        try await stage.store("/a", varying, self.body, request: ["X": "10"])
        stage.cache.capacity = 4 * 5 * stage.cache.usage
        try await stage.store("/b", self.fields, self.body)
        for number in 11..<30 { try await stage.store("/a", varying, self.body, request: ["X": "\(number)"]) }
        #expect(stage.cache.count == 6)
        for (value, isKept) in [("10", false), ("24", false), ("25", true), ("29", true)] {
            let kept = await stage.ask("/a", fields: ["X": value])
            #expect((kept != nil) == isKept, "\(value)")
        }
        #expect(await stage.ask("/b") != nil)
    }

    @Test func `short field lines and tags count with what holds them`() async throws {
        let stage = CacheStage()
        var lines = self.fields
        for _ in 0..<2000 { lines.append("X", "") }
        try await stage.store("/a", lines, "")
        #expect(stage.cache.usage > 2048 + 2000 * 20)
        #expect(stage.cache.removeAll())
        var tagged = self.fields
        for number in 100..<300 { tagged.append("Cache-Tag", "tag-of-sixteen-\(number)") }
        try await stage.store("/a", tagged, "")
        // A line for each, and a text.
        #expect(stage.cache.usage > 2048 + 200 * (31 + 16) + 200 * (48 + 18))
    }

    @Test(arguments: ["Authorization", "Cookie", "Proxy-Authorization"])
    func `of credentials a digest is kept, however long they are`(name: String) async throws {
        let stages = [CacheStage(), CacheStage()]
        for (stage, count) in zip(stages, [8, 8000]) {
            let value = "Basic " + String(repeating: "x", count: count)
            try await stage.store(
                "/a", ["Cache-Control": "max-age=60", "Vary": name], self.body, request: [name: value])
            #expect(await stage.ask("/a", fields: [name: value]) != nil)
            #expect(await stage.ask("/a", fields: [name: value + "y"]) == nil)
        }
        #expect(stages[0].cache.usage == stages[1].cache.usage)
    }

    @Test func `a slice of a large buffer does not keep the rest of it`() async throws {
        let stage = CacheStage()
        var large = ByteBuffer(repeating: 0x78, count: 1 << 20)
        let read = large.readSlice(length: 1024)
        let slice = try #require(read)
        let request = SessionRequest("GET", try stage.url("/a"))
        await stage.cache.store(
            CachedResponse(head: ResponseHead(status: 200, fields: self.fields), body: slice), to: request)
        #expect(stage.cache.usage < 3424)
        let answer = try #require(await stage.ask("/a"))
        #expect(answer.body == slice && answer.body.storageCapacity == 1024)
    }

    @Test func `thousands of removals are remembered in bounded memory, and none is forgotten`() async throws {
        let stage = CacheStage()
        let asked = ContinuousClock.now
        for number in 0..<5000 { stage.cache.remove(try stage.url("/\(number)")) }
        for path in ["/0", "/4999"] { try await stage.store(path, self.fields, "text", requestTime: asked) }
        #expect(stage.cache.count == 0)
        try await stage.store("/0", self.fields, "text")
        #expect(stage.cache.count == 1)
    }

    @Test func `memory that runs short empties the cache`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n", to: "memory.events")
        let pressure = MemoryPressure(stalls: [], limits: path)
        #expect(pressure.refusals.isEmpty)
        let (emptied, kept) = (HTTPCache(pressure: pressure), HTTPCache(pressure: nil))
        let request = try SessionRequest("GET", "http://origin.test/")
        for cache in [emptied, kept] {
            let head = ResponseHead(status: 200, fields: self.fields)
            await cache.store(CachedResponse(head: head, body: ByteBuffer(string: "text")), to: request)
            #expect(cache.count == 1)
        }
        let happened = Watched(false)
        // The cache has the older subscription, so it is notified before this subscriber.
        let subscription = pressure.whenItRises { happened.change { $0 = true } }
        // The text has the same length, so that a concurrent reader sees either the old counts or the new ones.
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(pwrite(descriptor, "low 0\nhigh 1\n", 13, 0) == 13)
        try await happened.reach("the pressure") { $0 }
        withExtendedLifetime(subscription) {}
        #expect(emptied.count == 0 && emptied.usage == 0 && kept.count == 1)
    }
}
