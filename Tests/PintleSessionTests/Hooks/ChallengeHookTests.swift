// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Credentials: of the hook, of the configuration, and none.
@Suite(.timeLimit(.minutes(15))) struct ChallengeHookTests {
    private let alice: Credential

    init() throws { self.alice = try Credential(user: "alice", password: "pass:word") }

    /// Returns an origin that admits clients with the field value `authorization`, and offers `offers` to all others.
    private func guarded(_ authorization: String, offering offers: String...) throws -> RawOrigin {
        try origin { request in
            if request["Authorization"] == authorization { return answer(200, [], "inside") }
            return answer(401, offers.map { "WWW-Authenticate: \($0)" }, "outside")
        }
    }

    private let basic = "Basic YWxpY2U6cGFzczp3b3Jk"

    private func stage(
        _ challenge: @escaping @Sendable (Challenge) async throws -> ChallengeAnswer,
        credentials: [Origin: Credential] = [:]
    ) throws -> (SessionStage, RecordedHooks) {
        let hooks = RecordedHooks { $0.challenge = challenge }
        return (try self.stage(credentials, hooks), hooks)
    }

    private func stage(_ credentials: [Origin: Credential], _ hooks: RecordedHooks? = nil) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.credentials = credentials
        return try SessionStage(configuration: configuration, hooks: hooks)
    }

    private func site(_ port: Int) -> Origin { Origin(.http, Authority(host: "127.0.0.1", port: UInt16(port))) }

    @Test func `SES-26 SES-21 a hook's credential opens what nginx keeps behind a password`() async throws {
        let folder = try TemporaryFolder()
        let openssl = try ChildProcess("/usr/bin/openssl", ["passwd", "-apr1", "passwd"])
        try openssl.waitForExit()
        let line = "user:\(try #require(openssl.output.first))\n"
        let passwords = try folder.write(line, to: "htpasswd")
        let nginx = try NginxOrigin(
            locations: """
                location = /basic {
                    auth_basic "Fake Realm";
                    auth_basic_user_file \(passwords);
                    try_files /none @inside;
                }
                location @inside { return 200 "for $remote_user"; }

                """)
        let credential = try Credential(user: "user", password: "passwd")
        let (stage, hooks) = try self.stage { challenge in
            challenge.method.realm == "Fake Realm" ? .use(credential) : .performDefault
        }
        let result = try await stage.data(for: request(nginx.httpPort, "/basic"))
        #expect(result.status == 200 && result.text == "for user" && result.metrics.transactions.count == 2)
        let challenge = try #require(hooks.challenges.current.first)
        #expect(challenge.method == .basic(realm: "Fake Realm") && !challenge.isProxy)
        #expect(challenge.authority == self.site(nginx.httpPort).authority && challenge.previousFailureCount == 0)
    }

    @Test func `SES-24 SES-32 without credentials a challenge is the result`() async throws {
        let origin = try self.guarded(self.basic, offering: "Basic realm=\"r\"")
        let silent = try await SessionStage().data(for: request(origin.port))
        #expect(silent.status == 401 && silent.text == "outside")
        let (stage, hooks) = try self.stage { _ in .performDefault }
        #expect(try await stage.data(for: request(origin.port)).status == 401)
        #expect(hooks.challenges.current.count == 1 && origin.requests.count == 2)
    }

    @Test func `the configuration's credential is used where no hook has one`() async throws {
        let origin = try self.guarded(self.basic, offering: "Basic realm=\"r\"")
        let credentials = [self.site(origin.port): self.alice]
        #expect(try await self.stage(credentials).data(for: request(origin.port)).text == "inside")
        let (stage, _) = try self.stage({ _ in .performDefault }, credentials: credentials)
        #expect(try await stage.data(for: request(origin.port)).text == "inside")
    }

    @Test func `the configuration's credential is sent once, and to its own asker only`() async throws {
        let origin = try self.guarded("Basic other", offering: "Basic realm=\"r\"")
        let wrong = try await self.stage([self.site(origin.port): self.alice]).data(
            for: request(origin.port))
        #expect(wrong.status == 401 && origin.requests.map { $0["Authorization"] } == [nil, self.basic])
        let elsewhere = Origin(.http, Authority(host: "localhost", port: UInt16(origin.port)))
        let other = try await self.stage([elsewhere: self.alice]).data(for: request(origin.port))
        #expect(other.status == 401 && origin.requests.count == 3)
    }

    @Test func `SES-22 cancelling a challenge ends the task as cancelled`() async throws {
        let origin = try self.guarded(self.basic, offering: "Basic realm=\"r\"")
        let (stage, _) = try self.stage { _ in .cancel }
        #expect(await stage.failure(of: request(origin.port))?.code == .cancelled)
        #expect(origin.requests.count == 1)
    }

    @Test func `SES-22 rejecting an offer leads to the next one, and rejecting all to the response`() async throws {
        let gate = DigestGate(algorithm: .sha256, user: "alice", password: "x")
        let origin = try origin { request in
            if request["Authorization"] == self.basic { return answer(200) }
            return answer(401, ["WWW-Authenticate: Basic realm=\"weak\"", gate.challenge])
        }
        let alice = self.alice
        let (choosy, hooks) = try self.stage { challenge in
            if case .basic = challenge.method { .use(alice) } else { .reject }
        }
        #expect(try await choosy.data(for: request(origin.port)).status == 200)
        #expect(hooks.challenges.current.map(\.method.realm) == ["vault", "weak"])
        let (never, _) = try self.stage { _ in .reject }
        #expect(try await never.data(for: request(origin.port)).status == 401)
    }

    @Test func `SES-20 what the challenge hook throws is exactly the error behind the task's`() async throws {
        let origin = try self.guarded(self.basic, offering: "Basic realm=\"r\"")
        let (stage, hooks) = try self.stage { _ in throw Refusal(reason: "no key at hand") }
        let error = await stage.failure(of: request(origin.port))
        #expect(error?.code == .hookFailed && error?.underlying as? Refusal == Refusal(reason: "no key at hand"))
        // The completion hook is called after the task's end.
        let errors = try await hooks.errors.reach("the completion hook") { !$0.isEmpty }
        #expect(errors.first??.underlying as? Refusal == Refusal(reason: "no key at hand"))
    }

    @Test func `SES-19 a hook may take its time to answer`() async throws {
        let origin = try self.guarded(self.basic, offering: "Basic realm=\"r\"")
        let (isAsked, mayAnswer) = (Watched(false), Watched(false))
        let alice = self.alice
        let (stage, _) = try self.stage { _ in
            isAsked.change { $0 = true }
            try await mayAnswer.reach("leave to answer") { $0 }
            return .use(alice)
        }
        let task = try stage.session.dataTask(request(origin.port))
        task.resume()
        try await isAsked.reach("the question") { $0 }
        // Others do not wait for it.
        let other = try RawOrigin(answering: response("x"))
        #expect(try await stage.data(for: request(other.port)).text == "x")
        #expect(task.state == .running)
        mayAnswer.change { $0 = true }
        #expect(try await task.value().text == "inside")
    }

    @Test func `a hook that never gives up is told how often it failed, and is not asked for ever`() async throws {
        let origin = try self.guarded("nobody", offering: "Basic realm=\"r\"")
        let alice = self.alice
        let (stage, hooks) = try self.stage { _ in .use(alice) }
        #expect(try await stage.data(for: request(origin.port)).status == 401)
        #expect(hooks.challenges.current.map(\.previousFailureCount) == Array(0..<8) && origin.requests.count == 9)
    }

    @Test(arguments: [DigestAlgorithm.md5, .sha256])
    func `Digest is answered for every method and target`(algorithm: DigestAlgorithm) async throws {
        let gate = DigestGate(algorithm: algorithm, user: "alice", password: "pass:word")
        let origin = try origin { try gate.admits($0) ? answer(200, [], $0.text) : answer(401, [gate.challenge]) }
        let stage = try self.stage([self.site(origin.port): self.alice])
        for (method, path) in [("GET", "/"), ("GET", "/a%20b?c=d&e=\"f\""), ("DELETE", "/x")] {
            let result = try await stage.data(for: request(origin.port, path, method: method))
            #expect(result.status == 200, "\(method) \(path)")
        }
        let upload = try await stage.data(
            for: request(origin.port, "/store", method: "PUT"), from: .bytes(ByteBuffer(string: "stored")))
        #expect(upload.status == 200 && upload.text == "stored")
        let wrong = try Credential(user: "alice", password: "guess")
        let refused = try await self.stage([self.site(origin.port): wrong]).data(for: request(origin.port))
        #expect(refused.status == 401)
    }

    @Test func `an answer to Digest is made anew where a redirect leads to another target`() async throws {
        let gate = DigestGate(algorithm: .sha256, user: "alice", password: "pass:word")
        let origin = try origin { request in
            guard try gate.admits(request) else { return answer(401, [gate.challenge]) }
            return request.target == "/go" ? answer(302, ["Location: /there"]) : answer(200, [], request.target)
        }
        let stage = try self.stage([self.site(origin.port): self.alice])
        let result = try await stage.data(for: request(origin.port, "/go"))
        #expect(result.status == 200 && result.text == "/there")
    }

    @Test func `a credential that was given to one origin is not sent to the next`() async throws {
        let second = try self.guarded("nobody", offering: "Basic realm=\"r\"")
        let first = try origin { request in
            request["Authorization"] == nil
                ? answer(401, ["WWW-Authenticate: Basic realm=\"r\""])
                : answer(302, ["Location: http://127.0.0.1:\(second.port)/"])
        }
        let stage = try self.stage([self.site(first.port): self.alice])
        #expect(try await stage.data(for: request(first.port)).status == 401)
        #expect(second.requests.map { $0["Authorization"] } == [nil])
    }

    @Test func `a 407 without a proxy, and a 401 without an offer that can be answered, are results`() async throws {
        let (stage, hooks) = try self.stage { _ in throw Refusal(reason: "not to be asked") }
        for head in [
            "407 X\r\nProxy-Authenticate: Basic realm=\"r\"", "401 X", "401 X\r\nWWW-Authenticate: Hawk x=\"1",
        ] {
            let origin = try RawOrigin(answering: "HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n")
            #expect(try await stage.data(for: request(origin.port)).status > 400)
        }
        #expect(hooks.challenges.current.isEmpty)
    }
}
