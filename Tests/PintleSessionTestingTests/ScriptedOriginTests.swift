// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleSessionTesting
import Testing

private typealias Origin = PintleSessionTesting.ScriptedOrigin

private struct User: Codable, Sendable, Equatable {
    var name: String
    var age: Int
}

/// The answers of an origin as the library receives them, and the requests as the origin receives them.
@Suite(.timeLimit(.minutes(5))) struct ScriptedOriginTests {
    @Test func `values go out and come back as JSON`() async throws {
        let origin = try Origin { request in
            var user: User = try request.json()
            user.age += 1
            return .json(user, status: 201)
        }
        let api = try HTTPSession(base: origin.url)
        let older = try await api.post("users?x=%20", json: User(name: "Ada", age: 36), as: User.self)
        #expect(older == User(name: "Ada", age: 37))
        let request = try #require(origin.requests.first)
        #expect(request.description == "POST /users?x=%20")
        #expect(request.fields["Content-Type"] == "application/json")
        #expect(request.text.contains("\"Ada\""))
        await origin.stop()
    }

    @Test func `a route is chosen by method and target, and what no route fits is told which there are`() async throws {
        let origin = try Origin(["GET /a?b=1": .text("first"), "DELETE /a": .status(204)])
        let api = try HTTPSession(base: origin.url)
        #expect(try await String(decoding: api.get("a?b=1").value, as: UTF8.self) == "first")
        #expect(try await api.delete("a").head.status == 204)
        let error = try await #require(throws: SessionError.self) { try await api.get("a?b=2") }
        let rejected = try #require(error.underlying as? RejectedResponse)
        #expect(rejected.head.status == 404)
        #expect(
            String(decoding: rejected.body, as: UTF8.self)
                == "No route fits: GET /a?b=2\nThe routes of this origin:\n  DELETE /a\n  GET /a?b=1\n")
        #expect(origin.requests.map(\.description) == ["GET /a?b=1", "DELETE /a", "GET /a?b=2"])
    }

    @Test func `the body of a form is recorded as it came`() async throws {
        let origin = try Origin(["POST /form": .status(200)])
        let api = try HTTPSession(base: origin.url)
        try await api.post("form", body: .parameters(["k": "a b", "n": 1]))
        let request = try #require(origin.requests.first)
        #expect(request.text == "k=a%20b&n=1")
        #expect(request.fields["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
    }

    @Test func `a redirect is followed to another route`() async throws {
        let origin = try Origin(["GET /old": .redirect(to: "/new", status: 301), "GET /new": .text("here")])
        let api = try HTTPSession(base: origin.url)
        #expect(try await String(decoding: api.get("old").value, as: UTF8.self) == "here")
        #expect(origin.requests.map(\.target) == ["/old", "/new"])
    }

    @Test func `answers come in turn, and the last one stays`() async throws {
        let origin = try Origin(["GET /": .inTurn(.text("1"), .text("2"), .text("3"))])
        let api = try HTTPSession(base: origin.url)
        var texts: [String] = []
        for _ in 1...5 { texts.append(String(decoding: try await api.get("").value, as: UTF8.self)) }
        #expect(texts == ["1", "2", "3", "3", "3"])
    }

    @Test func `a connection that is used again counts its requests`() async throws {
        let origin = try Origin(["GET /": .text("x"), "GET /last": .text("y", fields: ["Connection": "close"])])
        let api = try HTTPSession(base: origin.url)
        for path in ["", "last", ""] { _ = try await api.get(path) }
        #expect(origin.requests.map(\.connection) == [1, 1, 2])
        #expect(origin.requests.map(\.numberOnConnection) == [1, 2, 1])
        #expect(origin.connectionCount == 2)
    }

    @Test func `HEAD has the fields of an answer, and the connection goes on`() async throws {
        let origin = try Origin(["HEAD /text": .text("four"), "HEAD /pieces": .chunks(["a"]), "GET /": .text("x")])
        let api = try HTTPSession(base: origin.url)
        #expect(try await api.head("text").fields["Content-Length"] == "4")
        _ = try await api.head("pieces")
        _ = try await api.get("")
        #expect(origin.connectionCount == 1)
    }

    // MARK: Piece by piece

    @Test func `a piece arrives before the next is sent`() async throws {
        let (pieces, gate) = AsyncStream<String>.makeStream()
        let origin = try Origin(["GET /": .chunks(from: pieces)])
        let api = try HTTPSession(base: origin.url)
        gate.yield("one\n")
        var lines = try await api.stream("").body.lines().makeAsyncIterator()
        #expect(try await lines.next() == "one")
        gate.yield("two\n")
        #expect(try await lines.next() == "two")
        gate.finish()
        #expect(try await lines.next() == nil)
    }

    @Test func `a body of pieces is whole, and a closure that throws breaks it off`() async throws {
        struct Enough: Error {}
        let origin = try Origin([
            "GET /whole": .chunks(["a", "", "bc"]),
            "GET /broken": .stream { body in
                try await body.write("abc")
                throw Enough()
            },
        ])
        let api = try HTTPSession(base: origin.url)
        #expect(try await String(decoding: api.get("whole").value, as: UTF8.self) == "abc")
        let error = try await #require(throws: SessionError.self) { try await api.get("broken") }
        #expect(error.code == .truncated)
    }

    // MARK: Failures

    @Test func `a closure that throws is answered 500 with its error`() async throws {
        struct Odd: Error {}
        let origin = try Origin { _ in throw Odd() }
        let api = try HTTPSession(base: origin.url)
        let error = try await #require(throws: SessionError.self) { try await api.get("x") }
        let rejected = try #require(error.underlying as? RejectedResponse)
        #expect(rejected.head.status == 500)
        #expect(String(decoding: rejected.body, as: UTF8.self) == "The scripted answer to GET /x failed: Odd()\n")
    }

    @Test func `an answer that is cut is truncated for the client`() async throws {
        let origin = try Origin([
            "GET /length": .cut(after: 3, of: .text("abcdef")),
            "GET /chunks": .cut(after: 3, of: .chunks(["ab", "cd"])),
            "GET /lie": .text("abc", fields: ["Content-Length": "9"]),
        ])
        let api = try HTTPSession(base: origin.url)
        for path in ["length", "chunks", "lie"] {
            var came = ""
            let error = try await #require(throws: SessionError.self) {
                for try await bytes in try await api.stream(path).body { came += String(buffer: bytes) }
            }
            #expect(error.code == .truncated, "\(path)")
            #expect(came == "abc", "\(path)")
        }
    }

    @Test func `a connection that is reset or closed without an answer is broken`() async throws {
        let origin = try Origin(["POST /reset": .reset, "POST /close": .close])
        let api = try HTTPSession(base: origin.url)
        for path in ["reset", "close"] {
            let error = try await #require(throws: SessionError.self) { try await api.post(path) }
            #expect(error.code == .connectionBroken || error.code == .truncated, "\(path): \(error)")
        }
    }

    @Test func `no answer is a time-out`() async throws {
        let origin = try Origin(["GET /": .never])
        let api = try HTTPSession(base: origin.url)
        let error = try await #require(throws: SessionError.self) {
            try await api.get("") { $0.timeout = .milliseconds(50) }
        }
        #expect(error.code == .timeout)
        #expect(origin.requests.count == 1)
    }
}
