// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleTesting
import PintleTrust
import Testing

@testable import PintleSession

/// A proxy between a session and its origins.
@Suite(.timeLimit(.minutes(15))) struct ProxyTests {
    private let root: TestIdentity
    private let nginx: NginxOrigin

    init() throws {
        let pki = TestPKI()
        self.root = try pki.root()
        self.nginx = try NginxOrigin(https: [pki.leaf(dns: ["site.example"], ip: ["127.0.0.1"], signedBy: self.root)])
    }

    private func stage(
        _ proxy: ProxyServer, hooks: RecordedHooks? = nil
    ) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.proxy = proxy
        configuration.connectTimeout = .seconds(30)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        return try SessionStage(policy: policy, configuration: configuration, hooks: hooks)
    }

    @Test func `http is forwarded by the proxy`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpPort)
        let stage = try self.stage(proxy.server)
        let result = try await stage.data(for: SessionRequest("GET", "http://site.example/echo?x=1"))
        #expect(result.text.hasPrefix("GET /echo?x=1\nhost=site.example\n"))
        #expect(proxy.lines == ["GET http://site.example/echo?x=1 HTTP/1.1"])
        _ = try await stage.data(for: SessionRequest("GET", "http://site.example:81/echo"))
        #expect(proxy.lines.last == "GET http://site.example:81/echo HTTP/1.1")
    }

    @Test func `https goes through a tunnel, and the policy judges the origin behind it`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpsPort)
        let stage = try self.stage(proxy.server)
        let asked = try SessionRequest("GET", "https://site.example/echo")
        #expect(try await stage.data(for: asked).text.contains("host=site.example"))
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen.head.startLine == "CONNECT site.example:443 HTTP/1.1")
        let wrong = await stage.failure(of: try SessionRequest("GET", "https://other.example/"))
        #expect(wrong?.code == .untrusted && wrong?.message.contains("other.example") == true)
    }

    @Test func `an answer of the proxy that comes in pieces is understood`() async throws {
        let refuser = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            for piece in ["HTTP/1.1 100 Continue\r", "\n\r\nHTTP/1.1 4", "03 No\r\nX-A", ": 1\r\n\r\n"] {
                try connection.send(piece)
            }
        }
        let stage = try self.stage(ProxyServer(Authority(host: "127.0.0.1", port: UInt16(refuser.port))))
        let error = await stage.failure(of: try SessionRequest("GET", "https://site.example/"))
        #expect(error?.code == .connectFailure && error?.message.contains("answered 403") == true, "\(error as Any)")
    }

    @Test func `fields and credentials for the origin are not shown to the proxy of a tunnel`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpsPort)
        let asked = try SessionRequest(
            "GET", "https://site.example/echo", fields: ["Authorization": "Bearer secret", "X-Test": "mine"])
        #expect(try await self.stage(proxy.server).data(for: asked).text.contains("x=mine"))
        let seen = try #require(proxy.origin.requests.first)
        #expect(seen["Authorization"] == nil && seen["X-Test"] == nil)
    }

    @Test(arguments: [Scheme.http, .https])
    func `a proxy's credential opens it for both schemes, and goes no farther`(scheme: Scheme) async throws {
        let port = scheme == .http ? self.nginx.httpPort : self.nginx.httpsPort
        let credential = try Credential(user: "user%41", password: "p@ss:wörd%2F /?#")
        let proxy = try ScriptedProxy(leadingTo: port, demanding: credential.basicAuthorization())
        var server = proxy.server
        server.credential = credential
        let result = try await self.stage(server).data(
            for: SessionRequest("GET", "\(scheme.rawValue)://site.example/hello"))
        #expect(result.text == "hello\n" && proxy.lines.count == 1)
    }

    @Test func `a request's own field for the proxy goes before the proxy's credential`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpPort)
        var server = proxy.server
        server.credential = try Credential(user: "u", password: "p")
        let stage = try self.stage(server)
        for own in [nil, "Bearer own", nil] {
            let fields: Fields = own.map { ["Proxy-Authorization": $0] } ?? [:]
            _ = try await stage.data(for: SessionRequest("GET", "http://site.example/hello", fields: fields))
        }
        let seen = proxy.origin.requests.map { $0.head.values("Proxy-Authorization") }
        #expect(seen == [["Basic dTpw"], ["Bearer own"], ["Basic dTpw"]])
    }

    @Test func `a proxy's challenge to http is answered like an origin's`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpPort, demanding: "Basic dTpw")
        let credential = try Credential(user: "u", password: "p")
        let asked = try SessionRequest("GET", "http://site.example/hello")
        let hooks = RecordedHooks { $0.challenge = { $0.isProxy ? .use(credential) : .performDefault } }
        #expect(try await self.stage(proxy.server, hooks: hooks).data(for: asked).text == "hello\n")
        #expect(hooks.challenges.current.map(\.authority) == [proxy.authority])
        let silent = try await self.stage(proxy.server).data(for: asked)
        #expect(silent.status == 407 && silent.text == "who are you?")
    }

    @Test func `a proxy's challenge is answered again after a redirect to another origin`() async throws {
        let origin = try origin { request in
            request.target == "/go" ? answer(302, ["Location: http://b.example/there"]) : answer(200, [], "there")
        }
        let proxy = try ScriptedProxy(leadingTo: origin.port, demanding: "Basic dTpw")
        let credential = try Credential(user: "u", password: "p")
        let hooks = RecordedHooks { $0.challenge = { $0.isProxy ? .use(credential) : .performDefault } }
        let stage = try self.stage(proxy.server, hooks: hooks)
        #expect(try await stage.data(for: SessionRequest("GET", "http://a.example/go")).text == "there")
    }

    @Test func `an origin that claims to be a proxy learns nothing of the proxy's credential`() async throws {
        let evil = try origin { request in
            answer(request["Proxy-Authorization"] == nil ? 407 : 200, ["Proxy-Authenticate: Basic realm=\"gate\""])
        }
        let proxy = try ScriptedProxy(leadingTo: evil.port)
        var server = proxy.server
        server.credential = try Credential(user: "u", password: "p")
        server.exceptions = [".127.0.0.1", "127.0.0.1"]
        let hooks = RecordedHooks { $0.challenge = { _ in .performDefault } }
        let response = try await self.stage(server, hooks: hooks).data(for: request(evil.port))
        #expect(response.status == 407 && hooks.challenges.current.isEmpty && proxy.lines.isEmpty)
        #expect(evil.requests.map { $0["Proxy-Authorization"] } == [nil])
    }

    @Test func `an exception stands for its subdomains, with and without a dot before it`() {
        let server = ProxyServer(Authority(host: "proxy", port: 3128), exceptions: [".corp.example", "Other.example"])
        let direct = ["corp.example", "a.corp.example", "other.example", "b.other.example"]
        for host in direct { #expect(!server.serves(Authority(host: host, port: 80)), "\(host)") }
        for host in ["xcorp.example", "example"] { #expect(server.serves(Authority(host: host, port: 80)), "\(host)") }
    }

    @Test(arguments: [407, 403, 502])
    func `a tunnel that the proxy refuses is an error that names proxy, origin and status`(status: Int) async throws {
        let refusing = try RawOrigin(
            answering: answer(status, status == 407 ? ["Proxy-Authenticate: Basic realm=\"gate\""] : []))
        let server = ProxyServer(Authority(host: "127.0.0.1", port: UInt16(refusing.port)))
        let error = try #require(
            await self.stage(server).failure(of: try SessionRequest("GET", "https://site.example/")))
        #expect(error.code == .connectFailure)
        let hint = status == 407 ? "; give the proxy's credential in the configuration" : ""
        #expect(
            error.message
                == "the proxy 127.0.0.1:\(refusing.port) answered \(status) to the tunnel to site.example:443\(hint)")
    }

    @Test func `a proxy that takes other credentials than Basic is said to`() async throws {
        let challenges = ["Proxy-Authenticate: Negotiate", "Proxy-Authenticate: Digest realm=\"gate\", nonce=\"1\""]
        let refusing = try RawOrigin(answering: answer(407, challenges))
        var server = ProxyServer(Authority(host: "127.0.0.1", port: UInt16(refusing.port)))
        server.credential = try Credential(user: "u", password: "p")
        let error = try await self.stage(server).failure(of: try SessionRequest("GET", "https://site.example/"))
        #expect(
            error?.message.hasSuffix(
                "; it asks for negotiate, digest, and a credential of the configuration is sent as Basic only") == true,
            "\(error?.message ?? "")")
    }

    @Test func `a proxy that answers no HTTP is named, and not the origin`() async throws {
        let closing = try RawOrigin { connection in _ = try connection.readRequest() }
        let server = ProxyServer(Authority(host: "127.0.0.1", port: UInt16(closing.port)))
        let error = try await self.stage(server).failure(of: try SessionRequest("GET", "https://site.example/"))
        #expect(error?.code == .connectFailure)
        #expect(
            error?.message == "the proxy 127.0.0.1:\(closing.port) gave no answer of HTTP to the wish for a tunnel to "
                + "site.example:443")
    }

    @Test func `a refused credential is said to be one`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpsPort, demanding: "Basic dTpw")
        var server = proxy.server
        server.credential = try Credential(user: "u", password: "other")
        let error = try await self.stage(server).failure(of: try SessionRequest("GET", "https://site.example/"))
        #expect(error?.message.hasSuffix("; it does not take the credential of the configuration") == true)
    }

    @Test func `a proxy that cannot be reached is named`() async throws {
        let closed = try RawOrigin { _ in }
        closed.stop()
        let server = ProxyServer(Authority(host: "127.0.0.1", port: UInt16(closed.port)))
        for scheme in ["http", "https"] {
            let error = try await self.stage(server).failure(
                of: try SessionRequest("GET", "\(scheme)://site.example/"))
            #expect(error?.code == .connectionRefused)
            #expect(error?.message == "the proxy 127.0.0.1:\(closed.port) refused the connection", "\(scheme)")
        }
        let nowhere = ProxyServer(Authority(host: "proxy.invalid", port: 3128))
        let error = try await self.stage(nowhere).failure(of: try SessionRequest("GET", "http://site.example/"))
        #expect(error?.code == .dnsFailure && error?.message == "the proxy proxy.invalid has no address")
    }

    @Test func `hosts among the exceptions, and their subdomains, are reached directly`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpPort)
        var server = proxy.server
        server.exceptions = ["LOCALHOST", "127.0.0.1", "near.example"]
        let stage = try self.stage(server)
        for host in ["localhost", "127.0.0.1", "sub.localhost"] {
            let result = try? await stage.data(for: request(self.nginx.httpPort, "/hello", host: host))
            // The resolver decides if the subdomain exists; in either case the proxy was not used.
            #expect(result?.text == "hello\n" || host == "sub.localhost")
        }
        #expect(proxy.lines.isEmpty)
        _ = try await stage.data(for: SessionRequest("GET", "http://notnear.example/hello"))
        #expect(proxy.lines == ["GET http://notnear.example/hello HTTP/1.1"])
    }
}
