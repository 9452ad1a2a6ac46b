// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Challenges with schemes that the session cannot answer itself.
@Suite(.timeLimit(.minutes(15))) struct ChallengeSchemeTests {
    private let alice: Credential
    private let basic = "Basic YWxpY2U6cGFzczp3b3Jk"

    init() throws { self.alice = try Credential(user: "alice", password: "pass:word") }

    /// Returns an origin that admits clients with the field value `authorization`, and offers `offers` to all others.
    private func guarded(_ authorization: String, offering offers: String...) throws -> RawOrigin {
        try origin { request in
            if request["Authorization"] == authorization { return answer(200, [], "inside") }
            return answer(401, offers.map { "WWW-Authenticate: \($0)" }, "outside")
        }
    }

    private func stage(
        _ challenge: @escaping @Sendable (Challenge) async throws -> ChallengeAnswer,
        configuration: SessionConfiguration = SessionConfiguration()
    ) throws -> (SessionStage, RecordedHooks) {
        let hooks = RecordedHooks { $0.challenge = challenge }
        return (try SessionStage(configuration: configuration, hooks: hooks), hooks)
    }

    @Test func `a bearer token is renewed by who is asked for it, with all that the server says`() async throws {
        let origin = try self.guarded(
            "Bearer new.token", offering: "Bearer realm=\"api\", scope=\"a b\", error=\"invalid_token\"")
        let (stage, hooks) = try self.stage { challenge in
            guard challenge.scheme == "bearer" else { return .performDefault }
            return .bearer(challenge.previousFailureCount == 0 ? "old.token" : "new.token")
        }
        #expect(try await stage.data(for: request(origin.port)).text == "inside")
        let challenges = hooks.challenges.current
        #expect(challenges.map(\.previousFailureCount) == [0, 1] && challenges.map(\.realm) == ["api", "api"])
        let offer = try #require(challenges.first?.offer)
        #expect(offer.parameters == ["realm": "api", "scope": "a b", "error": "invalid_token"] && offer.token68 == nil)
        #expect(challenges.first?.method == .other(offer) && challenges.first?.isProxy == false)
    }

    @Test func `any other scheme is answered by a value of its own, and may have a token`() async throws {
        let origin = try self.guarded("Hawk id=\"1\", mac=\"x\"", offering: "Hawk", "Negotiate dG9rZW4=")
        let (stage, hooks) = try self.stage { challenge in
            challenge.scheme == "hawk" ? .authorization("Hawk id=\"1\", mac=\"x\"") : .reject
        }
        #expect(try await stage.data(for: request(origin.port)).text == "inside")
        #expect(hooks.challenges.current.map(\.scheme) == ["hawk"])
        let (choosy, others) = try self.stage { _ in .reject }
        #expect(try await choosy.data(for: request(origin.port)).status == 401)
        #expect(others.challenges.current.map(\.offer.token68) == [nil, "dG9rZW4="])
    }

    @Test func `schemes without a password come first, and who knows only passwords hears of all`() async throws {
        let origin = try self.guarded(self.basic, offering: "Basic realm=\"r\", Bearer realm=\"r\"", "NTLM")
        let alice = self.alice
        for answer in [ChallengeAnswer.use(alice), .performDefault, .reject] {
            let (stage, hooks) = try self.stage { challenge in
                if case .basic = challenge.method { .use(alice) } else { answer }
            }
            #expect(try await stage.data(for: request(origin.port)).text == "inside", "\(answer)")
            #expect(hooks.challenges.current.map(\.scheme) == ["bearer", "ntlm", "basic"])
        }
    }

    @Test func `without a hook a password of the configuration answers what it can`() async throws {
        let origin = try self.guarded(self.basic, offering: "Negotiate", "Bearer realm=\"r\"", "Basic realm=\"r\"")
        var configuration = SessionConfiguration()
        let site = Origin(.http, Authority(host: "127.0.0.1", port: UInt16(origin.port)))
        configuration.credentials = [site: self.alice]
        let stage = try SessionStage(configuration: configuration)
        #expect(try await stage.data(for: request(origin.port)).text == "inside" && origin.requests.count == 2)
    }

    @Test func `a password that Digest did not take is not sent as it is, after another scheme neither`() async throws {
        let origin = try self.guarded(
            "nobody", offering: "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", "Basic realm=\"r\"", "Bearer")
        var configuration = SessionConfiguration()
        let site = Origin(.http, Authority(host: "127.0.0.1", port: UInt16(origin.port)))
        configuration.credentials = [site: self.alice]
        let (stage, hooks) = try self.stage(
            { challenge in
                switch challenge.scheme {
                case "bearer": challenge.previousFailureCount == 0 ? .bearer("x") : .reject
                case "digest": challenge.previousFailureCount == 0 ? .performDefault : .reject
                default: .performDefault
                }
            }, configuration: configuration)
        #expect(try await stage.data(for: request(origin.port)).status == 401)
        let sent = origin.requests.map { $0["Authorization"]?.split(separator: " ").first.map(String.init) }
        #expect(sent == [nil, "Bearer", "Digest"])
        #expect(hooks.challenges.current.map(\.previousFailureCount) == [0, 1, 0, 1, 1, 1])
    }

    @Test func `a proxy that forwards may ask by any scheme, too`() async throws {
        let inside = try origin { _ in answer(200, [], "inside") }
        let proxy = try ScriptedProxy(
            leadingTo: inside.port, demanding: "Bearer abc", offering: "Bearer realm=\"gate\"")
        var configuration = SessionConfiguration()
        configuration.proxy = proxy.server
        let (stage, hooks) = try self.stage({ _ in .bearer("abc") }, configuration: configuration)
        let result = try await stage.data(for: SessionRequest("GET", "http://a.example/"))
        #expect(result.text == "inside" && hooks.challenges.current.map(\.isProxy) == [true])
        #expect(hooks.challenges.current.first?.authority == proxy.authority)
        #expect(inside.requests.map { $0["Authorization"] } == [nil])
    }

    @Test(arguments: [
        ChallengeAnswer.bearer("two words"), .bearer(""), .bearer("x\r\nY: z"), .authorization("X y\r\nY: z"),
        .authorization(""), .authorization(" x"),
    ])
    func `an answer that is no value of a field fails the task, and is not told`(answer: ChallengeAnswer) async throws {
        let origin = try self.guarded("nobody", offering: "Bearer realm=\"r\"")
        let (stage, _) = try self.stage { _ in answer }
        let error = try #require(await stage.failure(of: request(origin.port)))
        #expect(error.code == .cannotSend && !error.description.contains("words") && origin.requests.count == 1)
    }

    @Test func `a token goes along to the same origin, and to no other`() async throws {
        let second = try self.guarded("nobody", offering: "Bearer realm=\"r\"")
        let first = try origin { request in
            guard request["Authorization"] == "Bearer abc" else { return answer(401, ["WWW-Authenticate: Bearer"]) }
            if request.target == "/away" { return answer(302, ["Location: http://127.0.0.1:\(second.port)/"]) }
            return request.target == "/go" ? answer(302, ["Location: /there"]) : answer(200, [], request.target)
        }
        let port = first.port
        let (stage, _) = try self.stage { Int($0.authority.port) == port ? .bearer("abc") : .reject }
        #expect(try await stage.data(for: request(first.port, "/go")).text == "/there")
        #expect(first.requests.count == 3)
        #expect(try await stage.data(for: request(first.port, "/away")).status == 401)
        #expect(second.requests.map { $0["Authorization"] } == [nil])
    }

    @Test func `no answer shows its secret`() {
        for answer in [ChallengeAnswer.bearer("secret"), .authorization("secret"), .use(self.alice)] {
            let shown = "\(answer) \(String(reflecting: answer)) \(Mirror(reflecting: answer).children.map(\.value))"
            #expect(!shown.contains("secret") && !shown.contains("pass:word"))
        }
    }
}
