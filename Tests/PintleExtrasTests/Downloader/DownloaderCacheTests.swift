// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleHTTPCache
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// The values that a downloader keeps, and when it looks for them.
@Suite(.timeLimit(.minutes(15))) struct DownloaderCacheTests {
    /// Asks for a picture and waits for it.
    private func fetch(
        _ stage: PictureStage, _ request: SessionRequest
    ) async throws -> (receipt: DownloadReceipt?, answer: PictureStage.Answer) {
        let count = stage.told.current.count
        let receipt = stage.ask("asked", request)
        let told = try await stage.reach(count + 1)
        return (receipt, try told[count].result.get())
    }

    @Test(arguments: [CachePolicy.protocol, .preferCache, .onlyCache])
    func `IDL-05 a second request is answered by the cache, with the same value and without response and receipt`(
        policy: CachePolicy
    ) async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try PictureStage(cache: PictureCache())
        var asked = request(origin.port, "/a")
        let first = try await self.fetch(stage, asked)
        asked.cachePolicy = policy
        // Told before the call returns.
        #expect(stage.ask("again", asked) == nil && stage.words == ["asked: done", "again: done"])
        let second = try #require(stage.told.current.last?.answer)
        #expect(first.receipt != nil && first.answer.response?.head.status == 200)
        #expect(second.value === first.answer.value && second.response == nil)
        #expect(try await stage.downloader.value(for: asked) === first.answer.value)
        #expect(origin.requests.count == 1)
    }

    @Test func `an auto-purging cache keeps pictures by their URL`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let cache = AutoPurgingCache<CacheIdentifier, Picture>(
            pressure: nil, shouldCache: { url, _ in url.name.hasSuffix("/a") }, cost: { _ in 1 })
        let stage = try PictureStage(cache: cache)
        for _ in 0..<2 {
            for path in ["/a", "/b"] { _ = try await stage.downloader.value(for: request(origin.port, path)) }
        }
        #expect(cache.count == 1 && origin.requests.map(\.target) == ["/a", "/b", "/b"])
    }

    @Test func `IDL-06 a request that passes the cache over is another transfer`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try PictureStage(cache: PictureCache())
        var asked = request(origin.port, "/a")
        let first = try await self.fetch(stage, asked)
        asked.cachePolicy = .ignoreLocal
        let second = try await self.fetch(stage, asked)
        #expect(second.receipt != nil && second.receipt != first.receipt)
        #expect(second.answer.response != nil && second.answer.value !== first.answer.value)
        asked.cachePolicy = nil
        // The newer one has taken the place of the older.
        #expect(try await self.fetch(stage, asked).answer.value === second.answer.value)
        #expect(origin.requests.count == 2)
    }

    @Test func `IDL-07 the cache is asked once per transfer whether it wants a value, and is then given it`()
        async throws
    {
        let origin = try RawOrigin(answering: response("done"))
        for takes in [true, false] {
            let cache = PictureCache(taking: takes)
            let stage = try PictureStage(cache: cache)
            let asked = request(origin.port, "/a")
            let first = try await self.fetch(stage, asked)
            #expect(cache.state.current.offers == 1 && cache.state.current.additions == (takes ? 1 : 0))
            let second = try await self.fetch(stage, asked)
            #expect((second.answer.value === first.answer.value) == takes)
            #expect((second.answer.response == nil) == takes && cache.state.current.offers == (takes ? 1 : 2))
        }
    }

    @Test func `IDL-07 two who wait for one transfer are one offer`() async throws {
        let origin = try HeldOrigin()
        let cache = PictureCache()
        let stage = try PictureStage(cache: cache)
        for name in ["one", "other"] { stage.ask(name, request(origin.origin.port, "/a")) }
        origin.releaseAll()
        try await stage.reach(2)
        #expect(cache.state.current.offers == 1 && cache.state.current.additions == 1)
    }

    @Test func `IDL-07 IDL-26 a cache that says nothing about it is given everything`() async throws {
        final class Everything: DownloadCache {
            let added = Watched<[String]>([])
            func value(for request: SessionRequest) -> String? { nil }
            func add(_ value: String, for request: SessionRequest) { self.added.change { $0.append(value) } }
        }
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        let cache = Everything()
        let texts = Downloader(try HTTPSession(stage.session), as: TextResponseSerializer(), cache: cache)
        #expect(try await texts.value(for: request(origin.port)) == "done")
        #expect(cache.added.current == ["done"])
    }

    @Test func `IDL-11 what was cancelled is not kept`() async throws {
        let origin = try HeldOrigin()
        let cache = PictureCache()
        let stage = try PictureStage(cache: cache)
        let receipt = try #require(stage.ask("a", request(origin.origin.port, "/a")))
        try await origin.origin.reachRequests(1)
        stage.downloader.cancel(receipt)
        origin.releaseAll()
        _ = try? await receipt.task.value()
        // Another one whose end comes later.
        _ = try await self.fetch(stage, request(origin.origin.port, "/b"))
        #expect(cache.state.current.pictures.keys.map(\.path) == ["/b"] && cache.state.current.offers == 1)
    }

    @Test func `an error is not kept`() async throws {
        let origin = try RawOrigin(answering: answer(404, [], "gone"))
        let cache = PictureCache()
        let stage = try PictureStage(cache: cache)
        #expect(await sessionError { _ = try await stage.downloader.value(for: request(origin.port)) } != nil)
        #expect(cache.state.current.offers == 0 && cache.state.current.pictures.isEmpty)
    }

    @Test func `IDL-23 without a cache every request is a transfer`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try PictureStage()
        let first = try await self.fetch(stage, request(origin.port))
        let second = try await self.fetch(stage, request(origin.port))
        #expect(first.answer.value !== second.answer.value && origin.requests.count == 2)
    }

    @Test(arguments: ["HEAD", "POST"]) func `the cache is for GET alone`(method: String) async throws {
        let origin = try RawOrigin(answering: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let cache = PictureCache()
        let stage = try PictureStage(cache: cache)
        _ = try await self.fetch(stage, request(origin.port, method: method))
        #expect(cache.state.current.lookups == 0 && cache.state.current.offers == 0)
    }

    @Test func `IDL-24 the session's cache of responses is a layer of its own`() async throws {
        final class Responses: ResponseCache {
            let stored = Watched<CachedResponse?>(nil)
            func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? {
                self.stored.current
            }
            func store(_ response: CachedResponse, to request: SessionRequest) async {
                self.stored.change { $0 = response }
            }
        }
        let origin = try RawOrigin(answering: response("done"))
        var configuration = SessionConfiguration()
        let responses = Responses()
        configuration.cache = responses
        let values = PictureCache(taking: false)
        let stage = try PictureStage(cache: values, configuration: configuration)
        var asked = request(origin.port)
        let first = try await self.fetch(stage, asked)
        try await responses.stored.reach("the response") { $0 != nil }
        // No value is kept, so there is a transfer, which the session answers without the origin.
        let second = try await self.fetch(stage, asked)
        #expect(second.receipt != nil && second.answer.response != nil && second.answer.value !== first.answer.value)
        #expect(origin.requests.count == 1)
        asked.cachePolicy = .onlyCache
        #expect(try await self.fetch(stage, asked).answer.value.text == "done" && origin.requests.count == 1)
    }

    @Test func `IDL-24 a downloader's cache and the session's HTTPCache are two layers`() async throws {
        let count = Watched(0)
        let origin = try origin { _ in
            answer(
                200, ["Cache-Control: max-age=600"], "\(count.change { number -> Int in number += 1; return number })")
        }
        var configuration = SessionConfiguration()
        configuration.cache = HTTPCache(pressure: nil)
        let stage = try PictureStage(cache: PictureCache(taking: false), configuration: configuration)
        let first = try await stage.downloader.value(for: request(origin.port, "/a"))
        let second = try await stage.downloader.value(for: request(origin.port, "/a"))
        #expect(first !== second && first.text == "1" && second.text == "1" && origin.requests.count == 1)
    }
}
