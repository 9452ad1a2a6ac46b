// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Flag = HTTP2Bytes.Flag

/// Exchanges in HTTP/2 as programs make them: a thousand at once, remote procedure calls, and the end of a connection.
struct HTTP2ExchangeTests {
    @Test func `a thousand requests on one connection are answered, each with its own answer`() throws {
        let stage = try HTTP2Stage { connection in
            while true {
                let request = try connection.readRequest()
                try connection.send(response(request.head.startLine))
            }
        }
        let client = try stage.client()
        try client.greet()
        // SETTINGS_MAX_CONCURRENT_STREAMS: the client does not exceed it; further requests wait in the client.
        let most = try #require(client.settings[3])
        #expect(most == 256)
        var (sent, done) = (0, 0)
        while done < 1000 {
            while sent < 1000, sent - done < most {
                try client.send(Bytes.headers(HTTP2Case.request("GET", "/\(sent)"), on: 2 * sent + 1))
                sent += 1
            }
            try #require(try client.next() != nil)
            done = client.answers.values.count { $0.isComplete }
        }
        for number in 0..<1000 { #expect(client.answers[2 * number + 1]?.text == "GET /\(number) HTTP/1.1") }
        #expect(stage.heldUp.isEmpty, "\(stage.heldUp)")
    }

    @Test(arguments: [1, 100, 30_000])
    func `the last frame of the content ends the stream`(count: Int) throws {
        let stage = try HTTP2Stage { connection in
            _ = try connection.readRequest()
            try connection.send(response(String(repeating: "a", count: count)))
        }
        let client = try stage.client()
        try client.greet()
        try client.send(Bytes.headers(HTTP2Case.get, on: 1))
        var received = 0
        while received < count {
            let frame = try #require(try client.next())
            guard frame.kind == Bytes.Kind.data else { continue }
            received += frame.payload.count
            // Clients that count believe that a stream without an end is to be broken off.
            #expect(frame.isEnd == (received == count))
        }
    }

    @Test(arguments: ["nothing", "a piece", "trailers"])
    func `a client that is refused and ends short of its length gets all of the refusal`(sent: String) throws {
        let (hasEnded, gotMore) = (Watched(false), Watched<[UInt8]>([]))
        let stage = try HTTP2Stage { connection in
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\n")
            try hasEnded.wait(for: "the end of the request") { $0 }
            try connection.send("too long")
            let rest = try connection.stream.readToEnd().bytes
            gotMore.change { $0 = rest }
        }
        let client = try stage.client()
        try client.greet()
        try client.send(HTTP2Case.post([("content-length", "100"), ("expect", "100-continue")]))
        try #require(try client.read { $0.answers[1]?.status == 413 })
        switch sent {
        case "trailers": try client.send(Bytes.headers([("x-sum", "1")]))
        case "a piece": try client.send(Bytes.data("piece"))
        default: try client.send(Bytes.data(""))
        }
        // The answer to a later frame proves that the end has been processed.
        try client.send(Bytes.frame(Bytes.Kind.ping, on: 0, Array(1...8)))
        #expect(try client.read { $0.pongs.count == 1 })
        hasEnded.change { $0 = true }
        let answer = try client.answer()
        #expect(answer.isComplete && answer.reset == nil && answer.text == "too long", "\(answer)")
        try stage.origin.waitUntilQuiet()
        // The origin sees content that is not whole, if it sees any.
        #expect((sent == "a piece" ? Array("piece".utf8) : []).starts(with: gotMore.current))
    }

    @Test func `an answer ends though its client sets the window to less than it has got`() throws {
        let isSmall = Watched(false)
        let stage = try HTTP2Stage { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n")
            try isSmall.wait(for: "the small window") { $0 }
            try connection.send("0\r\n\r\n")
        }
        let client = try stage.client()
        try client.greet()
        try client.send(Bytes.headers(HTTP2Case.get, on: 1))
        try #require(try client.read { $0.answers[1]?.text == "begun" })
        try client.send(Bytes.settings([(4, 0)]) + Bytes.frame(Bytes.Kind.ping, on: 0, Array(1...8)))
        try #require(try client.read { $0.pongs.count == 1 })
        isSmall.change { $0 = true }
        let answer = try client.answer()
        #expect(answer.isComplete && answer.text == "begun", "\(answer)")
    }

    // MARK: Remote procedure calls

    /// An HTTP/2 server that echoes content, piece by piece, with a status in its trailers.
    private static let server = """
        const http2 = require("http2"), fs = require("fs");
        const server = http2.createSecureServer({key: fs.readFileSync("site.key"), cert: fs.readFileSync("site.pem")});
        server.on("stream", (stream, head) => {
          stream.respond({":status": 200, "content-type": "application/grpc", "x-te": head["te"] || "none"},
            {waitForTrailers: true});
          let count = 0;
          stream.on("data", data => { count += 1; stream.write(data); });
          stream.on("end", () => stream.end());
          stream.on("wantTrailers", () =>
            stream.sendTrailers({"grpc-status": head[":path"].endsWith("Fail") ? "5" : "0", "grpc-message": "" + count}));
        });
        server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
        """

    @Test func `calls with one message and with many have their trailers, from an origin of HTTP 2`() throws {
        let folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root("Root")
        _ = try folder.write(pki.leaf("site", dns: ["localhost"], signedBy: root), as: "site")
        try folder.write(root.certificatePEM, to: "root.pem")
        try folder.write(Self.server, to: "server.js")
        try AuthorityFolder("\(folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let server = try ChildProcess("/usr/bin/node", ["server.js"], folder: folder.path)
        let line = try server.waitForLine("its port") { $0.hasPrefix("port ") }
        let host = "localhost:\(line.dropFirst(5))"
        let pintle = try PintleProcess(
            "interception: {hosts: [localhost]}\ntrust: {site: {hosts: [localhost], roots: [root.pem]}}",
            environment: ["XDG_DATA_HOME": folder.path], folder: folder)
        let client = HTTP2Client(try TLSStream(to: host, through: pintle.port, protocols: ["h2"]))
        try client.greet()
        func call(_ path: String, on stream: Int) -> [UInt8] {
            Bytes.headers(
                [
                    (":method", "POST"), (":scheme", "https"), (":authority", host), (":path", path),
                    ("te", "trailers"), ("content-type", "application/grpc"),
                ], Flag.endHeaders, on: stream)
        }
        // Unary.
        let message = "\0\0\0\0\u{5}hello"
        try client.send(call("/s/Get", on: 1) + Bytes.data(message))
        let unary = try client.answer()
        #expect(unary.status == 200 && unary.text == message && unary["x-te"] == "trailers", "\(unary)")
        #expect(unary.trailers?.contains { $0 == ("grpc-status", "0") } == true)
        // Both ways at once: each message is answered before the next is sent.
        try client.send(call("/s/Chat", on: 3))
        var text = ""
        for number in 0..<5 {
            text += "message \(number)."
            try client.send(Bytes.data("message \(number).", isLast: false, on: 3))
            #expect(try client.read { $0.answers[3]?.text == text || $0.answers[3]?.reset != nil })
        }
        try client.send(Bytes.data("", on: 3))
        let chat = try client.answer(on: 3)
        #expect(chat.text == text && chat.trailers?.contains { $0 == ("grpc-status", "0") } == true, "\(chat)")
        // An error in the trailers, with nothing before them.
        try client.send(call("/s/Fail", on: 5) + Bytes.data("", on: 5))
        let failed = try client.answer(on: 5)
        #expect(failed.status == 200 && failed.trailers?.contains { $0 == ("grpc-status", "5") } == true, "\(failed)")
        let lines = try pintle.waitForExchanges(4).filter { $0["method"] as? String == "POST" }
        #expect(lines.count == 3 && lines.allSatisfy { $0["http"] as? String == "2" })
    }

    // MARK: The end

    @Test(arguments: ["in TLS", "without a word"])
    func `a client that ends its side after its answer leaves nothing behind`(how: String) throws {
        let stage = try HTTP2Stage("engine: {threads: 1, idle_connections: 0}")
        func ask(_ client: HTTP2Client, _ number: Int) throws {
            try client.send(Bytes.headers(HTTP2Case.get, on: number))
            #expect(try client.answer(on: number).status == 200)
        }
        let bystander = try stage.client()
        try bystander.greet()
        try ask(bystander, 1)
        let before = try stage.pintle.openDescriptors()
        let client = try stage.client()
        try client.greet()
        try ask(client, 1)
        if how == "in TLS" { client.stream.finishSending() } else { client.stream.cutSending() }
        try client.readToEnd()
        // One loop serves both, so that it is done with the one when it answers the other.
        try ask(bystander, 3)
        #expect(try stage.pintle.openDescriptors() == before)
    }
}
