// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Routes with an upstream: origin-form requests, base URLs, and the upgrade from http to https.
struct GatewayTests {
    private func line(_ origin: RawOrigin) throws -> String { try origin.waitForRequests(1)[0].head.startLine }

    /// Base path, strip_prefix, the request's path, and the path of the request to the origin.
    static let joins: [(base: String, strip: String?, path: String, joined: String)] = [
        ("", nil, "/a?b=c", "/a?b=c"),
        ("/", nil, "/a", "/a"),
        ("/v1", nil, "/a", "/v1/a"),
        ("/v1/", nil, "/a/b?x=/y", "/v1/a/b?x=/y"),
        ("/v1/", nil, "/", "/v1/"),
        ("/v1/", "/pay", "/pay/charges", "/v1/charges"),
        ("/v1/", "/pay", "/pay", "/v1/"),
        ("/v1/", "/pay", "/payment", "/v1/payment"),
        ("", "/pay", "/pay?x=1", "/?x=1"),
        ("/v1/", nil, "//a", "/v1//a"),
    ]

    @Test(arguments: Self.joins)
    func `a path goes below the base URL`(base: String, strip: String?, path: String, joined: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let prefix = strip.map { ", strip_prefix: \"\($0)\"" } ?? ""
        let pintle = try PintleProcess(
            "routes: [{name: api, match: {hosts: [api.test]}, upstream: \"http://127.0.0.1:\(origin.port)\(base)\"\(prefix)}]"
        )
        let answer = try pintle.ask("GET \(path) HTTP/1.1\r\nHost: api.test\r\n\r\n")
        #expect(answer.text == "done", "\(answer)")
        #expect(try self.line(origin) == "GET \(joined) HTTP/1.1")
        #expect(origin.requests[0]["Host"] == "127.0.0.1:\(origin.port)")
        #expect(try pintle.waitForExchanges(1)[0]["mode"] as? String == "gateway")
    }

    @Test func `a proxy request is routed to the upstream too`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            "routes: [{name: api, match: {hosts: [api.test]}, upstream: \"http://127.0.0.1:\(origin.port)/v1\"}]")
        let result = try Curl.run(proxy: pintle.port, "http://api.test/charges")
        #expect(result.text == "done", "\(result)")
        #expect(try self.line(origin) == "GET /v1/charges HTTP/1.1")
    }

    @Test func `an http request to a route with an https upstream is upgraded`() throws {
        let pki = TestPKI()
        let root = try pki.root()
        let origin = try NginxOrigin(https: [try pki.leaf(dns: ["localhost"], signedBy: root)])
        let folder = try TemporaryFolder()
        try folder.write(root.certificatePEM, to: "root.pem")
        let pintle = try PintleProcess(
            """
            trust: {own: {roots: [root.pem]}}
            routes: [{name: up, match: {hosts: [plain.test]}, upstream: "https://localhost:\(origin.httpsPort)", trust: own}]
            """, folder: folder)
        let result = try Curl.run(proxy: pintle.port, "http://plain.test/hello")
        #expect(result.status == 200 && result.text == "hello\n", "\(result)")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["trust"] as? String == "own" && record["route"] as? String == "up", "\(record)")
    }

    @Test(arguments: ["/../a", "/a/../../b", "/%2e%2e/a", "/a/.%2E/b", "/a/%2e/b"])
    func `a path that could climb above the base is refused`(path: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            "routes: [{name: api, match: {hosts: [api.test]}, upstream: \"http://127.0.0.1:\(origin.port)/v1/\"}]")
        let answer = try pintle.ask("GET \(path) HTTP/1.1\r\nHost: api.test\r\n\r\n")
        #expect(answer.status == 400, "\(answer)")
        #expect(origin.connections.isEmpty)
    }

    @Test func `a path for a host without a gateway route is refused`() throws {
        let pintle = try PintleProcess(
            "routes: [{name: api, match: {hosts: [api.test]}, upstream: \"http://127.0.0.1:9\"}]")
        let answer = try pintle.ask("GET / HTTP/1.1\r\nHost: other.test\r\n\r\n")
        #expect(answer.status == 400 && answer.text.contains("no gateway route"), "\(answer)")
    }

    @Test func `the first route that matches wins, by host, method, path and scheme`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            """
            routes:
              - {name: posts, match: {methods: [POST]}, request: {headers: {set: {X-Route: posts}}}}
              - {name: deep, match: {paths: ["/a/**"]}, request: {headers: {set: {X-Route: deep}}}}
              - {name: flat, match: {paths: ["/b/*"]}, request: {headers: {set: {X-Route: flat}}}}
              - {name: secure, match: {schemes: [https]}, request: {headers: {set: {X-Route: secure}}}}
              - {name: host, match: {hosts: ["127.0.0.0/8"], paths: ["/c"]}, request: {headers: {set: {X-Route: host}}}}
            """)
        for (method, path) in [("GET", "/a/b/c"), ("GET", "/b/c"), ("GET", "/b/c/d"), ("POST", "/a/b"), ("GET", "/c")] {
            _ = try Curl.run(proxy: pintle.port, "-X", method, "http://127.0.0.1:\(origin.port)\(path)")
        }
        #expect(try origin.waitForRequests(5).map { $0["X-Route"] } == ["deep", "flat", nil, "posts", "host"])
        let routes = try pintle.waitForExchanges(5).map { $0["route"] as? String }
        #expect(routes == ["deep", "flat", nil, "posts", "host"])
    }
}
