// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Flag = HTTP2Bytes.Flag

/// HTTP/2 as servers and clients in the field speak it.
struct HTTP2FieldTests {
    /// A server of HTTP/2 for the paths of a test; it counts the resets that it gets.
    private static let server = """
        const http2 = require("http2"), fs = require("fs");
        const server = http2.createSecureServer({key: fs.readFileSync("site.key"), cert: fs.readFileSync("site.pem")});
        let resets = 0;
        server.on("stream", (stream, head) => {
          stream.on("error", () => {});
          stream.on("aborted", () => resets++);
          stream.on("close", () => { if (stream.rstCode !== 0) resets++; });
          const path = head[":path"];
          if (path === "/resets") { stream.respond({":status": 200}); return stream.end("" + resets); }
          if (path === "/call")
            return stream.respond({":status": 200, "content-type": "application/grpc", "grpc-status": "5"}, {endStream: true});
          if (path === "/name") stream.respond({":status": 200, "content-disposition": "attachment; filename=\\"r\u{E9}sum\u{E9}.txt\\""});
          else stream.respond({":status": 200});
          stream.end("ok");
        });
        server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
        """

    private struct Stage {
        let folder = Result { try TemporaryFolder() }
        let server: ChildProcess
        let host: String
        let pintle: PintleProcess

        init() throws {
            let folder = try self.folder.get()
            let root = try TestPKI().root("Root")
            _ = try folder.write(TestPKI().leaf("site", dns: ["localhost"], signedBy: root), as: "site")
            try folder.write(root.certificatePEM, to: "root.pem")
            try folder.write(HTTP2FieldTests.server, to: "server.js")
            try AuthorityFolder("\(folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
            self.server = try ChildProcess("/usr/bin/node", ["server.js"], folder: folder.path)
            let line = try self.server.waitForLine("its port") { $0.hasPrefix("port ") }
            self.host = "localhost:\(line.dropFirst(5))"
            self.pintle = try PintleProcess(
                """
                interception: {hosts: [localhost]}
                trust: {site: {hosts: [localhost], roots: [root.pem]}}
                routes: [{name: plain, match: {hosts: [gateway.test]}, upstream: "https://\(self.host)/"}]
                """,
                environment: ["XDG_DATA_HOME": folder.path], folder: folder)
        }

        func client() throws -> HTTP2Client {
            HTTP2Client(try TLSStream(to: self.host, through: self.pintle.port, protocols: ["h2"]))
        }

        func call(_ path: String, on stream: Int) -> [UInt8] {
            Bytes.headers(
                [
                    (":method", "POST"), (":scheme", "https"), (":authority", self.host), (":path", path),
                    ("te", "trailers"),
                ],
                Flag.endHeaders, on: stream) + Bytes.data("message", on: stream)
        }
    }

    @Test func `LOOK-71 an answer that ends with its head stays one frame without a length`() throws {
        let stage = try Stage()
        let client = try stage.client()
        try client.greet()
        try client.send(stage.call("/call", on: 1))
        var frames: [HTTP2Client.Frame] = []
        while let frame = try client.next() {
            if frame.stream == 1 { frames.append(frame) }
            if frame.stream == 1, frame.isEnd { break }
        }
        #expect(frames.map(\.kind) == [Bytes.Kind.headers], "\(frames)")
        let answer = try #require(client.answers[1])
        #expect(answer.status == 200 && answer["grpc-status"] == "5" && answer["content-length"] == nil, "\(answer)")
        // A client of HTTP/1.1 needs an end that it can see.
        let request = "POST http://gateway.test/call HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 0\r\n\r\n"
        let plain = try stage.pintle.ask(request)
        #expect(plain.status == 200 && plain["grpc-status"] == "5" && plain["Content-Length"] == "0")
    }

    @Test func `LOOK-72 a name in Latin-1 stays what Node has sent, by entries of its table too`() throws {
        let stage = try Stage()
        let name = Array("attachment; filename=\"r".utf8) + [0xE9] + Array("sum".utf8) + [0xE9] + Array(".txt\"".utf8)
        let client = try stage.client()
        try client.greet()
        for number in 0..<3 {
            try client.send(stage.call("/name", on: 2 * number + 1))
            #expect(try client.answer(on: 2 * number + 1).bytes["content-disposition"] == name)
        }
        let plain = try stage.pintle.connect()
        for _ in 0..<2 {
            try plain.send("POST http://gateway.test/name HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 0\r\n\r\n")
            #expect(try plain.readResponse().text == "ok")
        }
        let lines = plain.received.split(separator: 0x0A).filter { $0.starts(with: "content-disposition".utf8) }
        let expected = Array("content-disposition: ".utf8) + name + [0x0D]
        #expect(lines.map(Array.init) == [expected, expected])
    }

    @Test func `LOOK-96 a stream that has ended both ways is not reset`() throws {
        let stage = try Stage()
        let client = try stage.client()
        try client.greet()
        for number in 0..<50 {
            try client.send(stage.call("/", on: 2 * number + 1))
            #expect(try client.answer(on: 2 * number + 1).text == "ok")
        }
        try client.send(stage.call("/resets", on: 101))
        #expect(try client.answer(on: 101).text == "0")
    }

    @Test(arguments: ["GET", "POST", "POST with content"])
    func `LOOK-69 requests that nginx did not look at before its GOAWAY are sent again`(kind: String) throws {
        let pki = TestPKI()
        let folder = try TemporaryFolder()
        let root = try pki.root()
        let pem = try folder.write(root.certificatePEM, to: "root.pem")
        let origin = try NginxOrigin(
            https: [try pki.leaf(dns: ["localhost"], signedBy: root)],
            locations: "keepalive_requests 5; location /counted { access_log \(folder.path)/log; return 200 ok; }\n",
            http2: true)
        chmod(folder.path, 0o777)
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            trust: {site: {hosts: [localhost], roots: ["\(pem)"]}}
            routes: [{name: all, upstream: "https://localhost:\(origin.httpsPort)/"}]
            """)
        let head = "\(kind.prefix { $0 != " " }) /counted/%@ HTTP/1.1\r\nHost: localhost\r\n"
        let more =
            kind == "GET" ? "\r\n" : kind == "POST" ? "Content-Length: 0\r\n\r\n" : "Content-Length: 7\r\n\r\ncontent"
        let statuses = Watched<[Int]>([])
        for name in 0..<8 {
            Thread.detachNewThread {
                for number in 0..<40 {
                    let request = head.replacingOccurrences(of: "%@", with: "\(name)-\(number)") + more
                    let status = (try? pintle.ask(request).status).map { Int($0) } ?? 0
                    statuses.change { $0.append(status) }
                }
            }
        }
        try statuses.wait(for: "all requests") { $0.count == 320 }
        #expect(statuses.current.allSatisfy { $0 == 200 }, "\(statuses.current.filter { $0 != 200 })")
        let lines = String(decoding: fileBytes("\(folder.path)/log") ?? [], as: UTF8.self).split(separator: "\n")
        let paths = lines.compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
        #expect(paths.count == 320 && Set(paths).count == 320)
    }

    @Test(arguments: [20_000, 60_000, 100_000])
    func `LOOK-70 heads of many lines pass both ways on the first request of a connection`(size: Int) throws {
        let value = String(repeating: "v", count: 1000)
        let stage = try HTTP2Stage("limits: {header_bytes: 128KiB}") { connection in
            let request = try connection.readRequest()
            let fields = (0..<size / 1000).map { "X-\($0): \(request["x-\($0)"] ?? "lost")\r\n" }.joined()
            try connection.send(response("ok", fields: fields))
        }
        // Nothing of the server's is read or acknowledged before the request leaves.
        let client = try stage.client()
        let lines = (0..<size / 1000).map { ("x-\($0)", value) }
        try client.send(Bytes.greeting([]) + Bytes.sections(HTTP2Case.request("GET", "/", lines)))
        let answer = try client.answer()
        #expect(answer.status == 200 && answer["x-0"] == value && answer["x-\(size / 1000 - 1)"] == value)
    }

    @Test func `LOOK-70 a head over the limits is refused on its stream alone`() throws {
        let stage = try HTTP2Stage()
        let client = try stage.client()
        let lines = (0..<80).map { ("x-\($0)", String(repeating: "v", count: 1000)) }
        try client.send(Bytes.greeting([]) + Bytes.sections(HTTP2Case.request("GET", "/", lines)))
        #expect(try client.answer().status == 431)
        try client.send(Bytes.sections(HTTP2Case.request("HEAD", "/", lines), on: 3))
        let answer = try client.answer(on: 3)
        #expect(answer.status == 431 && answer.text.isEmpty)
        let line = [("x-long", String(repeating: "v", count: 20_000))]
        try client.send(Bytes.sections(HTTP2Case.request("GET", "/", line), on: 5))
        #expect(try client.answer(on: 5).status == 431)
        try client.send(Bytes.headers(HTTP2Case.get, on: 7))
        #expect(try client.answer(on: 7).text == "ok")
    }

    @Test func `LOOK-121 a client of HTTP 2 that resets its connection at once is counted out`() throws {
        let stage = try HTTP2Stage("limits: {connections_per_client: 20}\nengine: {threads: 1}")
        for _ in 0..<60 {
            // This answer comes after the end of the previous client: one loop serves both.
            #expect(try stage.pintle.ask(get(stage.origin.port)).status == 200)
            let client = try stage.client()
            client.stream.resetAtEnd()
            try client.send(Bytes.greeting([]))
        }
        #expect(try stage.pintle.ask(get(stage.origin.port)).status == 200)
    }
}
