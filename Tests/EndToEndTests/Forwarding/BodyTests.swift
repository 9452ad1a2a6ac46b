// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Bodies and their framing on both ways.
struct BodyTests {
    let pintle: PintleProcess

    init() throws { self.pintle = try PintleProcess() }

    private func post(_ port: Int, _ fields: String) -> String {
        "POST http://127.0.0.1:\(port)/ HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
    }

    @Test func `a body with a length arrives byte for byte`() throws {
        let origin = try NginxOrigin()
        let body = pattern(3_000_001)
        let folder = try TemporaryFolder()
        let file = try folder.write(body, to: "up")
        let result = try Curl.run(
            proxy: self.pintle.port, "-T", file, "http://127.0.0.1:\(origin.httpPort)/store/up")
        #expect(result.status == 201, "\(result)")
        #expect(origin.stored("up") == body)
    }

    @Test func `a chunked body arrives byte for byte, chunked`() throws {
        let body = pattern(700_001)
        let origin = try RawOrigin(answering: response("done"))
        let folder = try TemporaryFolder()
        let file = try folder.write(body, to: "up")
        let result = try Curl.run(
            proxy: self.pintle.port, "-T", file, "-H", "Transfer-Encoding: chunked",
            "http://127.0.0.1:\(origin.port)/up")
        #expect(result.status == 200, "\(result)")
        let request = try origin.waitForRequests(1)[0]
        #expect(request.head.values("Transfer-Encoding") == ["chunked"] && request["Content-Length"] == nil)
        #expect(request.body == body)
    }

    @Test func `a download arrives byte for byte`() throws {
        let origin = try NginxOrigin()
        let body = pattern(5_000_003)
        try origin.serve(body, as: "down")
        let result = try Curl.run(proxy: self.pintle.port, "http://127.0.0.1:\(origin.httpPort)/files/down")
        #expect(result.exitCode == 0 && result.body == body)
        #expect(result["Content-Length"] == "5000003")
    }

    @Test func `a chunked request that comes byte by byte is understood`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.pintle.connect()
        let request =
            self.post(origin.port, "Transfer-Encoding: chunked\r\n") + "3;ext=\"a;b\"\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        for byte in request.utf8 { try client.send([byte]) }
        #expect(try client.readResponse().text == "done")
        #expect(try origin.waitForRequests(1)[0].text == "abcde")
    }

    @Test func `trailers of a request reach the origin`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let answer = try self.pintle.ask(
            self.post(origin.port, "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n")
                + "3\r\nabc\r\n0\r\nX-Sum: 7\r\nx-more: 8\r\n\r\n")
        #expect(answer.text == "done")
        let request = try origin.waitForRequests(1)[0]
        #expect(request.trailers == [.init(name: "X-Sum", value: "7"), .init(name: "x-more", value: "8")])
    }

    @Test func `trailers of a response reach the client`() throws {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                + "3\r\nabc\r\n0\r\nX-Sum: 7\r\nx-more: 8\r\n\r\n")
        let answer = try self.pintle.ask(get(origin.port, fields: "TE: trailers\r\n"))
        #expect(answer.text == "abc")
        #expect(answer.trailers == [.init(name: "X-Sum", value: "7"), .init(name: "x-more", value: "8")])
    }

    @Test func `framing fields in trailers go no further`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.pintle.connect()
        try client.send(
            self.post(origin.port, "Transfer-Encoding: chunked\r\n")
                + "3\r\nabc\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\nHost: evil\r\nX-Ok: 1\r\n\r\n")
        let answer = try client.readResponse()
        guard answer.status == 200 else {
            // Refusing them is as good as dropping them (RFC 9110 §6.5.1).
            #expect(answer.status == 400)
            return
        }
        let names = try origin.waitForRequests(1)[0].trailers.map { $0.name.lowercased() }
        #expect(names == ["x-ok"])
    }

    @Test func `an event stream is flushed event by event`() throws {
        let sent = Watched(0)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number in 1...5 {
                // Each event waits until the client has read the one before.
                try sent.wait(for: "the client to read event \(number - 1)") { $0 == number - 1 }
                try connection.send("9\r\ndata: \(number)\n\n\r\n")
            }
            try connection.send("0\r\n\r\n")
        }
        let client = try self.pintle.connect()
        try client.send(get(origin.port))
        _ = try client.readHead()
        for number in 1...5 {
            _ = try client.readLine()
            #expect(try client.read(9) == Array("data: \(number)\n\n".utf8))
            #expect(try client.readLine() == "")
            sent.change { $0 = number }
        }
        #expect(try client.readLine() == "0")
    }

    @Test(arguments: [204, 304])
    func `a response that has no body by its nature ends with its head`(status: Int) throws {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 \(status) Something\r\nETag: \"x\"\r\n"
                + (status == 304 ? "Content-Length: 77\r\n" : "")
                + "\r\n")
        let client = try self.pintle.connect()
        // The second answer follows the first immediately: no body was written or awaited.
        for _ in 0..<2 {
            try client.send(get(origin.port))
            let answer = try client.readResponse()
            #expect(answer.status == status && answer["ETag"] == "\"x\"")
            #expect(answer["Transfer-Encoding"] == nil)
        }
    }

    @Test func `a response to HEAD keeps its length and its connection`() throws {
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
            }
        }
        let client = try self.pintle.connect()
        for _ in 0..<2 {
            try client.send("HEAD http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try client.readResponse(to: "HEAD")
            #expect(answer["Content-Length"] == "1234" && answer["Transfer-Encoding"] == nil)
        }
        #expect(origin.connections.count == 1)
    }

    @Test func `an empty body with a length is one`() throws {
        let origin = try RawOrigin(answering: response(""))
        let answer = try self.pintle.ask(get(origin.port))
        #expect(answer["Content-Length"] == "0" && answer.body.isEmpty)
    }

    @Test func `compressed bodies are not touched`() throws {
        let origin = try RawOrigin(
            answering: response("\u{1f}\u{0b}not gzip at all", fields: "Content-Encoding: gzip\r\n"))
        let answer = try self.pintle.ask(get(origin.port, fields: "Accept-Encoding: gzip\r\n"))
        #expect(answer.text == "\u{1f}\u{0b}not gzip at all" && answer["Content-Encoding"] == "gzip")
        #expect(try origin.waitForRequests(1)[0]["Accept-Encoding"] == "gzip")
    }
}
