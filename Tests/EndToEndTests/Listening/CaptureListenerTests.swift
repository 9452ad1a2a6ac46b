// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Listeners for connections that the kernel redirects (`capture://`, contract §7). Without a redirection the destination is the
/// listener's own address, which is never connected to; a request in clear goes to its Host all the same.
struct CaptureListenerTests {
    private func pintle(_ rules: String = "") throws -> PintleProcess {
        try PintleProcess(rules, arguments: ["--listen", "capture://127.0.0.1:0"])
    }

    private func connect(_ pintle: PintleProcess) throws -> SocketStream { try SocketStream(port: pintle.ports[1]) }

    @Test func `requests in clear go to their Host, one connection to several`() throws {
        let origins = try (0..<2).map { number in try RawOrigin(answering: response("origin \(number)")) }
        let pintle = try self.pintle()
        let client = try self.connect(pintle)
        for (number, origin) in origins.enumerated() {
            try client.send("GET /a HTTP/1.1\r\nHost: localhost:\(origin.port)\r\n\r\n")
            #expect(try client.readResponse().text == "origin \(number)")
        }
        let lines = try pintle.waitForExchanges(2)
        #expect(lines.allSatisfy { $0["captured"] as? Bool == true && $0["mode"] as? String == "forward" }, "\(lines)")
        #expect(lines[0]["url"] as? String == "http://localhost:\(origins[0].port)/a")
        #expect(lines[0]["client"] as? String == "127.0.0.1")
    }

    @Test func `a request for a proxy finds none`() throws {
        let pintle = try self.pintle()
        for target in ["http://other.example/", "CONNECT"] {
            let client = try self.connect(pintle)
            let line = target == "CONNECT" ? "CONNECT other.example:443" : "GET \(target)"
            try client.send("\(line) HTTP/1.1\r\nHost: other.example\r\n\r\n")
            #expect([400, 403].contains(try client.readResponse().status))
        }
    }

    @Test func `a refused handshake is told by an alert, and other protocols by a reset`() throws {
        let pintle = try self.pintle()
        let client = try self.connect(pintle)
        try client.send(HelloBytes("localhost").record)
        #expect(try client.readToEnd().bytes == [21, 3, 3, 0, 2, 2, 49])
        let other = try self.connect(pintle)
        try other.send([0, 0, 0, 8, 4, 210, 22, 47])
        #expect(try other.readToEnd().bytes.isEmpty)
        let lines = try pintle.waitForExchanges(2)
        #expect(lines.allSatisfy { $0["decision"] as? String == "deny" && $0["captured"] as? Bool == true }, "\(lines)")
        #expect(
            (lines[1]["error"] as? String)?.hasPrefix(
                "its client speaks neither TLS nor HTTP, so that it cannot be read: ") == true, "\(lines[1])")
    }

    @Test(arguments: [1, 40])
    func `a handshake goes to the server that it names, whatever address its client has connected to`(
        pieces: Int
    ) throws {
        let pintle = try self.pintle("destinations: {default: deny}")
        let client = try self.connect(pintle)
        let hello = HelloBytes("named.example").record
        // The name is known when all of it has come.
        for start in stride(from: 0, to: hello.count, by: hello.count / pieces) {
            try client.send(Array(hello[start..<min(start + hello.count / pieces, hello.count)]))
        }
        #expect(try client.readToEnd().bytes == [21, 3, 3, 0, 2, 2, 49])
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["host"] as? String == "named.example:\(pintle.ports[1])", "\(line)")
        #expect(line["rule"] as? String == "destinations.default", "\(line)")
    }

    @Test func `a client that says nothing is judged as one that waits for its server`() throws {
        let pintle = try self.pintle("destinations: {default: deny}")
        #expect(try self.connect(pintle).readToEnd().bytes.isEmpty)
        let line = try pintle.waitForExchanges(1)[0]
        #expect(
            (line["error"] as? String)?.hasPrefix("its client waits for the server to speak first") == true, "\(line)")
    }

    @Test func `clients that may not use the proxy are refused in their language`() throws {
        let pintle = try self.pintle("clients: {allow: [192.0.2.0/24]}")
        let client = try self.connect(pintle)
        try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try client.readResponse().status == 403)
        let secure = try self.connect(pintle)
        try secure.send(HelloBytes("localhost").record)
        #expect(try secure.readToEnd().bytes == [21, 3, 3, 0, 2, 2, 49])
        #expect(try self.connect(pintle).readToEnd().bytes.isEmpty)
        #expect(try pintle.waitForExchanges(3).allSatisfy { $0["decision"] as? String == "deny" })
    }
}
