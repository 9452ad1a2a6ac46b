// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleTesting
import PintleTrust
import Testing

@testable import PintleSession

/// Values that a client sends and gets, and options that a program may set for each request.
@Suite(.timeLimit(.minutes(15))) struct ShapingTests {
    private struct User: Codable, Sendable, Equatable {
        let name: String
    }

    private let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    private func origin(_ body: String, status: String = "200 OK") throws -> RawOrigin {
        try RawOrigin(
            answering:
                "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body)
    }

    private func api(_ origin: RawOrigin) throws -> HTTPSession {
        try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.port)")
    }

    // MARK: Values

    @Test func `a value goes out as JSON and another comes back`() async throws {
        let origin = try self.origin(#"{"name":"Ada"}"#)
        let api = try self.api(origin)
        let ada = User(name: "Ada")
        #expect(try await api.get("users/1", as: User.self) == ada)
        #expect(try await api.post("users", json: ada, as: User.self) == ada)
        #expect(try await api.put("users/1", json: ada, as: User.self) == ada)
        #expect(try await api.patch("users/1", body: .json(["name": "Ada"]), as: User.self) == ada)
        #expect(try await api.delete("users/1", as: User.self) == ada)
        let sent = origin.requests
        #expect(
            sent.map { String($0.head.startLine.prefix { $0 != " " }) } == ["GET", "POST", "PUT", "PATCH", "DELETE"])
        for request in sent[1...3] {
            #expect(request["Content-Type"] == "application/json" && request.text == #"{"name":"Ada"}"#)
        }
        #expect(sent[0]["Content-Type"] == nil && sent[4].body.isEmpty)
    }

    @Test func `a response without a value is an error, or nil of an optional type`() async throws {
        let origin = try RawOrigin(answering: "HTTP/1.1 204 No Content\r\n\r\n")
        let api = try self.api(origin)
        let error = await sessionError { _ = try await api.get("users/1", as: User.self) }
        #expect((error?.underlying as? RejectedResponse)?.violation.kind == .responseBody)
        #expect(try await api.get("users/1", as: User?.self) == nil)
        try await api.post("users", json: User(name: "Ada"))
    }

    @Test func `a value that has no JSON is an error, and nothing is sent`() async throws {
        let origin = try self.origin("{}")
        let error = await sessionError { _ = try await self.api(origin).post("a", json: [Double.infinity]) }
        #expect(error?.code == .invalidRequest && error?.underlying is EncodingError && origin.connections.isEmpty)
    }

    @Test func `bodies of every kind have their type`() async throws {
        let origin = try self.origin("{}")
        let api = try self.api(origin)
        let folder = try TemporaryFolder()
        let file = try folder.write("from a file", to: "note.txt")
        let pieces = BodyStream {
            AsyncStream<ByteBuffer> {
                $0.yield(ByteBuffer(string: "piece")); $0.finish()
            }
        }
        try await api.post("a", body: .text("grüße"))
        try await api.post("a", body: .bytes([1, 2, 3]))
        try await api.post("a", body: .file(file))
        try await api.post("a", body: .stream(pieces, type: "text/csv"))
        try await api.post("a", body: .parameters(["k": "v"]))
        #expect(
            origin.requests.map { $0["Content-Type"] } == [
                "text/plain; charset=utf-8", "application/octet-stream", "text/plain", "text/csv",
                "application/x-www-form-urlencoded",
            ])
        #expect(
            origin.requests.map { Array($0.body) } == [
                Array("grüße".utf8), [1, 2, 3], Array("from a file".utf8), Array("piece".utf8), Array("k=v".utf8),
            ])
    }

    // MARK: One request

    @Test func `a request has a time-out and a deadline of its own`() async throws {
        let silent = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let api = try self.api(silent)
        let silence = await sessionError { _ = try await api.get("a") { $0.timeout = .milliseconds(100) } }
        #expect(silence?.code == .timeout && silence?.message.contains("silent") == true)
        let late = await sessionError { _ = try await api.get("a") { $0.deadline = .now + .milliseconds(100) } }
        #expect(late?.code == .timeout && late?.message.contains("not done within") == true)
        let never = await sessionError { _ = try await api.get("a") { $0.deadline = .now - .seconds(1) } }
        #expect(never?.code == .timeout)
    }

    @Test(arguments: RedirectRule.allCases) func `redirects are followed by rule`(rule: RedirectRule) async throws {
        let other = try RawOrigin(answering: response("there"))
        let origin = try RawOrigin { connection in
            while true {
                let path = try connection.readRequest().head.startLine.split(separator: " ")[1]
                let place = path == "/away" ? "http://127.0.0.1:\(other.port)/" : "/end"
                try connection.send(
                    path == "/end"
                        ? response("here") : "HTTP/1.1 302 Found\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        func status(_ path: String) async throws -> (UInt16, String) {
            var wanted = request(origin.port, path)
            wanted.redirects = rule
            let result = try await self.stage.session.data(for: wanted)
            return (result.response.status, result.text)
        }
        #expect(try await status("/near") == (rule == .never ? (302, "") : (200, "here")))
        #expect(try await status("/away") == (rule == .all || rule == .secure ? (200, "there") : (302, "")))
    }

    @Test func `a rule that keeps to https does not leave it`() throws {
        let (secure, plain) = (try HTTPURL("https://a.test/"), try HTTPURL("http://a.test/"))
        #expect(RedirectRule.secure.allows(secure, after: plain) && RedirectRule.secure.allows(plain, after: plain))
        #expect(!RedirectRule.secure.allows(plain, after: secure) && RedirectRule.all.allows(plain, after: secure))
    }

    // MARK: Engines

    @Test func `clients that are made without an engine share one, and nobody has to stop it`() async throws {
        let origin = try self.origin(#"{"name":"Ada"}"#)
        let base = "http://127.0.0.1:\(origin.port)"
        for _ in 0..<3 {
            #expect(try await HTTPSession(base: base).get("users/1", as: User.self).name == "Ada")
        }
        let roots = SecurityPolicy.Roots.only([])
        let policy = try? SecurityPolicy(pinning: .none, roots: roots)
        #expect(policy == nil)
    }

    @Test func `an engine that is let go ends its threads`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        weak var engine: Engine?
        do {
            let own = try Engine(threads: 2)
            engine = own
            let session = try Session(engine: own)
            _ = try await session.data(for: request(origin.port))
        }
        while engine != nil { await Task.yield() }
        try origin.waitUntilQuiet()
    }
}
