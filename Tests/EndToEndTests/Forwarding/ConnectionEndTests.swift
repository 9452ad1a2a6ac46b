// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Answers after which a connection ends, and the fields that announce it.
struct ConnectionEndTests {
    @Test func `an HTTP 1.0 client that would keep its connection learns that a body without a length ends it`() throws
    {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        // A connection that is kept open must not look closed because it was idle for too long.
        let pintle = try PintleProcess("limits: {idle_timeout: 1h}")
        let client = try pintle.connect()
        try client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        let head = try client.readHead()
        #expect(head.status == 200 && head.values("Connection").map { $0.lowercased() } == ["close"], "\(head)")
        #expect(head["Transfer-Encoding"] == nil && head["Keep-Alive"] == nil, "\(head)")
        let rest = try client.readToEnd()
        #expect(String(decoding: rest.bytes, as: UTF8.self) == "abcde" && rest.ending == .closed)
    }

    @Test(arguments: ["connections: 1", "connections_per_client: 1"])
    func `a connection over a limit is refused and closed, and there is room when another leaves`(
        limit: String
    ) throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("limits: {\(limit)}")
        let first = try pintle.connect()
        try first.send(get(origin.port))
        #expect(try first.readResponse().text == "done")
        let second = try pintle.connect()
        try second.send(get(origin.port))
        let refused = try second.readResponse()
        #expect(refused.status == 503 && refused["Connection"]?.lowercased() == "close", "\(refused)")
        let rest = try second.readToEnd()
        #expect(rest.bytes.isEmpty && rest.ending == .closed)
        try first.send(get(origin.port))
        #expect(try first.readResponse().text == "done", "the first one goes on")
        second.close()
        first.close()
        // The proxy hears of the ends in its own time.
        let deadline = Date(timeIntervalSinceNow: Patience.seconds)
        var answer = try pintle.ask(get(origin.port))
        while answer.status == 503, Date() < deadline { answer = try pintle.ask(get(origin.port)) }
        #expect(answer.text == "done", "\(answer)")
    }

    @Test func `a chunked refusal in place of 100 Continue arrives whole`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnot")
            try connection.send("\r\n5\r\n you!\r\n")
            try connection.send("0\r\n\r\n")
            // The origin keeps the connection, so its end cannot be the end of the answer.
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess()
        for _ in 0..<5 {
            let client = try pintle.connect()
            try client.send(
                "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    + "Content-Length: 400000\r\n\r\n")
            let answer = try client.readResponse()
            #expect(answer.status == 403 && answer.text == "not you!", "\(answer)")
        }
    }

    @Test(arguments: ["Content-Length: 10\r\n\r\n0123456789", "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n"])
    func `an origin of TLS that ends the connection behind 100 Continue is a bad gateway`(rest: String) throws {
        let site = try PrivateSite()
        let side = try TLSServerSide(site.leaf)
        let (mayEnd, hasEnded) = (Watched(false), Watched(false))
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            _ = try connection.readRequestHead()
            try mayEnd.wait(for: "the program to stand still") { $0 }
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            connection.stream.finishSending()
            connection.stream.reset()
            hasEnded.change { $0 = true }
        }
        let pintle = try site.pintle("roots: [root.pem]")
        let client = try pintle.connect()
        try client.send(
            "POST https://localhost:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\(rest)")
        try origin.waitForRequests(1)
        // The program finds all that the origin has done at once, and has no connection to write the body to.
        pintle.process.signal(SIGSTOP)
        try pintle.waitUntilStopped()
        mayEnd.change { $0 = true }
        try hasEnded.wait(for: "the end") { $0 }
        pintle.process.signal(SIGCONT)
        var head = try client.readHead()
        while head.status < 200 { head = try client.readHead() }
        #expect(head.status == 502, "\(head)")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["error"] as? String == "localhost:\(origin.port) sent no complete response head", "\(record)")
        #expect(try site.fetch(pintle).text == "hello\n", "the program goes on")
    }

    @Test(arguments: ["Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"])
    func `CONNECT with a body is refused`(rest: String) throws {
        let origin = try RawOrigin(answering: response("never"))
        let pintle = try PintleProcess()
        let answer = try pintle.ask("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\(rest)")
        #expect(answer.status == 400, "\(answer)")
        #expect(origin.connections.isEmpty)
    }
}

extension PintleProcess {
    /// Waits until none of its threads runs any more, after SIGSTOP.
    func waitUntilStopped() throws {
        let deadline = Date(timeIntervalSinceNow: Patience.seconds)
        while true {
            let status = try String(contentsOfFile: "/proc/\(self.process.pid)/status", encoding: .utf8)
            if status.contains("State:\tT") { return }
            guard Date() < deadline else { throw TestFailure("the program does not stand still: \(status)") }
            sched_yield()
        }
    }
}
