// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleTesting
import PintleTrust
import Testing

@testable import PintleSession

/// An https proxy: two handshakes on one connection, each verified for its own server.
@Suite(.timeLimit(.minutes(15))) struct SecureProxyTests {
    private let originRoot: TestIdentity
    private let proxyRoot: TestIdentity
    private let originLeaf: TestIdentity
    private let proxyLeaf: TestIdentity
    private let nginx: NginxOrigin

    init() throws {
        let pki = TestPKI()
        self.originRoot = try pki.root("Origins")
        self.proxyRoot = try pki.root("Proxies")
        self.originLeaf = try pki.leaf("origin", dns: ["site.example"], signedBy: self.originRoot)
        self.proxyLeaf = try pki.leaf("proxy", dns: ["localhost"], signedBy: self.proxyRoot)
        self.nginx = try NginxOrigin(https: [self.originLeaf])
    }

    private func server(
        _ terminator: TLSTerminator, trusting root: TestIdentity? = nil, host: String = "localhost"
    ) throws -> ProxyServer {
        var server = ProxyServer(Authority(host: host, port: UInt16(terminator.port)), scheme: .https)
        server.policy = try SecurityPolicy(pinning: .none, roots: .only([(root ?? self.proxyRoot).certificate]))
        return server
    }

    private func stage(_ server: ProxyServer, pin: Pin? = nil, trusting root: TestIdentity? = nil) throws
        -> SessionStage
    {
        var configuration = SessionConfiguration()
        configuration.proxy = server
        configuration.connectTimeout = .seconds(30)
        // HTTP/1.1 only, with a new connection for each request.
        configuration.httpVersion = .http1
        configuration.idleConnections = 0
        let policy = try SecurityPolicy(
            pinning: pin == nil ? .none : .publicKey, pins: pin.map { [$0] } ?? [],
            roots: .only([(root ?? self.originRoot).certificate]))
        return try SessionStage(policy: policy, configuration: configuration)
    }

    private func ask(_ stage: SessionStage, _ url: String = "https://site.example/hello") async -> SessionError? {
        do {
            let answer = try await stage.data(for: SessionRequest("GET", url))
            return answer.text == "hello\n" ? nil : SessionError(.malformedResponse, "\(answer)")
        } catch {
            return error as? SessionError ?? SessionError(.internalError, "\(error)")
        }
    }

    @Test func `proxy and origin are judged by their own policies and names`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpsPort)
        let terminator = try TLSTerminator(self.proxyLeaf, leadingTo: proxy.origin.port)
        let stage = try self.stage(self.server(terminator), pin: self.originLeaf.pin)
        // Several times: a TLS session that is resumed is judged as its first handshake was.
        for _ in 0..<3 { #expect(await self.ask(stage) == nil) }
        #expect(proxy.lines == Array(repeating: "CONNECT site.example:443 HTTP/1.1", count: 3))
    }

    @Test func `http goes to an https proxy in absolute form`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpPort, demanding: "Basic dTpw")
        let terminator = try TLSTerminator(self.proxyLeaf, leadingTo: proxy.origin.port)
        var server = try self.server(terminator)
        server.credential = try Credential(user: "u", password: "p")
        #expect(await self.ask(try self.stage(server), "http://site.example/hello") == nil)
        #expect(proxy.lines == ["GET http://site.example/hello HTTP/1.1"])
        let asked = try #require(proxy.origin.requests.first)
        #expect(asked["Proxy-Connection"] == nil && asked["Via"] == nil)
    }

    @Test func `a proxy with a wrong certificate gets no request, whatever the origin's is`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpsPort)
        let terminator = try TLSTerminator(self.proxyLeaf, leadingTo: proxy.origin.port)
        let stranger = try self.stage(self.server(terminator, trusting: self.originRoot))
        let misnamed = try self.stage(self.server(terminator, host: "127.0.0.1"))
        for stage in [stranger, misnamed] {
            for url in ["https://site.example/hello", "http://site.example/hello"] {
                let error = await self.ask(stage, url)
                #expect(error?.code == .untrusted && error?.verdict?.error?.code == .certificateInvalid)
                #expect(error?.message.hasPrefix("the proxy ") == true, "\(String(describing: error))")
            }
        }
        #expect(proxy.lines.isEmpty)
    }

    @Test func `an origin with a wrong certificate is refused behind the right proxy`() async throws {
        let proxy = try ScriptedProxy(leadingTo: self.nginx.httpsPort)
        let terminator = try TLSTerminator(self.proxyLeaf, leadingTo: proxy.origin.port)
        // The proxy's roots and the proxy's key are not accepted for the origin.
        let unknown = await self.ask(try self.stage(self.server(terminator), trusting: self.proxyRoot))
        #expect(unknown?.code == .untrusted && unknown?.verdict?.host == "site.example")
        let unpinned = await self.ask(try self.stage(self.server(terminator), pin: self.proxyLeaf.pin))
        #expect(unpinned?.verdict?.error?.code == .pinMismatch && unpinned?.verdict?.host == "site.example")
        let misnamed = await self.ask(try self.stage(self.server(terminator)), "https://other.example/hello")
        #expect(misnamed?.code == .untrusted && misnamed?.verdict?.host == "other.example")
    }

    @Test func `a TLS session of the proxy is not resumed with an origin of its name and port`() async throws {
        // A request through the proxy to the proxy itself succeeds: one server, verified by two policies.
        let port = try FreePort.find()
        let proxy = try ScriptedProxy(leadingTo: port)
        let terminator = try TLSTerminator(self.proxyLeaf, leadingTo: proxy.origin.port, ownPort: port)
        let stage = try self.stage(self.server(terminator), pin: self.originLeaf.pin, trusting: self.proxyRoot)
        for _ in 0..<3 {
            let error = await self.ask(stage, "https://localhost:\(port)/hello")
            #expect(error?.verdict?.error?.code == .pinMismatch, "\(String(describing: error))")
        }
    }

    @Test func `what speaks no TLS is no https proxy`() async throws {
        let plain = try RawOrigin { connection in
            _ = try connection.stream.readSome()
            try connection.stream.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        var server = ProxyServer(Authority(host: "localhost", port: UInt16(plain.port)), scheme: .https)
        server.policy = try SecurityPolicy(pinning: .none, roots: .only([self.proxyRoot.certificate]))
        for url in ["https://site.example/hello", "http://site.example/hello"] {
            let error = await self.ask(try self.stage(server), url)
            #expect(error?.code == .tlsFailure)
            #expect(error?.message == "the TLS handshake with the proxy localhost:\(plain.port) failed")
        }
    }
}
