// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Cookies of sessions. Hosts are names that a proxy leads to one origin, since this machine's own names are treated as
/// secure by themselves.
@Suite(.timeLimit(.minutes(15))) struct CookieTests {
    private let origin: RawOrigin
    private let proxy: ScriptedProxy

    init() throws {
        // Whatever `/set?…` asks for is set as a cookie.
        self.origin = try PintleTesting.origin { request in
            let parts = request.target.split(separator: "?", maxSplits: 1)
            guard parts.count == 2, parts[0].hasSuffix("set") else {
                return answer(200, [], request["Cookie"] ?? "none")
            }
            let cookies = parts[1].split(separator: "&").map { cookie in
                "Set-Cookie: \(cookie.replacing("%20", with: " "))"
            }
            return answer(200, cookies)
        }
        self.proxy = try ScriptedProxy(leadingTo: self.origin.port)
    }

    private func stage(_ cookies: SessionConfiguration.Cookies) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.cookies = cookies
        configuration.proxy = self.proxy.server
        return try SessionStage(configuration: configuration)
    }

    private func get(_ stage: SessionStage, _ url: String, fields: Fields = Fields()) async throws -> TaskResult {
        try await stage.data(for: SessionRequest("GET", url, fields: fields))
    }

    @Test func `passed on, cookies are fields like any other`() async throws {
        let stage = try self.stage(.pass)
        let set = try await self.get(stage, "http://a.example/set?x=1")
        #expect(set.response.fields.values(of: "Set-Cookie") == ["x=1"])
        #expect(try await self.get(stage, "http://a.example/").text == "none")
        #expect(try await self.get(stage, "http://a.example/", fields: ["Cookie": "y=2"]).text == "y=2")
    }

    @Test func `blocked, no cookie goes either way, in redirects neither`() async throws {
        let stage = try self.stage(.block)
        let set = try await self.get(stage, "http://a.example/set?x=1")
        #expect(set.status == 200 && !set.response.fields.contains("Set-Cookie"))
        #expect(try await self.get(stage, "http://a.example/", fields: ["Cookie": "y=2"]).text == "none")
    }

    @Test func `the jar sends cookies back to where they belong, by host and path`() async throws {
        let stage = try self.stage(.jar)
        _ = try await self.get(stage, "http://a.example/set?host=1&deep=2;%20Path=/deep&wide=3;%20Domain=a.example")
        #expect(try await self.get(stage, "http://a.example/").text.cookies == ["host=1", "wide=3"])
        #expect(try await self.get(stage, "http://a.example/deep/er").text.cookies == ["deep=2", "host=1", "wide=3"])
        #expect(try await self.get(stage, "http://a.example/deeper").text.cookies == ["host=1", "wide=3"])
        #expect(try await self.get(stage, "http://sub.a.example/").text.cookies == ["wide=3"])
        #expect(try await self.get(stage, "http://b.example/").text == "none")
    }

    @Test func `a cookie without a path belongs to the folder that set it`() async throws {
        let stage = try self.stage(.jar)
        _ = try await self.get(stage, "http://a.example/folder/set?x=1")
        #expect(try await self.get(stage, "http://a.example/").text == "none")
        #expect(try await self.get(stage, "http://a.example/folder/page").text == "x=1")
    }

    @Test func `the jar forgets what has expired, and replaces what is set again`() async throws {
        let stage = try self.stage(.jar)
        _ = try await self.get(stage, "http://a.example/set?x=1&y=1;%20Max-Age=1000&z=1;%20Max-Age=0")
        #expect(try await self.get(stage, "http://a.example/").text.cookies == ["x=1", "y=1"])
        _ = try await self.get(stage, "http://a.example/set?x=2&y=;%20Expires=Thu,%2001%20Jan%201970%2000:00:00%20GMT")
        #expect(try await self.get(stage, "http://a.example/").text.cookies == ["x=2"])
    }

    @Test func `a cookie of another site is not taken`() async throws {
        let stage = try self.stage(.jar)
        _ = try await self.get(stage, "http://a.example/set?x=1;%20Domain=b.example")
        #expect(try await self.get(stage, "http://b.example/").text == "none")
        #expect(try await self.get(stage, "http://a.example/").text == "none")
    }

    @Test func `a secure cookie is not sent in clear text`() async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let nginx = try NginxOrigin(
            https: [pki.leaf(dns: ["a.example"], signedBy: root)],
            locations: """
                location = /set { add_header Set-Cookie "safe=1; Secure; Path=/"; return 200; }
                location = /cookies { return 200 "got $http_cookie"; }

                """)
        let secure = try ScriptedProxy(leadingTo: nginx.httpsPort)
        var configuration = SessionConfiguration()
        configuration.cookies = .jar
        configuration.proxy = secure.server
        let policy = try SecurityPolicy(pinning: .none, roots: .only([root.certificate]))
        let stage = try SessionStage(policy: policy, configuration: configuration)
        #expect(try await self.get(stage, "https://a.example/set").status == 200)
        #expect(try await self.get(stage, "https://a.example/cookies").text == "got safe=1")
        #expect(secure.lines.allSatisfy { $0 == "CONNECT a.example:443 HTTP/1.1" })
        // A plaintext request with the same jar. The proxy leads it to a TLS server, so only the request is checked: it
        // has no secure cookie.
        _ = await sessionError { _ = try await self.get(stage, "http://a.example/cookies") }
        let clear = secure.origin.requests.filter { $0.method == "GET" }
        #expect(!clear.isEmpty && clear.allSatisfy { $0["Cookie"] == nil })
    }

    @Test func `SES-03 two sessions share no cookies, and a session that is reset forgets its own`() async throws {
        let (one, two) = (try self.stage(.jar), try self.stage(.jar))
        _ = try await self.get(one, "http://a.example/set?x=1")
        #expect(try await self.get(two, "http://a.example/").text == "none")
        #expect(try await self.get(one, "http://a.example/").text == "x=1")
        await one.session.reset()
        #expect(try await self.get(one, "http://a.example/").text == "none")
        _ = try await self.get(one, "http://a.example/set?x=2")
        #expect(try await self.get(one, "http://a.example/").text == "x=2")
    }

    @Test func `the jar works over all threads of an engine`() async throws {
        let engine = try Engine(threads: 3)
        var configuration = SessionConfiguration()
        configuration.cookies = .jar
        configuration.proxy = self.proxy.server
        do {
            let stage = try SessionStage(configuration: configuration, sharing: engine)
            _ = try await self.get(stage, "http://a.example/set?x=1")
            for _ in 0..<6 { #expect(try await self.get(stage, "http://a.example/").text == "x=1") }
            await stage.session.reset()
            for _ in 0..<3 { #expect(try await self.get(stage, "http://a.example/").text == "none") }
        }
        engine.stop()
    }
}

extension String {
    fileprivate var cookies: [String] { self.split(separator: "; ").map(String.init).sorted() }
}
