// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// `request.retries`, against origins and ways to them that fail at first.
struct RetryTests {
    private func pintle(_ retries: String, more: String = "") throws -> PintleProcess {
        try PintleProcess(
            "engine: {threads: 1}\n\(more)\nroutes: [{name: r, request: {retries: \(retries), connect_timeout: 30s}}]")
    }

    // MARK: Stale connections

    /// An origin that closes each connection when a second request has come, unanswered.
    private func forgetfulOrigin() throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("number \(connection.number)"))
            _ = try connection.readRequest()
        }
    }

    @Test(arguments: ["{attempts: 1}", "{attempts: 3, on: stale_connection}"])
    func `a request on a stale connection is sent again, and counted`(retries: String) throws {
        let origin = try self.forgetfulOrigin()
        let pintle = try self.pintle(retries)
        let client = try pintle.connect()
        for number in 0..<2 {
            try client.send(get(origin.port))
            #expect(try client.readResponse().text == "number \(number)")
        }
        let log = try pintle.waitForExchanges(2)
        #expect(log[0]["retries"] == nil && log[1]["retries"] as? Int == 1, "\(log)")
        #expect(origin.requests.count == 3)
    }

    @Test(arguments: ["{attempts: 0}", "{attempts: 3, on: connect_failure}"])
    func `it is not where the route says so`(retries: String) throws {
        let origin = try self.forgetfulOrigin()
        let pintle = try self.pintle(retries)
        let client = try pintle.connect()
        try client.send(get(origin.port))
        #expect(try client.readResponse().text == "number 0")
        try client.send(get(origin.port))
        let answer = try client.readResponse()
        #expect(answer.status == 502 && answer.text.contains("upstream-protocol"), "\(answer)")
        let log = try pintle.waitForExchanges(2)[1]
        #expect(log["retries"] == nil, "\(log)")
        #expect(origin.connections.count == 1)
    }

    // MARK: Connections that cannot be made

    /// A SOCKS proxy that fails at first, and then is itself the origin of every connection.
    private func parent(failing failures: Int, answering answer: String) throws -> RawOrigin {
        try RawOrigin { connection in
            guard connection.number >= failures else { return }
            // RFC 1928: the greeting without authentication, and the wish for an IPv4 address or a name.
            _ = try connection.stream.read(3)
            try connection.stream.send([5, 0])
            let wish = try connection.stream.read(5)
            _ = try connection.stream.read(wish[3] == 1 ? 5 : Int(wish[4]) + 2)
            try connection.stream.send([5, 0, 0, 1, 127, 0, 0, 1, 0, 80])
            _ = try connection.readRequest()
            try connection.send(answer)
        }
    }

    private func asking(_ parent: RawOrigin) -> String {
        "upstream_proxy: {url: \"socks5://127.0.0.1:\(parent.port)\"}"
    }

    @Test func `a connection that fails is tried again`() throws {
        let parent = try self.parent(failing: 2, answering: response("done"))
        let pintle = try self.pintle("{attempts: 2}", more: self.asking(parent))
        let answer = try pintle.ask("GET http://127.0.0.1:9/ HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.status == 200 && answer.text == "done", "\(answer)")
        #expect(try pintle.waitForExchanges(1)[0]["retries"] as? Int == 2)
        #expect(parent.connections.count == 3)
    }

    @Test func `a streamed body is there still`() throws {
        let parent = try self.parent(failing: 1, answering: response("done"))
        let pintle = try self.pintle("{attempts: 1}", more: self.asking(parent))
        let answer = try pintle.ask(
            "PUT http://127.0.0.1:9/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", method: "PUT")
        #expect(answer.text == "done", "\(answer)")
        #expect(parent.requests.map(\.text) == ["body"])
        #expect(try pintle.waitForExchanges(1)[0]["retries"] as? Int == 1)
    }

    @Test func `so is an offer of another protocol`() throws {
        let parent = try self.parent(failing: 1, answering: response("no"))
        let pintle = try self.pintle("{attempts: 1}", more: self.asking(parent))
        let answer = try pintle.ask(
            "GET http://127.0.0.1:9/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        #expect(answer.text == "no", "\(answer)")
        #expect(parent.connections.count == 2)
    }

    @Test(arguments: [
        ("POST", "{attempts: 2}"), ("GET", "{attempts: 0}"), ("GET", "{attempts: 2, on: stale_connection}"),
    ])
    func `other requests are not tried again`(method: String, retries: String) throws {
        let parent = try self.parent(failing: 3, answering: response("done"))
        let pintle = try self.pintle(retries, more: self.asking(parent))
        let answer = try pintle.ask("\(method) http://127.0.0.1:9/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        #expect(answer.status == 502 && answer.text.contains("connect-failure"), "\(answer)")
        #expect(try pintle.waitForExchanges(1)[0]["retries"] == nil)
        #expect(parent.connections.count == 1)
    }

    @Test func `who gives up is given up`() throws {
        let pintle = try self.pintle("{attempts: 3, on: connect_failure}")
        let port = try FreePort.find()
        let answer = try pintle.ask(get(port))
        #expect(answer.status == 502 && answer.text.contains("refused the connection"), "\(answer)")
        let log = try pintle.waitForExchanges(1)[0]
        #expect(log["retries"] as? Int == 3 && log["decision"] as? String == "error", "\(log)")
    }
}
