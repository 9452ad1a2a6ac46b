// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Redirects that the proxy follows for its clients, over real connections.
struct RedirectTests {
    /// Redirects `/a` to `/b` and `/out` to `target`, and answers all other requests with their contents.
    private func origin(leadingTo target: String = "") throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let parts = request.head.startLine.split(separator: " ")
                switch parts[1] {
                case "/a":
                    try connection.send(response("gone", status: "302 Found", fields: "Location: b?c=d\r\n"))
                case "/again":
                    try connection.send(response("", status: "307 Temporary Redirect", fields: "Location: /b\r\n"))
                case "/out":
                    try connection.send(response("", status: "302 Found", fields: "Location: \(target)\r\n"))
                case "/round":
                    try connection.send(response("", status: "302 Found", fields: "Location: /round\r\n"))
                default: try connection.send(response("\(parts[0]) \(parts[1]) \(request.text)"))
                }
            }
        }
    }

    private func pintle(_ rule: String = "follow", more: String = "") throws -> PintleProcess {
        try PintleProcess("engine: {threads: 1}\n\(more)\nroutes: [{name: r, redirects: \(rule)}]")
    }

    @Test func `a client gets the answer to what it was led to`() throws {
        let origin = try self.origin()
        let pintle = try self.pintle()
        let answer = try pintle.ask(get(origin.port, "/a"))
        #expect(answer.status == 200 && answer.text == "GET /b?c=d ", "\(answer)")
        let log = try pintle.waitForExchanges(1)[0]
        #expect(log["redirects"] as? Int == 1 && log["route"] as? String == "r", "\(log)")
        #expect((log["url"] as? String)?.hasSuffix("/a") == true && log["retries"] == nil, "\(log)")
        // The content of the redirect is read, so that its connection serves again.
        #expect(origin.connections.count == 1)
    }

    @Test func `without the key it gets the redirect`() throws {
        let origin = try self.origin()
        let pintle = try PintleProcess("routes: [{name: r}]")
        let answer = try pintle.ask(get(origin.port, "/a"))
        #expect(answer.status == 302 && answer["Location"] == "b?c=d", "\(answer)")
    }

    @Test func `a body is sent again, and Continue is ours to say`() throws {
        let origin = try self.origin()
        let pintle = try self.pintle()
        let result = try Curl.run(
            proxy: pintle.port, "-H", "Expect: 100-continue", "-H", "Transfer-Encoding: chunked", "-d",
            "hello",
            "-X", "PUT", "http://127.0.0.1:\(origin.port)/again")
        #expect(result.text == "PUT /b hello", "\(result)")
        #expect(origin.requests.map(\.text) == ["hello", "hello"])
    }

    @Test func `credentials and cookies stay with their origin`() throws {
        let other = try self.origin()
        let origin = try self.origin(leadingTo: "http://localhost:\(other.port)/x")
        let pintle = try self.pintle()
        let fields = "Authorization: Basic eA==\r\nCookie: a=b\r\nX-A: c\r\n"
        #expect(try pintle.ask(get(origin.port, "/out", fields: fields)).text == "GET /x ")
        let sent = try other.waitForRequests(1)[0]
        #expect(sent["Authorization"] == nil && sent["Cookie"] == nil && sent["X-A"] == "c", "\(sent)")
        #expect(sent["Host"] == "localhost:\(other.port)")
        #expect(try pintle.ask(get(origin.port, "/a", fields: fields)).status == 200)
        #expect(origin.requests.last?["Authorization"] == "Basic eA==" && origin.requests.last?["Cookie"] == "a=b")
    }

    @Test func `where a redirect leads is judged like any other destination`() throws {
        let other = try self.origin()
        let origin = try self.origin(leadingTo: "http://localhost:\(other.port)/x")
        for rules in ["{deny: [localhost]}", "{default: deny, allow: [\"127.0.0.1:\(origin.port)\"]}"] {
            let pintle = try self.pintle(more: "destinations: \(rules)")
            let answer = try pintle.ask(get(origin.port, "/out"))
            #expect(answer.status == 403 && answer.text.contains("destination-denied"), "\(answer)")
        }
        #expect(other.connections.isEmpty)
    }

    @Test func `same_origin leaves the rest to the client`() throws {
        let other = try self.origin()
        let origin = try self.origin(leadingTo: "http://127.0.0.1:\(other.port)/x")
        let pintle = try self.pintle("same_origin")
        #expect(try pintle.ask(get(origin.port, "/a")).status == 200)
        let answer = try pintle.ask(get(origin.port, "/out"))
        #expect(answer.status == 302 && answer["Location"] == "http://127.0.0.1:\(other.port)/x", "\(answer)")
        #expect(other.connections.isEmpty)
    }

    @Test func `a circle ends with a problem`() throws {
        let origin = try self.origin()
        let pintle = try self.pintle()
        let answer = try pintle.ask(get(origin.port, "/round"))
        #expect(answer.status == 508 && answer.text.contains("after 20 redirects"), "\(answer)")
        #expect(origin.requests.count == 21 && origin.connections.count <= 2)
        #expect(try pintle.waitForExchanges(1)[0]["redirects"] as? Int == 20)
        #expect(try pintle.serves("http://127.0.0.1:\(origin.port)/b"))
    }

    @Test func `from http to https pins hold`() throws {
        let site = try PrivateSite()
        let origin = try self.origin(leadingTo: "https://localhost:\(site.origin.httpsPort)/hello")
        let route = "routes: [{name: r, redirects: follow}]"
        let trusting = try PintleProcess(
            "trust: {site: {hosts: [localhost], roots: [root.pem]}}\n\(route)", folder: site.folder)
        let answer = try trusting.ask(get(origin.port, "/out"))
        #expect(answer.status == 200 && answer.text == "hello\n", "\(answer)")
        #expect(try trusting.waitForExchanges(1)[0]["trust"] as? String == "site")
        let pinned = try PintleProcess(
            "trust: {site: {hosts: [localhost], roots: [root.pem], pinning: public_key, pins: "
                + "[\"\(site.backup.pin)\"]}}\n\(route)", folder: site.folder)
        let refused = try pinned.ask(get(origin.port, "/out"))
        #expect(refused.status == 502 && refused.text.contains("pin-mismatch"), "\(refused)")
    }
}
