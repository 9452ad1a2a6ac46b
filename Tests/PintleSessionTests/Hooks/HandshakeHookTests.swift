// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// The servers that a session trusts, and the identity that it shows.
@Suite(.timeLimit(.minutes(15))) struct HandshakeHookTests {
    private let pki = TestPKI()
    private let root: TestIdentity
    private let leaf: TestIdentity
    private let nginx: NginxOrigin

    init() throws {
        self.root = try self.pki.root()
        self.leaf = try self.pki.leaf(ip: ["127.0.0.1"], signedBy: self.root)
        self.nginx = try NginxOrigin(https: [self.leaf])
    }

    private func trusting(_ root: TestIdentity) throws -> SecurityPolicy {
        try SecurityPolicy(pinning: .none, roots: .only([root.certificate]))
    }

    private var asked: SessionRequest { request(self.nginx.httpsPort, "/hello", scheme: .https) }

    @Test func `SES-27 a server that the policy accepts is asked`() async throws {
        #expect(
            try await SessionStage(policy: self.trusting(self.root)).data(for: self.asked).text == "hello\n")
    }

    @Test func `SES-28 SES-29 SES-30 a server that the policy refuses is an error that names host and reason`()
        async throws
    {
        let stage = try SessionStage(policy: self.trusting(self.pki.root("Other")))
        let error = try #require(await stage.failure(of: self.asked))
        #expect(error.code == .untrusted && error.message.contains("127.0.0.1"), "\(error)")
        let verdict = try #require(error.verdict)
        #expect(verdict.host == "127.0.0.1" && verdict.error?.code == .certificateInvalid)
        #expect(verdict.chain.first?.certificate == self.leaf.certificate && !verdict.decidedByHook)
    }

    @Test func `SES-18 a hook that accepts goes before a policy that would refuse, and the other way round`()
        async throws
    {
        let accepting = RecordedHooks { $0.trust = { $0.chain.isEmpty ? .evaluate : .accept } }
        let other = try SessionStage(policy: self.trusting(self.pki.root("Other")), hooks: accepting)
        #expect(try await other.data(for: self.asked).text == "hello\n")
        let refusing = RecordedHooks { $0.trust = { .refuse("\($0.host) is closed today") } }
        let stage = try SessionStage(policy: self.trusting(self.root), hooks: refusing)
        let error = await stage.failure(of: self.asked)
        #expect(error?.code == .untrusted && error?.message.contains("127.0.0.1 is closed today") == true)
        #expect(error?.verdict?.decidedByHook == true && refusing.calls.current.contains("trust"))
    }

    @Test func `SES-23 a hook that leaves it to the policy gets the policy's verdict`() async throws {
        let verdicts = Watched<[Bool]>([])
        let hooks = RecordedHooks { answers in
            answers.trust = { trust in
                verdicts.change { $0.append(trust.evaluate().isTrusted) }
                return .evaluate
            }
        }
        let stage = try SessionStage(policy: self.trusting(self.root), hooks: hooks)
        #expect(try await stage.data(for: self.asked).text == "hello\n")
        let wrong = try SessionStage(policy: self.trusting(self.pki.root("Other")), hooks: hooks)
        #expect(await wrong.failure(of: self.asked)?.code == .untrusted)
        #expect(verdicts.current == [true, false])
    }

    @Test func `a hook is asked once per connection, not once per request`() async throws {
        let hooks = RecordedHooks()
        let stage = try SessionStage(policy: self.trusting(self.root), hooks: hooks)
        for _ in 0..<3 { _ = try await stage.data(for: self.asked) }
        #expect(hooks.calls.current.filter { $0 == "trust" }.count == 1)
    }
}

/// Servers that ask who the client is.
@Suite(.timeLimit(.minutes(15))) struct ClientIdentityTests {
    private let root: TestIdentity
    private let staff: TestIdentity
    private let alice: ClientIdentity
    private let bob: ClientIdentity
    private let nginx: NginxOrigin
    private let folder: TemporaryFolder

    init() throws {
        let pki = TestPKI()
        self.folder = try TemporaryFolder()
        self.root = try pki.root()
        self.staff = try pki.root("Staff")
        let alice = try self.folder.write(pki.client("alice", signedBy: self.staff), as: "alice")
        let bob = try self.folder.write(pki.client("bob", signedBy: pki.root("Strangers")), as: "bob")
        self.alice = try ClientIdentity(certificateFile: alice.certificate, keyFile: alice.key)
        self.bob = try ClientIdentity(certificateFile: bob.certificate, keyFile: bob.key)
        let authorities = try self.folder.write(self.staff.certificatePEM, to: "staff.pem")
        self.nginx = try NginxOrigin(
            https: [pki.leaf(ip: ["127.0.0.1"], signedBy: self.root)],
            locations: """
                ssl_verify_client on;
                ssl_client_certificate \(authorities);
                location = /who { return 200 $ssl_client_s_dn; }

                """)
    }

    private func stage(_ identity: ClientIdentity?, hooks: RecordedHooks? = nil) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.clientIdentity = identity
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        return try SessionStage(policy: policy, configuration: configuration, hooks: hooks)
    }

    private var asked: SessionRequest { request(self.nginx.httpsPort, "/who", scheme: .https) }

    @Test func `the configuration's certificate lets the session in`() async throws {
        let result = try await self.stage(self.alice).data(for: self.asked)
        #expect(result.status == 200 && result.text == "CN=alice")
        // Hooks that say nothing change nothing.
        #expect(
            try await self.stage(self.alice, hooks: RecordedHooks()).data(for: self.asked).text == "CN=alice")
    }

    @Test func `without a certificate, or with one of strangers, the server's refusal is the result`() async throws {
        for identity in [nil, self.bob] {
            let result = try await self.stage(identity).data(for: self.asked)
            #expect(result.status == 400 && result.text.contains("certificate"))
        }
    }

    @Test func `SES-32 the hook chooses the certificate by what the server says it accepts`() async throws {
        let requests = Watched<[ClientCertificateRequest]>([])
        let alice = self.alice
        let hooks = RecordedHooks { answers in
            answers.identity = { request in
                requests.change { $0.append(request) }
                return alice
            }
        }
        #expect(try await self.stage(self.bob, hooks: hooks).data(for: self.asked).text == "CN=alice")
        #expect(requests.current.map(\.host) == ["127.0.0.1"] && requests.current.first?.authorities == ["CN=Staff"])
        let hidden = RecordedHooks { $0.identity = { _ in nil } }
        #expect(try await self.stage(self.alice, hooks: hidden).data(for: self.asked).status == 400)
    }
}
