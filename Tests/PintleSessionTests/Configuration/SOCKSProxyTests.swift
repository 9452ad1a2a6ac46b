// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleTesting
import PintleTrust
import Testing

@testable import PintleSession

/// A SOCKS proxy (RFC 1928, RFC 1929).
@Suite(.timeLimit(.minutes(15))) struct SOCKSProxyTests {
    private let root: TestIdentity
    private let leaf: TestIdentity
    private let nginx: NginxOrigin

    init() throws {
        let pki = TestPKI()
        self.root = try pki.root()
        self.leaf = try pki.leaf(dns: ["localhost"], signedBy: self.root)
        self.nginx = try NginxOrigin(https: [self.leaf])
    }

    private func stage(_ port: Int, _ credential: Credential? = nil, pin: Pin? = nil) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.proxy = ProxyServer(
            Authority(host: "127.0.0.1", port: UInt16(port)), scheme: .socks5, credential: credential)
        configuration.connectTimeout = .seconds(30)
        let policy = try SecurityPolicy(
            pinning: pin == nil ? .none : .publicKey, pins: pin.map { [$0] } ?? [],
            roots: .only([self.root.certificate]))
        return try SessionStage(policy: policy, configuration: configuration)
    }

    @Test func `http and https go by it, and it resolves the names`() async throws {
        let server = try SOCKSServer()
        let stage = try self.stage(server.port, pin: self.leaf.pin)
        for (scheme, port) in [(Scheme.http, self.nginx.httpPort), (.https, self.nginx.httpsPort)] {
            let policy = scheme == .http ? try self.stage(server.port) : stage
            let result = try await policy.data(for: request(port, "/hello", scheme: scheme, host: "localhost"))
            #expect(result.text == "hello\n")
        }
        #expect(
            try server.waitForDestinations(2)
                == ["localhost:\(self.nginx.httpPort)", "localhost:\(self.nginx.httpsPort)"])
    }

    @Test func `pins hold behind it`() async throws {
        let server = try SOCKSServer()
        let other = try TestPKI().root()
        let stage = try self.stage(server.port, pin: other.pin)
        let error = await stage.failure(
            of: request(self.nginx.httpsPort, "/hello", scheme: .https, host: "localhost"))
        #expect(error?.verdict?.error?.code == .pinMismatch)
    }

    @Test func `it is told who asks, byte for byte`() async throws {
        let server = try SOCKSServer(demanding: (user: "us%41er", password: "p@ss:wörd%2F /?#"))
        let right = try Credential(user: "us%41er", password: "p@ss:wörd%2F /?#")
        let asked = request(self.nginx.httpPort, "/hello", host: "localhost")
        #expect(try await self.stage(server.port, right).data(for: asked).text == "hello\n")
        let wrong = try await self.stage(server.port, Credential(user: "u", password: "p")).failure(of: asked)
        let name = "the SOCKS proxy 127.0.0.1:\(server.port) wants to know who asks; "
        #expect(wrong?.message == name + "it does not take the credential of the configuration")
        let missing = try await self.stage(server.port).failure(of: asked)
        #expect(missing?.message == name + "give the proxy's credential in the configuration")
        #expect(missing?.code == .connectFailure)
    }

    @Test(arguments: [
        (1, SessionError.Code.connectFailure, "P made no connection to O"),
        (2, .connectFailure, "P does not allow a connection to O"),
        (3, .connectFailure, "P has no route to O"),
        (4, .connectFailure, "P cannot reach the host site.example"),
        (5, .connectionRefused, "O refused the connection of P"),
    ])
    func `its refusals say why`(reply: UInt8, code: SessionError.Code, words: String) async throws {
        let proxy = try RawOrigin { connection in
            _ = try connection.stream.read(3)
            try connection.stream.send([5, 0])
            _ = try connection.stream.read(4 + 1 + "site.example".utf8.count + 2)
            try connection.stream.send([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
            _ = try connection.waitForEnd()
        }
        let error = try await self.stage(proxy.port).failure(of: try SessionRequest("GET", "http://site.example/"))
        let message = words.replacing("O", with: "site.example:80").replacing(
            "P", with: "the SOCKS proxy 127.0.0.1:\(proxy.port)")
        #expect(error?.code == code && error?.message == message, "\(String(describing: error))")
    }

    @Test func `what speaks no SOCKS is no SOCKS proxy`() async throws {
        let asked = try SessionRequest("GET", "http://site.example/")
        let error = try await self.stage(self.nginx.httpPort).failure(of: asked)
        #expect(error?.message == "the proxy 127.0.0.1:\(self.nginx.httpPort) does not speak SOCKS 5")
        let closing = try RawOrigin { connection in _ = try connection.stream.read(3) }
        let closed = try await self.stage(closing.port).failure(of: asked)
        #expect(
            closed?.message
                == "the SOCKS proxy 127.0.0.1:\(closing.port) closed before it was connected to site.example:80")
    }
}
