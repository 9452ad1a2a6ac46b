// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleHTTPCache
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// A session with an HTTPCache, and the requests that an origin sees of it.
@Suite(.timeLimit(.minutes(15))) struct HTTPCacheTests {
    private let cache = HTTPCache(pressure: nil)

    private func stage(
        hooks: RecordedHooks? = nil, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.cache = self.cache
        change(&configuration)
        return try SessionStage(configuration: configuration, hooks: hooks)
    }

    /// An origin that numbers its answers, and adds the fields in the path: `/a?name:value`.
    private func numberingOrigin() throws -> RawOrigin {
        let count = Watched(0)
        return try origin { request in
            let fields = request.target.split(separator: "?").dropFirst().map { $0.replacing(":", with: ": ") }
            return answer(
                200, fields.map(String.init), "\(count.change { number -> Int in number += 1; return number })")
        }
    }

    @Test func `what is fresh is answered without a request`() async throws {
        let origin = try self.numberingOrigin()
        let stage = try self.stage()
        let asked = request(origin.port, "/a?Cache-Control:max-age=600")
        #expect(try await stage.data(for: asked).text == "1")
        let task = try stage.session.dataTask(asked)
        task.resume()
        let second = try await task.value()
        #expect(second.text == "1" && second.metrics.transactions.isEmpty && second.response.fields["Age"] != nil)
        #expect(task.progress.fractionReceived == 1 && task.response?.status == 200)
        #expect(try await stage.data(for: request(origin.port, "/b?Cache-Control:max-age=600")).text == "2")
        #expect(origin.requests.count == 2 && self.cache.count == 2 && self.cache.usage > 2048)
    }

    @Test func `what is stale is validated, and fresh again after a 304 that says so`() async throws {
        let origin = try origin { request in
            guard request["If-None-Match"] == "\"1\"" else {
                return answer(200, ["Cache-Control: max-age=0", "ETag: \"1\""], "text")
            }
            let age = request["X"] == nil ? 0 : 600
            return answer(304, ["Cache-Control: max-age=\(age)", "ETag: \"1\"", "Set-Cookie: a=b"])
        }
        let stage = try self.stage()
        for _ in 0..<2 { #expect(try await stage.data(for: request(origin.port)).text == "text") }
        let confirmed = try await stage.data(for: request(origin.port, fields: ["X": "1"]))
        #expect(confirmed.text == "text" && confirmed.status == 200 && confirmed.metrics.transactions.count == 1)
        #expect(confirmed.response.fields["Set-Cookie"] == "a=b")
        #expect(origin.requests.count == 3)
        #expect(try await stage.data(for: request(origin.port)).text == "text" && origin.requests.count == 3)
    }

    @Test func `a date validates what has no tag`() async throws {
        let date = "Thu, 01 Jan 2026 00:00:00 GMT"
        let origin = try origin { request in
            request["If-Modified-Since"] == date
                ? answer(304) : answer(200, ["Cache-Control: no-cache", "Last-Modified: \(date)"], "text")
        }
        let stage = try self.stage()
        for count in 1...3 {
            #expect(try await stage.data(for: request(origin.port)).text == "text" && origin.requests.count == count)
        }
        #expect(origin.requests.map { $0["If-Modified-Since"] } == [nil, date, date])
    }

    @Test func `a new response in answer to a validation takes the place of the old one`() async throws {
        let count = Watched(0)
        let origin = try origin { _ in
            let number = count.change { number -> Int in
                number += 1; return number
            }
            return answer(200, ["Cache-Control: max-age=\(number == 2 ? 600 : 0)", "ETag: \"\(number)\""], "\(number)")
        }
        let stage = try self.stage()
        #expect(try await stage.data(for: request(origin.port)).text == "1")
        for _ in 0..<2 { #expect(try await stage.data(for: request(origin.port)).text == "2") }
        #expect(origin.requests.map { $0["If-None-Match"] } == [nil, "\"1\""] && self.cache.count == 1)
    }

    @Test func `after a 304 about something else the origin is asked without conditions`() async throws {
        let origin = try origin { request in
            request["If-None-Match"] == nil
                ? answer(200, ["Cache-Control: max-age=0", "ETag: \"1\""], "text") : answer(304, ["ETag: \"2\""])
        }
        let stage = try self.stage()
        for _ in 0..<2 { #expect(try await stage.data(for: request(origin.port)).text == "text") }
        #expect(origin.requests.map { $0["If-None-Match"] } == [nil, "\"1\"", nil])
    }

    @Test func `the policies take what is kept however old it is, pass it over, or take nothing else`() async throws {
        let origin = try self.numberingOrigin()
        let stage = try self.stage()
        func ask(_ policy: CachePolicy) async throws -> String {
            var asked = request(origin.port, "/a?Cache-Control:max-age=0")
            asked.cachePolicy = policy
            return try await stage.data(for: asked).text
        }
        #expect(await sessionError { _ = try await ask(.onlyCache) }?.code == .cacheMiss)
        #expect(origin.requests.isEmpty)
        for _ in 0..<2 { #expect(try await ask(.preferCache) == "1") }
        #expect(try await ask(.protocol) == "2")
        #expect(try await ask(.onlyCache) == "2")
        #expect(try await ask(.ignoreLocal) == "3")
        #expect(try await ask(.onlyCache) == "3" && origin.requests.count == 3)
    }

    @Test func `what must be validated each time is a miss where only the cache may answer`() async throws {
        let origin = try origin { _ in answer(200, ["Cache-Control: no-cache", "ETag: \"1\""], "text") }
        let stage = try self.stage()
        _ = try await stage.data(for: request(origin.port))
        var only = request(origin.port)
        only.cachePolicy = .onlyCache
        #expect(await stage.failure(of: only)?.code == .cacheMiss && origin.requests.count == 1)
    }

    @Test func `only-if-cached is answered by the cache or with 504, and is a miss where only the cache may answer`()
        async throws
    {
        let origin = try self.numberingOrigin()
        let stage = try self.stage()
        var asked = request(origin.port, "/a?Cache-Control:max-age=600", fields: ["Cache-Control": "only-if-cached"])
        let result = try await stage.data(for: asked)
        #expect(result.status == 504 && result.metrics.transactions.isEmpty)
        asked.cachePolicy = .onlyCache
        #expect(await stage.failure(of: asked)?.code == .cacheMiss && origin.connections.isEmpty)
        _ = try await stage.data(for: request(origin.port, "/a?Cache-Control:max-age=600"))
        for policy in [CachePolicy.protocol, .onlyCache] {
            asked.cachePolicy = policy
            #expect(try await stage.data(for: asked).text == "1" && origin.requests.count == 1)
        }
    }

    @Test func `a change removes what is kept, and only a success is one`() async throws {
        let origin = try origin { request in
            request.method == "GET"
                ? answer(200, ["Cache-Control: max-age=600"], "text") : answer(request.method == "PUT" ? 409 : 204)
        }
        let stage = try self.stage()
        _ = try await stage.data(for: request(origin.port))
        _ = try await stage.data(for: request(origin.port, method: "PUT"), from: .bytes(ByteBuffer(string: "x")))
        #expect(self.cache.count == 1)
        _ = try await stage.fetch(request(origin.port, method: "DELETE"))
        #expect(self.cache.count == 0)
        _ = try await stage.data(for: request(origin.port))
        #expect(origin.requests.map(\.method) == ["GET", "PUT", "DELETE", "GET"])
    }

    @Test func `a response that was asked for before a change is not kept after it`() async throws {
        let (begun, changed) = (Watched(false), Watched(false))
        let origin = try origin { request in
            guard request.method == "GET" else { return answer(204) }
            begun.change { $0 = true }
            try changed.wait(for: "the change") { $0 }
            return answer(200, ["Cache-Control: max-age=600"], "old")
        }
        let stage = try self.stage()
        async let old = stage.data(for: request(origin.port))
        try await begun.reach("the request") { $0 }
        _ = try await stage.data(for: request(origin.port, method: "DELETE"))
        changed.change { $0 = true }
        #expect(try await old.text == "old" && self.cache.count == 0)
    }

    @Test(arguments: ["302", "404"])
    func `what a reload finds instead of a response lets that answer no more`(status: String) async throws {
        let hasChanged = Watched(false)
        let origin = try origin { request in
            guard request.target == "/a", hasChanged.current else {
                return answer(200, ["Cache-Control: max-age=600"], request.target)
            }
            return answer(Int(status) ?? 0, ["Location: /b", "Cache-Control: no-store"], "gone")
        }
        let stage = try self.stage()
        var asked = request(origin.port, "/a")
        for _ in 0..<2 { #expect(try await stage.data(for: asked).text == "/a" && origin.requests.count == 1) }
        hasChanged.change { $0 = true }
        let found = status == "302" ? "/b" : "gone"
        asked.cachePolicy = .ignoreLocal
        #expect(try await stage.data(for: asked).text == found)
        asked.cachePolicy = .protocol
        #expect(try await stage.data(for: asked).text == found)
        #expect(origin.requests.filter { $0.target == "/a" }.count == 3)
    }

    // MARK: Identity of requests

    @Test func `the cache is asked behind a redirect, and a redirect that it has is followed`() async throws {
        let origin = try origin { request in
            request.target == "/from"
                ? answer(301, ["Location: /to", "Cache-Control: max-age=600"])
                : answer(200, ["Cache-Control: max-age=600"], "there")
        }
        let stage = try self.stage()
        for _ in 0..<2 {
            let result = try await stage.data(for: request(origin.port, "/from"))
            #expect(result.text == "there" && result.url.path == "/to")
        }
        #expect(origin.requests.map(\.target) == ["/from", "/to", "/from"])
        // One that was not to be followed is a response, and is kept.
        var stopping = request(origin.port, "/from")
        stopping.redirects = .never
        #expect(try await stage.data(for: stopping).status == 301)
        #expect(try await stage.data(for: stopping).status == 301)
        #expect(try await stage.data(for: request(origin.port, "/from")).text == "there")
        #expect(origin.requests.count == 4)
    }

    @Test func `requests are kept apart by the fields that Vary names, the session's cookies among them`() async throws
    {
        let origin = try origin { request in
            let fields = ["Cache-Control: max-age=600", "Vary: Cookie, Accept-Language"]
            let cookie = request["Cookie"].map { ["\($0) \(request["Accept-Language"] ?? "")"] } ?? []
            return answer(200, fields, cookie.first ?? "none")
        }
        let jar = CookieJar()
        let stage = try self.stage { $0.cookies = .jar(jar) }
        func ask(_ language: String) async throws -> String {
            try await stage.data(for: request(origin.port, fields: ["Accept-Language": language])).text
        }
        for _ in 0..<2 { #expect(try await ask("fr") == "none") }
        jar.set("user=ada", from: try HTTPURL("http://127.0.0.1:\(origin.port)/"))
        for _ in 0..<2 { #expect(try await ask("fr") == "user=ada fr") }
        for _ in 0..<2 { #expect(try await ask("de") == "user=ada de") }
        #expect(origin.requests.count == 3)
    }

    @Test func `what interceptors put into a request counts, and one user's answers are no other's`() async throws {
        let origin = try origin { request in
            answer(200, ["Cache-Control: max-age=600"], request["Authorization"] ?? "none")
        }
        let stage = try self.stage()
        for user in ["ada", "bob"] {
            var client = try HTTPSession(stage.session)
            client.interceptors = [
                Interceptor { $0.adapt = { request, _ in request.fields.set("Authorization", "Bearer \(user)") } }
            ]
            for _ in 0..<2 {
                let text = try await client.get("http://127.0.0.1:\(origin.port)/me").text
                #expect(text == "Bearer \(user)")
            }
        }
        #expect(origin.requests.count == 2)
    }

    @Test func `credentials that a challenge asks for lead to what is kept`() async throws {
        let origin = try origin { request in
            request["Authorization"] == nil
                ? answer(401, ["WWW-Authenticate: Basic realm=\"r\""])
                : answer(200, ["Cache-Control: max-age=600"], "secret")
        }
        let credential = try Credential(user: "ada", password: "x")
        let stage = try self.stage(hooks: RecordedHooks { $0.challenge = { _ in .use(credential) } })
        for _ in 0..<2 { #expect(try await stage.data(for: request(origin.port)).text == "secret") }
        #expect(origin.requests.map { $0["Authorization"] != nil } == [false, true, false])
    }

    @Test func `a body is kept without its coding, for every request that is answered so`() async throws {
        let plain = [UInt8].pattern(10_000)
        let origin = try CodedOrigin(
            Coding.gzip.encode(plain), "Content-Encoding: gzip", "Cache-Control: max-age=600", "Vary: Accept-Encoding")
        let stage = try self.stage()
        for _ in 0..<2 {
            let result = try await stage.data(for: request(origin.port))
            #expect(
                Array(result.body.readableBytesView) == plain && !result.response.fields.contains("Content-Encoding"))
        }
        #expect(origin.requests.count == 1)
        var coded = request(origin.port)
        coded.decompression = .off
        #expect(try await stage.data(for: coded).response.fields["Content-Encoding"] == "gzip")
        #expect(origin.requests.count == 2)
    }

    @Test func `a part is taken of what came as it is, and of what was decoded the origin is asked for`() async throws {
        let plain = [UInt8].pattern(10_000)
        let fields = ["Cache-Control: max-age=600", "ETag: \"1\""]
        let coded = try CodedOrigin(Coding.gzip.encode(plain), "Content-Encoding: gzip", fields[0], fields[1])
        let uncoded = try CodedOrigin(plain, fields[0], fields[1])
        let stage = try self.stage()
        for (origin, count) in [(coded, 2), (uncoded, 1)] {
            #expect(try await Array(stage.data(for: request(origin.port)).body.readableBytesView) == plain)
            let part = try await stage.data(for: request(origin.port, fields: ["Range": "bytes=2-4"]))
            #expect(part.status == (count == 1 ? 206 : 200) && origin.requests.count == count)
        }
    }

    @Test func `a 304 brings no digest of the coded body to what was decoded`() async throws {
        let plain = [UInt8].pattern(10_000)
        let body = try Coding.gzip.encode(plain)
        let origin = try RawOrigin { connection in
            while true {
                let isKnown = try connection.readRequest()["If-None-Match"] != nil
                let fields = "Cache-Control: no-cache\r\nETag: \"1\"\r\nRepr-Digest: sha-256=:AA==:\r\n"
                try connection.send("HTTP/1.1 \(isKnown ? 304 : 200) Said\r\n\(fields)")
                guard !isKnown else {
                    try connection.send("\r\n")
                    continue
                }
                try connection.send("Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n")
                try connection.stream.send(body)
            }
        }
        let stage = try self.stage()
        for count in 1...2 {
            let result = try await stage.data(for: request(origin.port))
            #expect(Array(result.body.readableBytesView) == plain && origin.requests.count == count)
            #expect(!result.response.fields.contains("Repr-Digest") && result.response.fields["ETag"] == "\"1\"")
        }
    }

    @Test func `a response that the hook makes anew was asked for when the one that came was`() async throws {
        let origin = try self.numberingOrigin()
        let hooks = RecordedHooks {
            $0.cache = { [cache = self.cache] response in
                cache.removeAll()
                return CachedResponse(head: response.head, body: response.body)
            }
        }
        let asked = request(origin.port, "/a?Cache-Control:max-age=600")
        #expect(try await self.stage(hooks: hooks).data(for: asked).text == "1")
        #expect(self.cache.count == 0)
    }

    @Test func `what the hook makes of a response is kept, and nothing that it withholds`() async throws {
        let origin = try self.numberingOrigin()
        let hooks = RecordedHooks {
            $0.cache = { response in
                var changed = response
                changed.body = ByteBuffer(string: "changed")
                return response.head.fields.contains("Secret") ? nil : changed
            }
        }
        let stage = try self.stage(hooks: hooks)
        let asked = request(origin.port, "/a?Cache-Control:max-age=600")
        #expect(try await stage.data(for: asked).text == "1")
        #expect(try await stage.data(for: asked).text == "changed")
        let secret = request(origin.port, "/a?Cache-Control:max-age=600?Secret:1")
        #expect(try await stage.data(for: secret).text == "2")
        #expect(try await stage.data(for: secret).text == "3")
    }
}
