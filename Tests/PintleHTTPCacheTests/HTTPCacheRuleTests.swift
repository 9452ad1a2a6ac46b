// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleHTTPCache
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The responses with which an HTTPCache answers, by a clock of the test's own.
@Suite struct HTTPCacheRuleTests {
    private let stage = CacheStage()

    @Test func `what is fresh answers with its age, and what is stale only under conditions`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Age": "10"], "text")
        self.stage.pass(20)
        let fresh = try #require(await self.stage.ask("/a"))
        #expect(fresh.text == "text" && fresh.conditions.isEmpty)
        #expect(fresh.head.fields["Age"] == "30" && fresh.head.fields["Content-Length"] == "4")
        self.stage.pass(30)
        let stale = try #require(await self.stage.ask("/a"))
        #expect(stale.conditions.pairs.map(\.name) == ["If-None-Match"] && stale.conditions["If-None-Match"] == "\"1\"")
        #expect(await self.stage.ask("/b") == nil)
    }

    @Test func `the time that a request was under way counts as age`() async throws {
        let asked = ContinuousClock.now - .seconds(100)
        try await self.stage.store("/a", ["Cache-Control": "max-age=60"], "text", requestTime: asked)
        try await self.stage.store("/b", ["Cache-Control": "max-age=160"], "text", requestTime: asked)
        #expect(await self.stage.ask("/a") == nil && self.stage.cache.count == 2)
        #expect(await self.stage.ask("/b")?.head.fields["Age"].flatMap { Int($0) } ?? 0 >= 100)
    }

    @Test func `what is stale and has no validator is for who does not mind its age`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=0"], "text")
        for policy in [CachePolicy.protocol, .ignoreLocal] { #expect(await self.stage.ask("/a", policy) == nil) }
        for policy in [CachePolicy.preferCache, .onlyCache] {
            #expect(await self.stage.ask("/a", policy)?.text == "text")
        }
    }

    @Test(
        arguments: [
            ["Cache-Control": "no-store"], ["Cache-Control": "no-cache"], ["Vary": "*"],
            ["Cache-Control": "max-age=\"1"],
        ] as [Fields])
    func `what must not answer later is not kept, and what was there goes`(fields: Fields) async throws {
        try await self.stage.store("/a", ["ETag": "\"1\""], "old")
        #expect(self.stage.cache.count == 1)
        try await self.stage.store("/a", fields, "new")
        #expect(self.stage.cache.count == 0 && self.stage.cache.usage == 0)
    }

    @Test(arguments: [301, 302, 307, 403, 404, 410] as [UInt16])
    func `what the URL has become removes what it was, though it is not kept itself`(status: UInt16) async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=60"], "old")
        try await self.stage.store("/a", ["Cache-Control": "no-store"], "", status: status)
        #expect(self.stage.cache.count == 0)
    }

    @Test(arguments: [401, 407, 408, 429, 500, 502, 503, 504] as [UInt16])
    func `what is about a request alone, and a failure of the server, leave what is kept`(status: UInt16) async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=60"], "old")
        try await self.stage.store("/a", ["Cache-Control": "no-store"], "", status: status)
        #expect(await self.stage.ask("/a")?.text == "old")
    }

    @Test func `a response that was asked for before the one that is kept changes nothing`() async throws {
        let (fields, earlier): (Fields, _) = (["Cache-Control": "max-age=60"], ContinuousClock.now - .seconds(1))
        try await self.stage.store("/a", fields, "new")
        try await self.stage.store("/a", fields, "old", requestTime: earlier)
        try await self.stage.store("/a", ["Cache-Control": "no-store"], "old", requestTime: earlier)
        #expect(await self.stage.ask("/a")?.text == "new")
        let varying: Fields = ["Cache-Control": "max-age=60", "Vary": "X"]
        try await self.stage.store("/b", varying, "other", request: ["X": "2"])
        try await self.stage.store("/b", varying, "new", request: ["X": "1"])
        try await self.stage.store("/b", fields, "old", request: ["X": "1"], requestTime: earlier)
        #expect(await self.stage.ask("/b", fields: ["X": "1"])?.text == "new")
        #expect(await self.stage.ask("/b", fields: ["X": "2"])?.text == "other")
    }

    @Test(arguments: [false, true])
    func `a response that was asked for before one that is not kept is not kept either`(isStored: Bool) async throws {
        let (fields, earlier): (Fields, _) = (["Cache-Control": "max-age=60"], ContinuousClock.now - .seconds(1))
        if isStored { try await self.stage.store("/a", fields, "first", requestTime: earlier - .seconds(1)) }
        try await self.stage.store("/a", ["Cache-Control": "no-store"], "new")
        try await self.stage.store("/a", fields, "old", requestTime: earlier)
        #expect(await self.stage.ask("/a") == nil && self.stage.cache.count == 0)
        try await self.stage.store("/a", fields, "newest")
        #expect(await self.stage.ask("/a")?.text == "newest")
    }

    @Test func `a response that was asked for before one that was evicted is not kept`() async throws {
        let (fields, earlier): (Fields, _) = (["Cache-Control": "max-age=60"], ContinuousClock.now - .seconds(1))
        let stage = CacheStage(capacity: 1 << 16, preferredUsageAfterPurge: 0)
        try await stage.store("/a", fields, "new")
        var count = 0
        while await stage.ask("/a") != nil {
            count += 1
            try await stage.store("/\(count)", fields, "other")
        }
        try await stage.store("/a", fields, "old", requestTime: earlier)
        #expect(await stage.ask("/a") == nil)
    }

    @Test func `no-store of a request leaves what is kept`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=60"], "old")
        try await self.stage.store("/a", ["Cache-Control": "max-age=60"], "new", request: ["Cache-Control": "no-store"])
        #expect(await self.stage.ask("/a")?.text == "old")
    }

    @Test func `an answer is for requests with the fields that Vary names`() async throws {
        let fields: Fields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
        for language in ["fr", "de"] {
            try await self.stage.store("/a", fields, language, request: ["Accept-Language": language])
        }
        #expect(await self.stage.ask("/a", fields: ["Accept-Language": "fr"])?.text == "fr")
        #expect(await self.stage.ask("/a", fields: ["Accept-Language": "de"])?.text == "de")
        #expect(await self.stage.ask("/a") == nil && self.stage.cache.count == 2)
    }

    @Test func `a new response takes the place of all that its request had matched, whatever they vary by`()
        async throws
    {
        let varying: Fields = ["Cache-Control": "max-age=0", "Vary": "X", "ETag": "\"1\""]
        for value in ["1", "2"] { try await self.stage.store("/a", varying, "old \(value)", request: ["X": value]) }
        #expect(await self.stage.ask("/a", fields: ["X": "1"])?.conditions.isEmpty == false)
        try await self.stage.store("/a", ["Cache-Control": "max-age=600"], "new", request: ["X": "1"])
        #expect(self.stage.cache.count == 2)
        let answer = try #require(await self.stage.ask("/a", fields: ["X": "1"]))
        #expect(answer.text == "new" && answer.conditions.isEmpty)
        #expect(await self.stage.ask("/a", fields: ["X": "2"])?.text == "old 2")
    }

    @Test(arguments: ["Digest username=\"ada\", nonce=\"1\"", "Negotiate YII=", "NTLM TlRM", "negotiate"])
    func `an answer to credentials that are other ones each time is not kept`(value: String) async throws {
        let fields: Fields = ["Cache-Control": "max-age=60"]
        try await self.stage.store("/a", fields, "text", request: ["Authorization": value])
        #expect(self.stage.cache.count == 0)
        try await self.stage.store("/a", fields, "text", request: ["Authorization": "Basic \(value)"])
        #expect(self.stage.cache.count == 1)
    }

    @Test func `an answer to Authorization is for the same one, and to a cookie where Vary says so`() async throws {
        try await self.stage.store(
            "/a", ["Cache-Control": "max-age=60"], "Ada's", request: ["Authorization": "Bearer a"])
        #expect(await self.stage.ask("/a", fields: ["Authorization": "Bearer a"])?.text == "Ada's")
        #expect(await self.stage.ask("/a", fields: ["Authorization": "Bearer b"], .preferCache) == nil)
        #expect(await self.stage.ask("/a", .preferCache) == nil)
        let varying: Fields = ["Cache-Control": "max-age=60", "Vary": "Cookie, Authorization"]
        try await self.stage.store("/b", varying, "Ada's", request: ["Cookie": "user=ada"])
        #expect(await self.stage.ask("/b", fields: ["Cookie": "user=ada"])?.text == "Ada's")
        #expect(await self.stage.ask("/b", fields: ["Cookie": "user=bob"]) == nil)
    }

    @Test func `a request with a Host of its own goes past the cache`() async throws {
        let host: Fields = ["Host": "other.test"]
        try await self.stage.store("/a", ["Cache-Control": "max-age=60"], "other", request: host)
        #expect(self.stage.cache.count == 0)
        try await self.stage.store("/a", ["Cache-Control": "max-age=60"], "text")
        #expect(await self.stage.ask("/a", fields: host, .preferCache) == nil)
    }

    @Test func `a cookie that a response sets is not kept with it`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=60", "Set-Cookie": "a=b"], "text")
        let answer = try #require(await self.stage.ask("/a"))
        #expect(answer.text == "text" && !answer.head.fields.contains("Set-Cookie"))
    }

    @Test func `what may only come from a cache is not validated`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=0", "ETag": "\"1\""], "text")
        let only: Fields = ["Cache-Control": "only-if-cached"]
        #expect(await self.stage.ask("/a")?.conditions.isEmpty == false)
        #expect(await self.stage.ask("/a", fields: only) == nil)
        #expect(await self.stage.ask("/a", fields: only, .preferCache)?.text == "text")
        #expect(await self.stage.ask("/b", fields: only, .onlyCache) == nil)
    }

    @Test func `a request's own conditions and range are judged by what is fresh, and go on where nothing is`()
        async throws
    {
        try await self.stage.store("/a", ["Cache-Control": "max-age=60", "ETag": "\"1\""], "0123456789")
        let unchanged = try #require(await self.stage.ask("/a", fields: ["If-None-Match": "\"1\""]))
        #expect(unchanged.head.status == 304 && unchanged.body.readableBytes == 0)
        let part = try #require(await self.stage.ask("/a", fields: ["Range": "bytes=2-4"]))
        #expect(part.head.status == 206 && part.text == "234" && part.head.fields["Content-Length"] == "3")
        self.stage.pass(100)
        for fields in [["If-None-Match": "\"0\""], ["Range": "bytes=2-4"]] as [Fields] {
            #expect(await self.stage.ask("/a", fields: fields) == nil)
        }
    }

    @Test func `what may be used while it is validated is validated first`() async throws {
        let fields: Fields = ["Cache-Control": "max-age=1, stale-while-revalidate=60", "ETag": "\"1\""]
        try await self.stage.store("/a", fields, "text")
        self.stage.pass(10)
        #expect(await self.stage.ask("/a")?.conditions.isEmpty == false)
    }

    // MARK: Confirmation

    @Test func `a 304 brings a response up to date, and its cookies reach who has asked`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=1", "ETag": "\"1\"", "X": "old", "Y": "y"], "text")
        self.stage.pass(10)
        let stale = try #require(await self.stage.ask("/a"))
        let confirmed = try #require(
            try await self.stage.confirm(
                stale, by: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "X": "new", "Set-Cookie": "a=b"]))
        #expect(confirmed.head.status == 200 && confirmed.text == "text" && confirmed.conditions.isEmpty)
        #expect(confirmed.head.fields["X"] == "new" && confirmed.head.fields["Y"] == "y")
        #expect(confirmed.head.fields["Set-Cookie"] == "a=b" && confirmed.head.fields["Age"] == nil)
        self.stage.pass(50)
        let fresh = try #require(await self.stage.ask("/a"))
        #expect(
            fresh.conditions.isEmpty && fresh.head.fields["X"] == "new" && !fresh.head.fields.contains("Set-Cookie"))
        #expect(self.stage.cache.count == 1)
    }

    @Test func `a response that went meanwhile answers after its 304, and stays away`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=0", "ETag": "\"1\""], "text")
        let stale = try #require(await self.stage.ask("/a"))
        self.stage.cache.removeAll()
        #expect(try await self.stage.confirm(stale, by: ["ETag": "\"1\""])?.text == "text")
        #expect(self.stage.cache.count == 0)
    }

    @Test func `a 304 about another response is none`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=0", "ETag": "\"1\""], "text")
        let stale = try #require(await self.stage.ask("/a"))
        #expect(try await self.stage.confirm(stale, by: ["ETag": "\"2\""]) == nil)
    }

    @Test func `a 304 that forbids to store answers once`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=0", "ETag": "\"1\""], "text")
        let stale = try #require(await self.stage.ask("/a"))
        #expect(try await self.stage.confirm(stale, by: ["Cache-Control": "no-store"])?.text == "text")
        #expect(self.stage.cache.count == 0)
    }

    @Test func `a 304 to a request's own conditions brings up to date what they are about`() async throws {
        try await self.stage.store("/a", ["Cache-Control": "max-age=1", "ETag": "\"1\""], "text")
        self.stage.pass(10)
        try await self.stage.store(
            "/a", ["Cache-Control": "max-age=60", "ETag": "\"1\""], "", status: 304, request: ["If-None-Match": "\"1\""]
        )
        #expect(await self.stage.ask("/a")?.text == "text")
        let other: Fields = ["ETag": "\"2\"", "Content-Range": "bytes 0-0/4"]
        try await self.stage.store("/a", other, "t", status: 206, request: ["Range": "bytes=0-0"])
        #expect(self.stage.cache.count == 0)
    }

    // MARK: Invalidation

    @Test func `a success of an unsafe method removes what its URL and those that it names have`() async throws {
        func keep() async throws {
            for path in ["/a", "/b", "/c"] { try await self.stage.store(path, ["Cache-Control": "max-age=60"], "text") }
        }
        try await keep()
        try await self.stage.invalidate(
            "POST", "/a", 201, ["Location": "/b", "Content-Location": "http://other.test/c"])
        #expect(self.stage.cache.count == 1)
        #expect(await self.stage.ask("/c")?.text == "text")
        try await keep()
        for (method, status) in [("POST", 404), ("PUT", 500), ("OPTIONS", 200)] as [(String, UInt16)] {
            try await self.stage.invalidate(method, "/a", status)
        }
        #expect(self.stage.cache.count == 3)
    }

    @Test func `a URL's responses to all users go, and what was asked for before is not kept after`() async throws {
        let (fields, asked): (Fields, _) = (["Cache-Control": "max-age=60"], ContinuousClock.now)
        for user in ["a", "b"] {
            try await self.stage.store("/a", fields, user, request: ["Authorization": user])
        }
        try await self.stage.store("/b", fields, "text")
        #expect(self.stage.cache.remove(try self.stage.url("/a")) && self.stage.cache.count == 1)
        #expect(!self.stage.cache.remove(try self.stage.url("/a")))
        try await self.stage.store("/a", fields, "text", requestTime: asked)
        try await self.stage.store("/b", fields, "text", requestTime: asked)
        #expect(self.stage.cache.count == 1)
        try await self.stage.store("/a", fields, "text")
        #expect(self.stage.cache.count == 2)
        #expect(self.stage.cache.removeAll() && !self.stage.cache.removeAll() && self.stage.cache.usage == 0)
        try await self.stage.store("/b", fields, "text", requestTime: asked)
        #expect(self.stage.cache.count == 0)
    }
}
