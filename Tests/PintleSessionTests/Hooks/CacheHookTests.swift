// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// A session's use of a cache; the rules of the cache itself are not tested here.
@Suite(.timeLimit(.minutes(15))) struct CacheHookTests {
    /// Stores every response, but treats it as fresh only for requests that accept any age.
    private final class Dictionary: ResponseCache {
        let entries = Watched<[String: CachedResponse]>([:])
        let asked = Watched<[CachePolicy]>([])
        private let isFresh: Bool

        init(isFresh: Bool = false) { self.isFresh = isFresh }

        @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? {
            self.asked.change { $0.append(policy) }
            guard self.isFresh || policy == .preferCache else { return nil }
            return self.entries.current[request.url.description]
        }

        @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async {
            self.entries.change { $0[request.url.description] = response }
        }
    }

    private let origin: RawOrigin

    init() throws {
        let count = Watched(0)
        self.origin = try PintleTesting.origin { _ in
            answer(200, [], "answer \(count.change { number -> Int in number += 1; return number })")
        }
    }

    private func stage(
        _ cache: Dictionary, policy: CachePolicy = .protocol, hooks: RecordedHooks? = nil
    ) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.cache = cache
        configuration.cachePolicy = policy
        return try SessionStage(configuration: configuration, hooks: hooks)
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)/" }

    @Test func `a response is offered to the cache as it is`() async throws {
        let cache = Dictionary()
        _ = try await self.stage(cache).data(for: request(self.origin.port))
        let entry = try #require(cache.entries.current[self.url])
        #expect(String(buffer: entry.body) == "answer 1" && entry.head.status == 200)
        let hooks = RecordedHooks()
        _ = try await self.stage(cache, hooks: hooks).data(for: request(self.origin.port))
        #expect(cache.entries.current[self.url].map { String(buffer: $0.body) } == "answer 2")
        #expect(hooks.calls.current.contains("cache"))
    }

    @Test func `a response that the hook withholds is not kept`() async throws {
        let cache = Dictionary()
        let stage = try self.stage(cache, hooks: RecordedHooks { $0.cache = { _ in nil } })
        #expect(try await stage.data(for: request(self.origin.port)).text == "answer 1")
        #expect(cache.entries.current.isEmpty)
    }

    @Test func `a response that the hook changes is kept so, and returned as it came`() async throws {
        let cache = Dictionary()
        let hooks = RecordedHooks { answers in
            answers.cache = { response in
                var changed = response
                changed.head.fields.append("X-Kept", "1")
                changed.body = ByteBuffer(string: "changed")
                return changed
            }
        }
        let stage = try self.stage(cache, hooks: hooks)
        let result = try await stage.data(for: request(self.origin.port))
        #expect(result.text == "answer 1" && result.response.fields["X-Kept"] == nil)
        let entry = try #require(cache.entries.current[self.url])
        #expect(String(buffer: entry.body) == "changed" && entry.head.fields["X-Kept"] == "1")
    }

    @Test func `the protocol policy asks the cache what its rules allow`() async throws {
        let fresh = Dictionary(isFresh: true)
        let stage = try self.stage(fresh)
        #expect(try await stage.data(for: request(self.origin.port)).text == "answer 1")
        let task = try stage.session.dataTask(request(self.origin.port))
        task.resume()
        let second = try await task.value()
        #expect(second.text == "answer 1" && second.metrics.transactions.isEmpty)
        #expect(task.progress.fractionReceived == 1 && task.response?.status == 200)
        #expect(fresh.asked.current == [.protocol, .protocol] && self.origin.requests.count == 1)
        let stale = Dictionary()
        for _ in 0..<2 { _ = try await self.stage(stale).data(for: request(self.origin.port)) }
        #expect(self.origin.requests.count == 3)
    }

    @Test func `the other policies pass over the cache, prefer it, or take nothing else`() async throws {
        let cache = Dictionary()
        let stage = try self.stage(cache)
        func ask(_ policy: CachePolicy) async throws -> String {
            var asked = request(self.origin.port)
            asked.cachePolicy = policy
            return try await stage.data(for: asked).text
        }
        let miss = await sessionError { _ = try await ask(.onlyCache) }
        #expect(miss?.code == .cacheMiss && miss?.message.contains("127.0.0.1:\(self.origin.port)") == true)
        #expect(self.origin.requests.isEmpty)
        #expect(try await ask(.preferCache) == "answer 1")
        #expect(try await ask(.preferCache) == "answer 1")
        #expect(try await ask(.onlyCache) == "answer 1")
        #expect(try await ask(.ignoreLocal) == "answer 2")
        // The response fetched without the cache was offered to it.
        #expect(try await ask(.onlyCache) == "answer 2")
        #expect(!cache.asked.current.contains(.ignoreLocal) && !cache.asked.current.contains(.onlyCache))
    }

    @Test func `a request's own policy goes before the configuration's`() async throws {
        let stage = try self.stage(Dictionary(), policy: .onlyCache)
        #expect(await stage.failure(of: request(self.origin.port))?.code == .cacheMiss)
        var asked = request(self.origin.port)
        asked.cachePolicy = .ignoreLocal
        #expect(try await stage.data(for: asked).text == "answer 1")
    }

    @Test func `without a cache only-cache finds nothing`() async throws {
        var asked = request(self.origin.port)
        asked.cachePolicy = .onlyCache
        #expect(try await SessionStage().failure(of: asked)?.code == .cacheMiss)
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `what was sent with a body, streamed or downloaded is neither offered nor asked for`() async throws {
        let cache = Dictionary(isFresh: true)
        let stage = try self.stage(cache)
        let folder = try TemporaryFolder()
        _ = try await stage.data(
            for: request(self.origin.port, method: "POST"), from: .bytes(ByteBuffer(string: "x")))
        _ = try await stage.fetch(request(self.origin.port))
        _ = try await stage.download(request(self.origin.port), to: .file("\(folder.path)/file"))
        #expect(cache.entries.current.isEmpty && cache.asked.current.isEmpty)
    }

    /// Requires every response to be confirmed by its tag, and records changes.
    private final class Tagged: ResponseCache {
        let entry = Watched<CachedResponse?>(nil)
        let changes = Watched<[String]>([])

        @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? {
            guard var known = self.entry.current, let tag = known.head.fields["ETag"] else { return nil }
            known.conditions = ["If-None-Match": tag]
            return known
        }

        @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async {
            self.entry.change { $0 = response }
        }

        @concurrent func invalidate(
            after response: ResponseHead, to request: SessionRequest, requestTime: ContinuousClock.Instant
        ) async {
            self.changes.change { $0.append("\(request.method) \(request.url.path) \(response.status)") }
        }
    }

    @Test func `a response with conditions answers after a 304, and not where only the cache may`() async throws {
        let origin = try PintleTesting.origin { request in
            request["If-None-Match"] == "\"1\"" ? answer(304) : answer(200, ["ETag: \"1\""], "text")
        }
        var configuration = SessionConfiguration()
        configuration.cache = Tagged()
        let offered = Watched(0)
        let hooks = RecordedHooks {
            $0.cache = { response in
                offered.change { $0 += 1 }
                return response
            }
        }
        let stage = try SessionStage(configuration: configuration, hooks: hooks)
        for count in 1...3 {
            let result = try await stage.data(for: request(origin.port))
            #expect(result.text == "text" && result.status == 200 && origin.requests.count == count)
            #expect(result.metrics.transactions.count == 1)
        }
        // The hook is asked only about new responses.
        #expect(offered.current == 1)
        var only = request(origin.port)
        only.cachePolicy = .onlyCache
        #expect(await stage.failure(of: only)?.code == .cacheMiss && origin.requests.count == 3)
    }

    @Test func `the cache hears of every answer to a method that may change something, and of redirects`() async throws
    {
        let origin = try PintleTesting.origin { request in
            request.target == "/see" ? answer(303, ["Location: /seen"]) : answer(request.method == "PUT" ? 500 : 200)
        }
        let cache = Tagged()
        var configuration = SessionConfiguration()
        configuration.cache = cache
        let stage = try SessionStage(configuration: configuration)
        for method in ["DELETE", "HEAD", "OPTIONS", "PUT"] {
            _ = try await stage.fetch(request(origin.port, "/it", method: method))
        }
        _ = try await stage.data(
            for: request(origin.port, "/see", method: "POST"), from: .bytes(ByteBuffer(string: "x")))
        #expect(cache.changes.current == ["DELETE /it 200", "PUT /it 500", "POST /see 303"])
        _ = try await stage.data(for: request(origin.port, "/see"))
        #expect(cache.changes.current.dropFirst(3) == ["GET /see 303"])
    }
}
