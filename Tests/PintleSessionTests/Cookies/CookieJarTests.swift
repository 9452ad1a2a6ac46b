// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// A jar that a program makes, reads, fills and shares.
@Suite(.timeLimit(.minutes(15))) struct CookieJarTests {
    private func stage(_ cookies: SessionConfiguration.Cookies, sharing engine: Engine? = nil) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.cookies = cookies
        return try SessionStage(configuration: configuration, sharing: engine)
    }

    private func echo() throws -> RawOrigin {
        try origin {
            answer(200, ["Set-Cookie: seen=\($0.target.dropFirst())"], $0.head.values("Cookie").joined(separator: "|"))
        }
    }

    @Test func `a jar is filled before the first request, and read after the last`() async throws {
        let (jar, origin) = (CookieJar(), try self.echo())
        try jar.set(Cookie(name: "mine", value: "1", domain: "127.0.0.1"))
        let stage = try self.stage(.jar(jar))
        #expect(try await stage.data(for: request(origin.port, "/x")).text == "mine=1")
        #expect(jar.cookies.map { "\($0.name)=\($0.value)" } == ["mine=1", "seen=x"])
        #expect(stage.session.cookieJar === jar)
        let elsewhere = try HTTPURL("http://localhost:\(origin.port)/")
        #expect(jar.cookies(for: elsewhere).isEmpty && jar.cookies(for: request(origin.port).url).count == 2)
    }

    @Test func `two sessions may share a jar, and a reset leaves it alone`() async throws {
        let (jar, origin) = (CookieJar(), try self.echo())
        let (one, two) = (try self.stage(.jar(jar)), try self.stage(.jar(jar)))
        _ = try await one.data(for: request(origin.port, "/x"))
        await one.session.reset()
        #expect(try await two.data(for: request(origin.port, "/y")).text == "seen=x")
    }

    @Test func `SES-03 sessions of one configuration have jars of their own, unless it names one`() async throws {
        var configuration = SessionConfiguration()
        configuration.cookies = .jar
        let stages = try (0..<2).map { _ in try SessionStage(configuration: configuration) }
        let jars = try stages.map { try #require($0.session.cookieJar) }
        try jars[0].set(Cookie(name: "n", value: "v", domain: "a.example"))
        #expect(jars[0] !== jars[1] && jars[1].cookies.isEmpty)
        #expect(try self.stage(.pass).session.cookieJar == nil && self.stage(.block).session.cookieJar == nil)
        let jar = CookieJar()
        let (named, own): (SessionConfiguration.Cookies, SessionConfiguration.Cookies) = (.jar(jar), .jar)
        #expect(named == .jar(jar) && named != own && own != .pass)
    }

    @Test func `a request's own cookies and the jar's are one field`() async throws {
        let (jar, origin) = (CookieJar(), try self.echo())
        jar.set("a=1", from: request(origin.port).url)
        let stage = try self.stage(.jar(jar))
        let result = try await stage.data(for: request(origin.port, fields: ["Cookie": "own=1"]))
        #expect(result.text == "own=1; a=1")
    }

    @Test func `a line is taken as from a response, and what the host may not set is refused`() throws {
        let (jar, url) = (CookieJar(), try HTTPURL("https://www.a.example/one/two"))
        let cookie = try #require(
            jar.set("n=v; Domain=a.example; Secure; SameSite=Lax; HttpOnly; Max-Age=60", from: url))
        #expect(cookie.domain == "a.example" && cookie.path == "/one" && cookie.isHTTPOnly && cookie.sameSite == .lax)
        #expect(jar.set("n=v; Domain=b.example", from: url) == nil && jar.set("n=v; Domain=example", from: url) == nil)
        #expect(throws: CookieError.publicSuffix) {
            try jar.set(Cookie(name: "n", value: "v", domain: "example", isHostOnly: false))
        }
        #expect(jar.cookies == [cookie])
    }

    @Test func `cookies are replaced and deleted by name, domain and path`() throws {
        let jar = CookieJar()
        let one = try Cookie(name: "n", value: "1", domain: "a.example")
        try jar.set(one)
        try jar.set(Cookie(name: "n", value: "2", domain: "a.example", path: "/x"))
        try jar.set(Cookie(name: "n", value: "3", domain: "a.example"))
        #expect(jar.cookies.map(\.value) == ["3", "2"])
        #expect(jar.delete(one) && !jar.delete(one) && jar.cookies.map(\.value) == ["2"])
        try jar.set(Cookie(name: "n", value: "", domain: "a.example", path: "/x", expires: 1))
        #expect(jar.cookies.isEmpty)
    }

    @Test func `cookies are deleted by host, by their end and by what a program says`() throws {
        let (jar, later) = (CookieJar(), UnixTime.now.seconds + 1000)
        for (name, domain, isHostOnly) in [
            ("own", "www.a.example", true), ("wide", "a.example", false), ("bare", "a.example", true),
            ("below", "x.www.a.example", true), ("other", "b.example", false),
        ] {
            try jar.set(Cookie(name: name, value: "v", domain: domain, expires: later, isHostOnly: isHostOnly))
        }
        jar.deleteAll(for: "www.a.example")
        #expect(jar.cookies.map(\.name) == ["bare", "below", "other"])
        try jar.set(Cookie(name: "brief", value: "v", domain: "a.example"))
        jar.deleteSessionCookies()
        #expect(jar.cookies.map(\.name) == ["bare", "below", "other"])
        jar.deleteAll { $0.domain == "b.example" }
        #expect(jar.cookies.map(\.name) == ["bare", "below"])
        jar.deleteAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test func `changes are told, and what changes nothing is not`() async throws {
        let jar = CookieJar()
        var events = jar.eventStream().makeAsyncIterator()
        let cookie = try Cookie(name: "n", value: "v", domain: "a.example")
        try jar.set(cookie)
        try jar.set(cookie)
        jar.delete(cookie)
        jar.delete(cookie)
        jar.deleteAll()
        try await jar.save()
        let last = jar.eventStream()
        var told = 0
        for _ in 0..<2 { if case .changed = await events.next() { told += 1 } }
        #expect(told == 2)
        try jar.set(cookie)
        // The third event is about the later change: there was none in between.
        guard case .changed = await events.next() else { throw TestFailure("no third event") }
        for await event in last {
            guard case .changed = event else { throw TestFailure("another event") }
            break
        }
    }
}
