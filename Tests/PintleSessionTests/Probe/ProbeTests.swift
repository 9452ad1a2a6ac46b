// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Findings of one handshake with servers that work properly.
@Suite struct ProbeTests {
    private static let pki = TestPKI()
    private static let root = try? Self.pki.root()

    private let root: TestIdentity
    private let stage: ProbeStage

    init() throws {
        self.root = try #require(Self.root)
        self.stage = try ProbeStage(trusting: self.root)
    }

    private func leaf(_ key: TestPKI.KeyKind = .ec, name: String = "probe.test") throws -> TestIdentity {
        try Self.pki.leaf(name, dns: [name], signedBy: self.root, key: key)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `each kind of key is asked for by itself`(version: TLSVersion) async throws {
        let (rsa, ec) = (try self.leaf(.rsa(bits: 2048)), try self.leaf())
        let server = try OpenSSLServer([rsa, ec])
        for (keys, identity, signature) in [
            (HandshakeOffer.Keys.rsa, rsa, "RSA-PSS"), (.ecdsa, ec, "ECDSA"),
        ] {
            let offer = HandshakeOffer(versions: version...version, keys: keys)
            let result = try await self.stage.probe(port: server.port, offer: offer)
            let negotiated = try #require(result.negotiated, "\(result.ending)")
            #expect(negotiated.version == version && negotiated.signature == signature)
            #expect(negotiated.group == "x25519")
            #expect(
                negotiated.cipher.hasPrefix(version == .tls13 ? "TLS_AES" : "TLS_ECDHE_\(keys.rawValue.uppercased())"))
            #expect(result.presented == identity.chain)
            #expect(result.verdict?.isTrusted == true)
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a server without such a key says so by an alert`(version: TLSVersion) async throws {
        let server = try OpenSSLServer([self.leaf()])
        let offer = HandshakeOffer(versions: version...version, keys: .rsa)
        let result = try await self.stage.probe(port: server.port, offer: offer)
        #expect(result.failure == .handshake(.alert(.handshakeFailure)))
        #expect(result.presented.isEmpty && result.verdict == nil)
    }

    @Test func `a server that is too old, or not old enough, says so by an alert`() async throws {
        let modern = try OpenSSLServer([self.leaf()], arguments: ["-tls1_3"])
        let result = try await self.stage.probe(port: modern.port, offer: HandshakeOffer(versions: .tls12 ... .tls12))
        #expect(result.failure == .handshake(.alert(.protocolVersion)))
        let old = try OpenSSLServer([self.leaf()], arguments: ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"])
        let offered = try await self.stage.probe(port: old.port, offer: HandshakeOffer(versions: .tls10 ... .tls11))
        #expect(offered.negotiated?.version == .tls11)
        #expect(offered.verdict?.isTrusted == true)
        let refused = try await self.stage.probe(port: old.port)
        #expect(refused.failure == .handshake(.alert(.protocolVersion)))
    }

    @Test func `names are asked for by SNI, addresses are not`() async throws {
        let named = try self.leaf()
        let other = try Self.pki.leaf(ip: ["127.0.0.1"], signedBy: self.root)
        let server = try OpenSSLServer([other], named: ("probe.test", named))
        #expect(try await self.stage.probe(port: server.port).presented == named.chain)
        let byAddress = try await self.stage.probe(port: server.port, host: "127.0.0.1")
        #expect(byAddress.presented == other.chain && byAddress.verdict?.isTrusted == true)
        #expect(try await self.stage.probe(port: server.port, host: "probe.test.").presented == named.chain)
    }

    @Test func `a protocol is chosen by ALPN`() async throws {
        let server = try OpenSSLServer([self.leaf()], arguments: ["-alpn", "h2"])
        let offer = HandshakeOffer(protocols: ["h2", "http/1.1"])
        #expect(try await self.stage.probe(port: server.port, offer: offer).negotiated?.applicationProtocol == "h2")
        #expect(try await self.stage.probe(port: server.port).negotiated?.applicationProtocol == nil)
    }

    @Test func `a policy that is enforced ends the handshake of a server that it refuses`() async throws {
        let server = try OpenSSLServer([self.leaf(name: "other.test")])
        let result = try await self.stage.probe(port: server.port)
        #expect(result.failure == .handshake(.refused))
        #expect(result.verdict?.error?.problem == .wrongName)
        #expect(result.presented.first?.names == ["other.test"])
    }

    @Test func `a policy that observes judges at the moment given, and the handshake goes on`() async throws {
        let identity = try Self.pki.leaf(
            dns: ["probe.test"], signedBy: self.root, validity: .window(.seconds(3600), .seconds(7200)))
        let server = try OpenSSLServer([identity])
        let early = try await self.stage.probe(port: server.port, judgement: .observed(at: nil))
        #expect(early.negotiated != nil && early.verdict?.error?.problem == .notYetValid)
        let moment = Self.pki.now.advanced(by: .seconds(5400))
        let then = try await self.stage.probe(port: server.port, judgement: .observed(at: moment))
        #expect(then.verdict?.isTrusted == true)
    }
}
