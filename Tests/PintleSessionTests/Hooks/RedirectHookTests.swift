// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Redirects: those that are followed automatically, the hook's decisions, and those that are never followed.
@Suite(.timeLimit(.minutes(15))) struct RedirectHookTests {
    /// Returns an origin that redirects all clients from `/go` to `location` with `status`.
    private func redirecting(_ status: Int, to location: String) throws -> RawOrigin {
        try origin { request in
            request.target == "/go"
                ? answer(status, ["Location: \(location)"], "moved") : answer(200, [], request.target)
        }
    }

    @Test func `SES-15 without a hook a redirect is followed as it proposes`() async throws {
        let origin = try self.redirecting(302, to: "/there?x=1")
        let result = try await SessionStage().data(for: request(origin.port, "/go"))
        #expect(result.status == 200 && result.text == "/there?x=1")
        #expect(result.url.description == "http://127.0.0.1:\(origin.port)/there?x=1")
        #expect(result.metrics.redirectCount == 1 && result.metrics.transactions.count == 2)
        // The body of the redirect was read, so its connection served again.
        #expect(origin.connections.count == 1)
    }

    @Test func `SES-16 the hook sees the redirect and its request is followed`() async throws {
        let origin = try self.redirecting(302, to: "/there")
        let hooks = RecordedHooks { answers in
            answers.redirect = { proposed, _ in
                var other = proposed
                other.url = try HTTPURL("http://\(proposed.url.authority)/elsewhere")
                other.fields.append("X-Test", "hook")
                return other
            }
        }
        let stage = try SessionStage(hooks: hooks)
        let task = try stage.session.dataTask(request(origin.port, "/go"))
        task.resume()
        let result = try await task.value()
        #expect(result.text == "/elsewhere" && origin.requests.last?["X-Test"] == "hook")
        #expect(hooks.redirects.current.map(\.status) == [302])
        #expect(hooks.redirects.current.first?.fields["Location"] == "/there")
        #expect(task.currentRequest.url.path == "/elsewhere" && task.originalRequest.url.path == "/go")
    }

    @Test func `SES-17 a hook that returns nothing makes the redirect the result`() async throws {
        let origin = try self.redirecting(302, to: "/there")
        let stage = try SessionStage(hooks: RecordedHooks { $0.redirect = { _, _ in nil } })
        let result = try await stage.data(for: request(origin.port, "/go"))
        #expect(result.status == 302 && result.text == "moved" && result.metrics.redirectCount == 0)
        #expect(origin.requests.count == 1)
    }

    @Test func `what the redirect hook throws is behind the task's error`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 1000000\r\n\r\nsome")
            _ = try connection.waitForEnd()
        }
        let hooks = RecordedHooks { $0.redirect = { _, _ in throw Refusal(reason: "not there") } }
        let stage = try SessionStage(hooks: hooks)
        let error = await stage.failure(of: request(origin.port, "/go"))
        #expect(error?.code == .hookFailed && error?.underlying as? Refusal == Refusal(reason: "not there"))
        // The rest of the redirect is not read: its transfer is over.
        #expect(origin.requests.count == 1 && stage.session.runningTransfers() == 0)
        try await hooks.metrics.reach("the metrics") { $0.count == 1 }
        #expect(hooks.metrics.current.first?.transactions.count == 1)
    }

    @Test func `a request of the hook is checked like any other`() async throws {
        let origin = try self.redirecting(302, to: "/there")
        let hooks = RecordedHooks { answers in
            answers.redirect = { proposed, _ in
                var other = proposed
                other.fields.append("X-Test", "a\r\nX-Smuggled: b")
                return other
            }
        }
        let error = try await SessionStage(hooks: hooks).failure(of: request(origin.port, "/go"))
        #expect(error?.code == .invalidRequest && origin.requests.count == 1)
    }

    @Test(arguments: [301, 302, 303])
    func `a POST becomes a GET without body and without what described it`(status: Int) async throws {
        let origin = try self.redirecting(status, to: "/there")
        let fields: Fields = ["Content-Type": "text/plain", "X-Test": "kept"]
        _ = try await SessionStage().data(
            for: request(origin.port, "/go", method: "POST", fields: fields), from: .bytes(ByteBuffer(string: "text")))
        let second = try #require(origin.requests.last)
        #expect(second.method == "GET" && second.body.isEmpty && second["X-Test"] == "kept")
        #expect(second["Content-Type"] == nil && second["Content-Length"] == nil && second["Transfer-Encoding"] == nil)
    }

    @Test func `a 303 makes GET of PUT, and leaves HEAD as it is`() async throws {
        let origin = try self.redirecting(303, to: "/there")
        let session = try SessionStage()
        _ = try await session.data(for: request(origin.port, "/go", method: "PUT"))
        #expect(origin.requests.last?.method == "GET")
        let headers = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let go = "HTTP/1.1 303 See Other\r\nLocation: /there\r\nContent-Length: 5\r\n\r\n"
                try connection.send(request.target == "/go" ? go : "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            }
        }
        let result = try await session.data(for: request(headers.port, "/go", method: "HEAD"))
        #expect(headers.requests.map(\.method) == ["HEAD", "HEAD"] && result.body.readableBytes == 0)
    }

    @Test func `credentials stay within their origin`() async throws {
        let second = try RawOrigin(answering: response("there"))
        let first = try origin { request in
            let place = request.target == "/go" ? "/near" : "http://127.0.0.1:\(second.port)/far"
            return answer(302, ["Location: \(place)"])
        }
        let fields: Fields = ["Authorization": "Bearer secret", "Cookie": "a=1", "X-Test": "kept"]
        _ = try await SessionStage().data(for: request(first.port, "/go", fields: fields))
        #expect(first.requests.map { $0["Authorization"] } == ["Bearer secret", "Bearer secret"])
        let seen = try #require(second.requests.first)
        #expect(seen["Authorization"] == nil && seen["Cookie"] == nil && seen["X-Test"] == "kept")
        #expect(seen.head.values("Host") == ["127.0.0.1:\(second.port)"])
    }

    @Test func `as many redirects are followed as the configuration says, and none more`() async throws {
        let origin = try origin { request in
            let left = Int(request.target.dropFirst()) ?? 0
            return left == 0 ? answer(200) : answer(302, ["Location: /\(left - 1)"])
        }
        var configuration = SessionConfiguration()
        configuration.redirectLimit = 3
        let stage = try SessionStage(configuration: configuration)
        let result = try await stage.data(for: request(origin.port, "/3"))
        #expect(result.status == 200 && result.metrics.redirectCount == 3)
        let error = await stage.failure(of: request(origin.port, "/4"))
        #expect(error?.code == .badRedirect)
        #expect(error?.message == "127.0.0.1:\(origin.port) leads to more than 3 redirects")
        #expect(origin.requests.count == 8)
    }

    @Test func `a loop of redirects ends`() async throws {
        let origin = try origin { answer(307, ["Location: \($0.target == "/a" ? "/b" : "/a")"]) }
        let error = try await SessionStage().failure(of: request(origin.port, "/a"))
        #expect(error?.code == .badRedirect && origin.requests.count == 21)
    }

    @Test(arguments: ["ftp://127.0.0.1/x", "http://user:secret@127.0.0.1/", "http://[", "file:///etc/passwd"])
    func `a redirect to where no request can go is an error that keeps the place secret`(location: String) async throws
    {
        let origin = try self.redirecting(302, to: location)
        let error = try await SessionStage().failure(of: request(origin.port, "/go"))
        #expect(error?.code == .badRedirect)
        #expect(error?.message.hasPrefix("127.0.0.1:\(origin.port) redirects badly: ") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: [300, 304, 305])
    func `other 3xx, and those without a Location, are results`(status: Int) async throws {
        let origin = try origin { _ in "HTTP/1.1 \(status) X\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n" }
        let result = try await SessionStage().data(for: request(origin.port, "/go"))
        #expect(result.status == UInt16(status) && origin.requests.count == 1)
        let silent = try RawOrigin(answering: answer(302))
        #expect(try await SessionStage().data(for: request(silent.port)).status == 302)
    }

    @Test func `a session that pins never asks in clear text, by redirect neither`() async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let leaf = try pki.leaf(ip: ["127.0.0.1"], signedBy: root)
        let plain = try RawOrigin(answering: response("in clear text"))
        let nginx = try NginxOrigin(
            https: [leaf], locations: "location = /go { return 302 http://127.0.0.1:\(plain.port)/; }\n")
        let pinning = try SecurityPolicy(pinning: .publicKey, pins: [leaf.pin], roots: .only([root.certificate]))
        let stage = try SessionStage(policy: pinning)
        let secure = request(nginx.httpsPort, "/go", scheme: .https)
        for asked in [secure, request(plain.port)] {
            let error = await stage.failure(of: asked)
            #expect(error?.code == .cleartext, "\(asked.url)")
            #expect(error?.message.contains("127.0.0.1:\(plain.port)") == true)
        }
        #expect(plain.connections.isEmpty)
        // A session that pins nothing follows it.
        let loose = try SessionStage(policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])))
        #expect(try await loose.data(for: secure).text == "in clear text")
    }
}
