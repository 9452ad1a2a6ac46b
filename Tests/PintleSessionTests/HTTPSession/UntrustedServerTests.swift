// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Clients whose policy refuses, in both modes of pinning.
@Suite(.timeLimit(.minutes(15))) struct UntrustedServerTests {
    private let pki = TestPKI()
    private let root: TestIdentity
    private let leaf: TestIdentity

    init() throws {
        self.root = try self.pki.root()
        self.leaf = try self.pki.leaf(dns: ["localhost"], signedBy: self.root)
    }

    @Test(arguments: [SecurityPolicy.PinningMode.publicKey, .certificate])
    func `HSM-19 HSM-20 either mode of pinning needs a base with https, and is named`(
        mode: SecurityPolicy.PinningMode
    ) async throws {
        let stage = try SessionStage(
            policy: SecurityPolicy(pinning: mode, certificates: [self.leaf.certificate]))
        #expect(try HTTPSession(stage.session, base: "https://example.com").baseURL?.isSecure == true)
        for (base, what) in [("http://example.com", "http://example.com/"), (nil, "missing")] {
            let error = await sessionError { _ = try HTTPSession(stage.session, base: base) }
            #expect(error?.code == .cleartext)
            #expect(
                error?.message == "pinning: \(mode.rawValue) needs a base URL with https, and this one is \(what)")
        }
    }

    @Test(arguments: [SecurityPolicy.PinningMode.publicKey, .certificate])
    func `HSM-22 a pin of another site is an error that names the host and what it showed`(
        mode: SecurityPolicy.PinningMode
    ) async throws {
        let nginx = try NginxOrigin(https: [self.leaf])
        let other = try self.pki.leaf(dns: ["other.test"], signedBy: self.root)
        let policy = try SecurityPolicy(
            pinning: mode, certificates: [other.certificate], roots: .only([self.root.certificate]))
        let stage = try SessionStage(policy: policy)
        let api = try HTTPSession(stage.session, base: "https://localhost:\(nginx.httpsPort)")
        let error = await sessionError { _ = try await api.get("json") }
        let verdict = try #require(error?.verdict)
        #expect(error?.code == .untrusted && verdict.error?.code == .pinMismatch)
        #expect(verdict.host == "localhost" && verdict.chain.first?.certificate == self.leaf.certificate)
        let message = try #require(verdict.error?.message)
        #expect(message.hasPrefix("localhost: the chain does not contain a pinned "), "\(message)")
        for pin in [self.leaf.pin, other.pin] { #expect(message.contains("\(pin)"), "\(message)") }
    }

    @Test func `SES-29 behind a redirect the error names the host that was refused, not the one that was asked`()
        async throws
    {
        let nginx = try NginxOrigin(https: [self.leaf])
        let origin = try origin { _ in answer(302, ["Location: https://localhost:\(nginx.httpsPort)/hello"]) }
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.pki.root("Other").certificate]))
        let stage = try SessionStage(policy: policy)
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        let error = await sessionError { _ = try await task.value() }
        #expect(error?.code == .untrusted && error?.verdict?.host == "localhost")
        #expect(error?.message.contains("localhost") == true && error?.message.contains("127.0.0.1") == false)
        #expect(task.currentRequest.url.description == "https://localhost:\(nginx.httpsPort)/hello")
    }
}
