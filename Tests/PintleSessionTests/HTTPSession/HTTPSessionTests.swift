// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Base URLs, verbs and serializers, against an origin that remembers its requests.
@Suite(.timeLimit(.minutes(15))) struct HTTPSessionTests {
    let stage: SessionStage
    let origin: RawOrigin
    let api: HTTPSession

    init() throws {
        self.stage = try SessionStage()
        self.origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request.head.startLine.hasPrefix("HEAD") {
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
                } else {
                    try connection.send(response(#"{"a":[1,2]}"#, fields: "Content-Type: application/json\r\n"))
                }
            }
        }
        self.api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(self.origin.port)/v1")
    }

    /// Returns the last of the origin's first `count` requests.
    private func asked(_ count: Int = 1) async throws -> Message {
        try await self.origin.reachRequests(count)[count - 1]
    }

    @Test(arguments: ["/v1", "/v1/"]) func `HSM-01 HSM-03 a base path ends with a slash`(path: String) throws {
        let api = try HTTPSession(self.stage.session, base: "http://example.com\(path)")
        #expect(api.baseURL?.description == "http://example.com/v1/")
    }

    @Test func `HSM-02 a base without a path is the root`() throws {
        let api = try HTTPSession(self.stage.session, base: "http://example.com")
        #expect(try api.url("foo").description == "http://example.com/foo")
    }

    @Test(arguments: [
        ("foo", "http://example.com/v1/foo"), ("foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("/foo", "http://example.com/foo"), ("foo/", "http://example.com/v1/foo/"),
        ("/foo/", "http://example.com/foo/"), ("http://example2.com/", "http://example2.com/"),
    ])
    func `HSM-04 HSM-05 URLs are resolved against the base`(text: String, expected: String) throws {
        let api = try HTTPSession(self.stage.session, base: "http://example.com/v1/")
        #expect(try api.url(text).description == expected)
    }

    @Test func `HSM-06 without a base a URL has to be absolute`() async throws {
        let api = try HTTPSession(self.stage.session)
        #expect(try api.url("http://example.com/a").description == "http://example.com/a")
        for text in ["a", "/a", "", "ftp://example.com/", "http://", "http://user@example.com/"] {
            let error = await sessionError { _ = try await api.get(text) }
            #expect(error?.code == .invalidURL && error?.message.isEmpty == false, "\(text)")
        }
    }

    @Test func `HSM-07 fields of a request replace what the serializer wrote`() async throws {
        _ = try await self.api.post("a", body: .parameters(["k": "v"])) { $0.fields.set("Content-Type", "text/odd") }
        let seen = try await self.asked()
        #expect(seen["Content-Type"] == "text/odd" && seen.text == "k=v")
        #expect(seen.head.fields.filter { $0.name.lowercased() == "content-type" }.count == 1)
    }

    @Test func `HSM-08 default fields go with every request, its own before them`() async throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setField("X-Foo", to: "foo value")
        try serializer.setField("X-Bar", to: "bar value")
        var api = self.api
        api.requestSerializer = serializer
        _ = try await api.get("a") { $0.fields.set("X-Foo", "request value") }
        let seen = try await self.asked()
        #expect(seen["X-Foo"] == "request value" && seen["X-Bar"] == "bar value")
    }

    @Test(arguments: ["POST", "FORM", "PUT", "PATCH", "DELETE"])
    func `HSM-09 a default field is overridden with every method`(method: String) async throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setField("field", to: "default value")
        var api = self.api
        api.requestSerializer = serializer
        let shape: HTTPSession.Shaping = { $0.fields.set("field", "value") }
        switch method {
        case "POST": _ = try await api.post("a", shape)
        case "PUT": _ = try await api.put("a", shape)
        case "PATCH": _ = try await api.patch("a", shape)
        case "DELETE": _ = try await api.delete("a", shape)
        default:
            var form = MultipartForm()
            form.append(name: "a", text: "b")
            _ = try await api.post("a", body: .multipart(form), shape)
        }
        #expect(try await self.asked()["field"] == "value")
    }

    @Test func `HSM-10 parameters go where the method has them`() async throws {
        let parameters: Parameter = ["key": "value"]
        _ = try await self.api.get("x", parameters: parameters)
        _ = try await self.api.head("x", parameters: parameters)
        _ = try await self.api.delete("x", parameters: parameters)
        _ = try await self.api.post("x", body: .parameters(parameters))
        _ = try await self.api.put("x", body: .parameters(parameters))
        _ = try await self.api.patch("x", body: .parameters(parameters))
        let seen = try await self.origin.reachRequests(6)
        #expect(
            seen.map(\.head.startLine) == [
                "GET /v1/x?key=value HTTP/1.1", "HEAD /v1/x?key=value HTTP/1.1", "DELETE /v1/x?key=value HTTP/1.1",
                "POST /v1/x HTTP/1.1", "PUT /v1/x HTTP/1.1", "PATCH /v1/x HTTP/1.1",
            ])
        for request in seen[3...] {
            #expect(request.text == "key=value" && request["Content-Length"] == "9")
            #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
        }
    }

    @Test func `HSM-11 a form is sent in parts with its exact length`() async throws {
        var form = try MultipartForm(parameters: ["key": "value"])
        try form.append(name: "DataName", bytes: Array("Data".utf8), fileName: "DataName", type: "text/plain")
        _ = try await self.api.post("x", body: .multipart(form))
        let seen = try await self.asked()
        #expect(seen["Content-Type"] == "multipart/form-data; boundary=\(form.boundary)")
        #expect(seen["Content-Length"] == "\(seen.body.count)" && seen["Transfer-Encoding"] == nil)
        #expect(seen.text.contains("name=\"key\"\r\n\r\nvalue\r\n") && seen.text.contains("\r\n\r\nData\r\n"))
    }

    @Test func `HSM-12 HSM-13 HSM-14 what cannot be serialized is thrown and no task is made`() async throws {
        let events = self.stage.session.eventStream()
        let error = await sessionError { _ = try await self.api.get("x", parameters: ["k": .data([1])]) }
        #expect(error?.code == .invalidRequest && error?.underlying is SerializationError)
        #expect(self.stage.session.tasks.isEmpty && self.origin.requests.isEmpty)
        await self.stage.session.invalidateAndCancel()
        var count = 0
        for await _ in events { count += 1 }
        #expect(count == 1)
    }

    @Test func `HSM-15 HSM-16 status 200 is a value, 404 an error with its response, 204 no value`() async throws {
        let origin = try NginxOrigin()
        let api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.httpPort)")
        let value = try await api.get("json", as: JSONResponseSerializer()).value
        #expect(value?["a"] == .integer(1))
        #expect(try await api.get("status/204", as: JSONResponseSerializer()).value == nil)
        let error = await sessionError { _ = try await api.get("status/404") }
        let rejected = try #require(error?.underlying as? RejectedResponse)
        #expect(error?.code == .rejected && rejected.head.status == 404)
        #expect(String(decoding: rejected.body, as: UTF8.self) == #"{"error":"none"}"#)
        #expect(rejected.violation.kind == .responseStatus)
    }

    @Test func `TDL-09 a transport without error and a wrong type is an error`() async throws {
        let origin = try NginxOrigin()
        let api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.httpPort)")
        let error = await sessionError { _ = try await api.get("html", as: JSONResponseSerializer()) }
        #expect((error?.underlying as? RejectedResponse)?.violation.kind == .responseContentType)
        #expect(try await api.get("html").value == Array("<p>hello</p>".utf8))
    }

    @Test func `HSM-17 HSM-25 authorization that is set beforehand needs no challenge, also in a copy`() async throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setAuthorization(user: "user", password: "password")
        var api = self.api
        api.requestSerializer = serializer
        let copy = api
        _ = try await copy.get("x")
        #expect(try await self.asked()["Authorization"] == "Basic dXNlcjpwYXNzd29yZA==")
        #expect(self.origin.requests.count == 1)
    }

    @Test func `default authorization stays with the service, whatever URL is asked`() async throws {
        let other = try RawOrigin(answering: response("{}", fields: "Content-Type: application/json\r\n"))
        var serializer = HTTPRequestSerializer()
        try serializer.setAuthorization(user: "user", password: "password")
        var api = self.api
        api.requestSerializer = serializer
        _ = try await api.get("http://127.0.0.1:\(other.port)/x")
        _ = try await api.get("http://127.0.0.1:\(other.port)/x") { $0.fields.set("Authorization", "meant") }
        #expect(try await other.reachRequests(2).map { $0["Authorization"] } == [nil, "meant"])
    }

    @Test func `HSM-18 HSM-19 HSM-20 a policy that pins needs a base with https`() throws {
        let pin = try Pin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let policy = try SecurityPolicy(pinning: .publicKey, pins: [pin])
        let session = try SessionStage(policy: policy).session
        _ = try HTTPSession(session, base: "https://example.com")
        for base in ["http://example.com", nil] {
            let error = #expect(throws: SessionError.self) { _ = try HTTPSession(session, base: base) }
            #expect(error?.code == .cleartext && error?.message.contains("public_key") == true)
        }
        for base in ["http://example.com", "https://example.com"] {
            _ = try HTTPSession(self.stage.session, base: base)
        }
    }

    @Test func `HSM-21 a client whose session pins makes no request in clear text`() async throws {
        let pin = try Pin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let stage = try SessionStage(policy: SecurityPolicy(pinning: .publicKey, pins: [pin]))
        let api = try HTTPSession(stage.session, base: "https://example.com")
        let error = await sessionError { _ = try await api.get("http://127.0.0.1:\(self.origin.port)/") }
        #expect(error?.code == .cleartext && self.origin.connections.isEmpty)
    }

    @Test func `a type of the program is decoded`() async throws {
        struct Answer: Decodable, Sendable, Equatable { let a: [Int] }
        let response = try await self.api.get("x", as: DecodableResponseSerializer(Answer.self))
        #expect(response.value == Answer(a: [1, 2]) && response.head.status == 200)
        #expect(response.url.path == "/v1/x" && response.metrics.transactions.count == 1)
    }

    @Test func `LOOK-118 of a refusal with another document the status is told first`() async throws {
        struct Answer: Decodable, Sendable { let b: Int }
        let origin = try RawOrigin(
            answering: "HTTP/1.1 500 No\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}")
        let api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.port)")
        let error = await sessionError { _ = try await api.get("x", as: Answer.self) }
        #expect(error?.code == .rejected)
        #expect(
            error?.message.hasPrefix("Request failed: internal server error (500)") == true,
            "\(String(describing: error))")
        let violation = (error?.underlying as? RejectedResponse)?.violation
        #expect(violation?.kind == .responseStatus && violation?.underlying?.kind == .responseBody)
    }

    @Test func `LOOK-119 a task that is waited for and was never resumed is set going`() async throws {
        let task = try self.api.task("GET", "x", as: JSONResponseSerializer())
        #expect(try await task.value().value?["a"] == .array([.integer(1), .integer(2)]))
    }

    @Test func `LOOK-119 a closure behind serverSentEvents shapes the request`() async throws {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: a\n\n")
        let api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.port)")
        let source = try api.serverSentEvents("x", reconnection: nil) { $0.fields.append("X-A", "1") }
        var events = source.makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        #expect(origin.requests.first?["X-A"] == "1")
    }

    @Test func `a task of a client is suspended, observed and cancelled like any other`() async throws {
        let task = try self.api.task("GET", "x", as: JSONResponseSerializer())
        #expect(task.task.state == .suspended && self.origin.connections.isEmpty)
        #expect(try await task.run().value?["a"] == .array([.integer(1), .integer(2)]))
        let other = try self.api.task("GET", "x", as: JSONResponseSerializer())
        other.task.cancel()
        #expect(await sessionError { _ = try await other.value() }?.code == .cancelled)
    }
}
