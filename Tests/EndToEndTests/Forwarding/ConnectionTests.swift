// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Use of client connections and origin connections, one request after another.
struct ConnectionTests {
    let pintle: PintleProcess

    init() throws { self.pintle = try PintleProcess("engine: {threads: 1}") }

    @Test func `many requests share one connection on both sides`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.pintle.connect()
        for number in 0..<50 {
            try client.send(get(origin.port, "/\(number)"))
            #expect(try client.readResponse().text == "done")
        }
        #expect(origin.connections.count == 1)
        #expect(origin.requests.map(\.head.startLine) == (0..<50).map { "GET /\($0) HTTP/1.1" })
    }

    @Test func `requests of different clients share a connection to the origin`() throws {
        let origin = try RawOrigin(answering: response("done"))
        for _ in 0..<5 { #expect(try self.pintle.ask(get(origin.port)).text == "done") }
        #expect(origin.connections.count == 1)
    }

    @Test func `pipelined requests are answered in their order`() throws {
        // The first answer waits until the second request, which is for another origin, could have overtaken it.
        let other = try RawOrigin(answering: response("fast"))
        let slow = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsl")
            try connection.send("ow end")
        }
        let client = try self.pintle.connect()
        try client.send(
            get(slow.port) + get(other.port, "/1")
                + "POST http://127.0.0.1:\(other.port)/2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                + "POST http://127.0.0.1:\(other.port)/3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n"
                + "HEAD http://127.0.0.1:\(other.port)/4 HTTP/1.1\r\nHost: x\r\n\r\n" + get(other.port, "/5"))
        #expect(try client.readResponse().text == "slow end")
        for method in ["GET", "POST", "POST", "HEAD", "GET"] {
            let answer = try client.readResponse(to: method)
            #expect(answer.status == 200 && answer.text == (method == "HEAD" ? "" : "fast"))
        }
        let seen = try other.waitForRequests(5)
        #expect(seen.map(\.head.startLine).map { $0.split(separator: " ")[1] } == ["/1", "/2", "/3", "/4", "/5"])
        #expect(seen.map(\.text) == ["", "abc", "z", "", ""])
    }

    @Test func `a connection ends when the client says so`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.pintle.connect()
        try client.send(get(origin.port, fields: "Connection: close\r\n"))
        let answer = try client.readResponse()
        #expect(answer.text == "done" && answer["Connection"] == "close")
        #expect(try client.readToEnd().ending == .closed)
    }

    @Test func `an origin that closes its connection does not close the client's`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("done", fields: "Connection: close\r\n"))
        }
        let client = try self.pintle.connect()
        for number in 1...3 {
            try client.send(get(origin.port))
            #expect(try client.readResponse().text == "done")
            #expect(origin.connections.count == number)
        }
    }

    @Test func `a request on a kept connection that the origin has closed is sent again`() throws {
        // Every connection serves one request and then ends without having said so.
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("number \(connection.number)"))
        }
        let client = try self.pintle.connect()
        for number in 0..<4 {
            try client.send(get(origin.port))
            #expect(try client.readResponse().text == "number \(number)")
            try origin.waitUntilQuiet()
        }
    }

    @Test func `an HTTP 1.0 client gets a body that ends with the connection`() throws {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n"
        )
        let client = try self.pintle.connect()
        try client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\n\r\n")
        let head = try client.readHead()
        #expect(head.status == 200 && head["Transfer-Encoding"] == nil && head["Content-Length"] == nil, "\(head)")
        let rest = try client.readToEnd()
        #expect(String(decoding: rest.bytes, as: UTF8.self) == "abcde" && rest.ending == .closed)
        #expect(try origin.waitForRequests(1)[0]["Via"] == "1.0 pintle")
    }

    @Test func `an HTTP 1.0 client may keep its connection`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.pintle.connect()
        for _ in 0..<3 {
            try client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let answer = try client.readResponse()
            #expect(answer.text == "done" && answer["Connection"]?.lowercased() == "keep-alive")
        }
        try client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\n\r\n")
        #expect(try client.readResponse().text == "done")
        #expect(try client.readToEnd().ending == .closed)
    }

    @Test func `100 Continue is relayed, and the body follows it`() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.stream.readHead()
            guard head["Expect"]?.lowercased() == "100-continue" else { return }
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            let request = try connection.stream.readBody(of: head)
            try connection.send(response("got \(request.text)"))
        }
        let client = try self.pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        )
        #expect(try client.readHead().status == 100)
        try client.send("body")
        #expect(try client.readResponse().text == "got body")
    }

    @Test(arguments: ["Connection: close\r\n", ""])
    func `a refusal in place of 100 Continue reaches a client that still holds its body`(fields: String) throws {
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequestHead()
                try connection.send(response("no", status: "417 Expectation Failed", fields: fields))
            }
        }
        let client = try self.pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        )
        let refusal = try client.readResponse()
        #expect(refusal.status == 417 && refusal.text == "no" && origin.requests.count == 1)
    }

    @Test func `early hints are relayed before the answer`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: close\r\n\r\n")
            try connection.send(response("done"))
        }
        let client = try self.pintle.connect()
        try client.send(get(origin.port))
        let hints = try client.readHead()
        #expect(hints.status == 103 && hints["Link"] == "</a.css>; rel=preload" && hints["Connection"] == nil)
        #expect(try client.readResponse().text == "done")
    }

    @Test func `an HTTP 1.0 client gets no interim response`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + response("done"))
        }
        let client = try self.pintle.connect()
        try client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\n\r\n")
        #expect(try client.readHead().status == 200)
    }

    @Test func `an answer that comes before the body was sent reaches the client`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(response("enough", status: "413 Content Too Large", fields: "Connection: close\r\n"))
            connection.stream.finishSending()
            _ = try connection.waitForEnd()
        }
        let client = try self.pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nthe beginning")
        let answer = try client.readResponse()
        #expect(answer.status == 413 && answer.text == "enough")
        // The next bytes on this connection would be the rest of the body: it cannot be used again.
        #expect(try client.readToEnd().ending == .closed)
    }

    @Test func `an answer that is complete before the body is ends with it`() throws {
        // One for each request: a connection that the last one ends is no place for the next one.
        func origin() throws -> RawOrigin {
            try RawOrigin { connection in
                _ = try connection.readRequestHead()
                try connection.send(response("early"))
                _ = try connection.stream.read(10)
            }
        }
        let framings = ["Content-Length: 10\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"]
        for (index, framing) in framings.enumerated() {
            let (origin, client) = (try origin(), try self.pintle.connect())
            try client.send("POST http://127.0.0.1:\(origin.port)/a HTTP/1.1\r\nHost: x\r\n\(framing)")
            #expect(try client.readResponse().text == "early")
            try client.send(framing.hasPrefix("C") ? "0123456789" : "5\r\n01234\r\n0\r\n\r\n")
            _ = try self.pintle.waitForExchanges(index + 1)
        }
        let last = try origin()
        #expect(try self.pintle.ask(get(last.port, "/b")).text == "early", "the program goes on")
    }

    @Test func `an origin gets no second request from a body that it has not read`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(response("early"))
            _ = try connection.waitForEnd()
        }
        let client = try self.pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/a HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + "short")
        #expect(try client.readResponse().text == "early")
        #expect(try self.pintle.ask(get(origin.port, "/b")).text == "early")
        #expect(origin.connections.count == 2, "the second request stands in the middle of the first one's body")
    }
}
