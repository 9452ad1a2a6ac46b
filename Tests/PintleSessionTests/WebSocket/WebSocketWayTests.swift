// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleTesting
import PintleTrust
import PintleWebSocket
import Testing

@testable import PintleSession

/// The way to a WebSocket is that of every request: pins, TLS, proxies.
@Suite(.timeLimit(.minutes(15))) struct WebSocketWayTests {
    private let root: TestIdentity
    private let leaf: TestIdentity
    private let origin: RawOrigin

    init() throws {
        let pki = TestPKI()
        self.root = try pki.root()
        self.leaf = try pki.leaf(dns: ["site.example", "localhost"], ip: ["127.0.0.1"], signedBy: self.root)
        // The origin chooses HTTP/2 if it is offered, but does not speak it.
        self.origin = try echoOrigin(securedBy: TLSServerSide(self.leaf, speaksHTTP2: true))
    }

    private func stage(_ pin: Pin? = nil, by proxy: ProxyServer? = nil) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.proxy = proxy
        configuration.connectTimeout = .seconds(30)
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: [pin ?? self.leaf.pin], roots: .only([self.root.certificate]))
        return try SessionStage(policy: policy, configuration: configuration)
    }

    private func echoes(_ stage: SessionStage, _ url: String) async throws -> Bool {
        let socket = try await stage.session.webSocket(url)
        let sent: [WebSocketMessage] = [.text("hello"), .binary(ByteBuffer(repeating: 1, count: 300_000))]
        for message in sent { try await socket.send(message) }
        var isRight = true
        for message in sent { if try await socket.receive() != message { isRight = false } }
        await socket.close()
        return isRight && socket.closeCode == .normal
    }

    @Test func `wss asks for HTTP1, and its pins hold`() async throws {
        let url = "wss://localhost:\(self.origin.port)/chat"
        #expect(try await self.echoes(self.stage(), url))
        let seen = self.origin.requests.count
        let stranger = try TestPKI().root()
        let error = await sessionError { _ = try await self.echoes(self.stage(stranger.pin), url) }
        #expect(error?.code == .untrusted && error?.verdict?.error?.code == .pinMismatch)
        #expect(self.origin.requests.count == seen, "nothing was sent to who is not trusted")
    }

    @Test func `a WebSocket goes by a tunnel of an http proxy, with its credential`() async throws {
        let credential = try Credential(user: "u", password: "p")
        let proxy = try ScriptedProxy(leadingTo: self.origin.port, demanding: credential.basicAuthorization())
        var server = proxy.server
        #expect(await sessionError { _ = try await self.echoes(self.stage(by: server), "wss://site.example/") } != nil)
        server.credential = credential
        #expect(try await self.echoes(self.stage(by: server), "wss://site.example/"))
        #expect(proxy.lines.last == "CONNECT site.example:443 HTTP/1.1")
        let plain = try echoOrigin()
        let plainProxy = try ScriptedProxy(leadingTo: plain.port)
        var configuration = SessionConfiguration()
        configuration.proxy = plainProxy.server
        let stage = try SessionStage(configuration: configuration)
        #expect(try await self.echoes(stage, "ws://site.example:81/"))
        #expect(plainProxy.lines == ["CONNECT site.example:81 HTTP/1.1"])
    }

    @Test func `a WebSocket goes by an https proxy, one TLS inside the other`() async throws {
        let pki = TestPKI()
        let proxyRoot = try pki.root("Proxies")
        let proxy = try ScriptedProxy(leadingTo: self.origin.port)
        let terminator = try TLSTerminator(
            pki.leaf("proxy", dns: ["localhost"], signedBy: proxyRoot), leadingTo: proxy.origin.port)
        var server = ProxyServer(Authority(host: "localhost", port: UInt16(terminator.port)), scheme: .https)
        server.policy = try SecurityPolicy(pinning: .none, roots: .only([proxyRoot.certificate]))
        #expect(try await self.echoes(self.stage(by: server), "wss://site.example/"))
        #expect(proxy.lines == ["CONNECT site.example:443 HTTP/1.1"])
    }

    @Test func `a WebSocket goes by a SOCKS proxy`() async throws {
        let proxy = try SOCKSServer()
        let server = ProxyServer(Authority(host: "127.0.0.1", port: UInt16(proxy.port)), scheme: .socks5)
        #expect(try await self.echoes(self.stage(by: server), "wss://localhost:\(self.origin.port)/"))
        #expect(try proxy.waitForDestinations(1) == ["localhost:\(self.origin.port)"])
    }

    @Test func `an address that the session's judge refuses is not dialled`() async throws {
        struct Nowhere: AddressJudge {
            func refusal(dialling address: SocketAddress, asked host: Authority) -> String? { "no" }
        }
        let plain = try echoOrigin()
        let stage = try SessionStage(judge: Nowhere())
        #expect(await sessionError { _ = try await stage.socket(plain.port) }?.code == .addressDenied)
        #expect(plain.connections.isEmpty)
    }

    @Test func `an end of TLS without a word is told`() async throws {
        let side = try TLSServerSide(self.leaf)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            let peer = try WebSocketPeer(connection)
            _ = try peer.readFrame()
            peer.stream.reset()
        }
        let stage = try self.stage()
        let socket = try await stage.session.webSocket("wss://localhost:\(origin.port)/")
        try await socket.send("hello")
        #expect(await sessionError { _ = try await socket.receive() }?.code == .connectionBroken)
        #expect(stage.session.runningTransfers() == 0)
    }
}
