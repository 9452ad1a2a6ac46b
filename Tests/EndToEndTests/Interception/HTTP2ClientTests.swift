// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Clients that speak HTTP/2 in intercepted tunnels: curl, and bytes that no client sends.
struct HTTP2ClientTests {
    private let site: PrivateSite

    init() throws {
        self.site = try PrivateSite()
        let authority = try CertificateAuthority(named: "Test CA")
        try AuthorityFolder("\(self.site.folder.path)/pintle/ca").keep(authority)
        try self.site.folder.write(authority.certificatePEM, to: "ca.pem")
    }

    private func pintle(_ more: String = "") throws -> PintleProcess {
        try PintleProcess(
            "interception: {hosts: [localhost]}\n\(more)\ntrust: {site: {hosts: [localhost], roots: [root.pem]}}",
            environment: ["XDG_DATA_HOME": self.site.folder.path], folder: self.site.folder)
    }

    private var host: String { "localhost:\(self.site.origin.httpsPort)" }

    private func curl(_ pintle: PintleProcess, _ port: Int? = nil, _ arguments: String...) throws -> Curl.Result {
        try Curl.run(
            [
                "--http2", "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert",
                "\(self.site.folder.path)/ca.pem",
            ] + arguments)
    }

    /// A TLS origin that runs a test's script.
    private func origin(_ serve: @escaping @Sendable (SocketStream) throws -> Void) throws -> RawOrigin {
        let side = try TLSServerSide(self.site.leaf)
        return try RawOrigin { connection in
            try connection.stream.secure(as: side)
            try serve(connection.stream)
        }
    }

    // MARK: curl

    @Test func `bodies pass in both directions, many at a time on one connection`() throws {
        let pintle = try self.pintle()
        let body = pattern(1_000_003)
        try self.site.origin.serve(body, as: "down")
        let file = try self.site.folder.write(body, to: "up")
        let up = try self.curl(pintle, nil, "--upload-file", file, "https://\(self.host)/store/one")
        #expect(up.exitCode == 0 && up.status == 201 && up.head.startLine.hasPrefix("HTTP/2 "), "\(up)")
        #expect(self.site.origin.stored("one") == body)
        let folder = self.site.folder.path
        let down = try self.curl(
            pintle, nil, "--parallel", "--parallel-max", "20", "https://\(self.host)/files/down",
            "https://\(self.host)/files/down?[2-40]", "-o",
            "\(folder)/out#1")
        #expect(down.exitCode == 0, "\(down)")
        for number in 2...40 { #expect(FileManager.default.contents(atPath: "\(folder)/out\(number)") == Data(body)) }
        let lines = try pintle.waitForExchanges(43)
        #expect(lines.filter { $0["method"] as? String == "CONNECT" }.count <= 3)
        #expect(lines.allSatisfy { $0["mode"] as? String == "intercept" })
    }

    @Test func `an answer that comes before the end of the request is whole`() throws {
        let pintle = try self.pintle()
        let origin = try self.origin { stream in
            _ = try stream.readHead()
            try stream.send("HTTP/1.1 413 Too Much\r\nContent-Length: 5\r\nConnection: close\r\n\r\nstop!")
            _ = try stream.readToEnd()
        }
        let file = try self.site.folder.write(pattern(5_000_000), to: "up")
        let answer = try self.curl(pintle, nil, "--upload-file", file, "https://localhost:\(origin.port)/")
        #expect(answer.exitCode == 0 && answer.status == 413 && answer.text == "stop!", "\(answer)")
    }

    @Test func `an answer that the origin cut off does not look complete`() throws {
        let pintle = try self.pintle()
        for head in ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
            let origin = try self.origin { stream in
                _ = try stream.readHead()
                try stream.send("HTTP/1.1 200 OK\r\n\(head)")
            }
            let answer = try self.curl(pintle, nil, "https://localhost:\(origin.port)/")
            // A stream that was not closed cleanly, or a partial file.
            #expect([18, 92].contains(answer.exitCode) && answer.text == "half", "\(answer)")
        }
    }

    @Test func `a HEAD and a 304 have no body, and a 103 passes`() throws {
        let pintle = try self.pintle()
        let head = try self.curl(pintle, nil, "--head", "https://\(self.host)/hello")
        #expect(head.exitCode == 0 && head.status == 200 && head["content-length"] == "6")
        let origin = try self.origin { stream in
            _ = try stream.readHead()
            try stream.send(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")
            _ = try stream.readToEnd()
        }
        let answer = try self.curl(pintle, nil, "https://localhost:\(origin.port)/")
        #expect(answer.exitCode == 0 && answer.status == 304 && answer.heads.map(\.status).contains(103), "\(answer)")
    }

    // MARK: Bytes

    /// A frame (RFC 9113 §4.1).
    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = Self.digits(payload.count, 3)
        bytes += [type, flags]
        bytes += Self.digits(stream, 4)
        return bytes + payload
    }

    private static func digits(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    /// Literals without indexing and without Huffman's code (RFC 7541 §6.2.2).
    private static func block(_ fields: [(String, String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += [0, UInt8(name.utf8.count)]
            bytes += Array(name.utf8)
            bytes.append(UInt8(value.utf8.count))
            bytes += Array(value.utf8)
        }
        return bytes
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0)

    private func request(_ path: String = "/hello", _ more: [(String, String)] = []) -> [(String, String)] {
        [(":method", "GET"), (":scheme", "https"), (":authority", self.host), (":path", path)] + more
    }

    private func connect(_ pintle: PintleProcess) throws -> TLSStream {
        let client = try TLSStream(to: self.host, through: pintle.port, protocols: ["h2"])
        #expect(client.chosenProtocol == "h2")
        try client.send(Self.preface)
        return client
    }

    /// The kinds of the frames on a stream up to its end, and the first bytes of its head.
    private func answer(_ client: TLSStream, on stream: Int) throws -> (kinds: [UInt8], head: [UInt8]) {
        var (kinds, first): ([UInt8], [UInt8]) = ([], [])
        while true {
            let head = try client.read(9)
            let payload = try client.read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            let (type, flags) = (head[3], head[4])
            // Ends the connection.
            if type == 7 { return (kinds + [type], first) }
            guard Int(head[7]) << 8 | Int(head[8]) == stream, [0, 1, 3].contains(type) else { continue }
            kinds.append(type)
            if type == 1, first.isEmpty { first = payload }
            if type == 3 || flags & 1 != 0 { return (kinds, first) }
        }
    }

    @Test func `a request in bytes is answered`() throws {
        let pintle = try self.pintle()
        let client = try self.connect(pintle)
        try client.send(Self.frame(1, 5, 1, Self.block(self.request())))
        let (kinds, head) = try self.answer(client, on: 1)
        // 0x88 is `:status: 200` in the static table.
        #expect(kinds.first == 1 && kinds.last != 3 && head.first == 0x88, "\(kinds) \(head)")
    }

    @Test func `trailers pass`() throws {
        let pintle = try self.pintle()
        let origin = try self.origin { stream in
            _ = try stream.readHead()
            try stream.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: grpc-status\r\n\r\n2\r\nhi\r\n0\r\n"
                    + "grpc-status: 0\r\n\r\n")
            _ = try stream.readToEnd()
        }
        let client = try TLSStream(to: "localhost:\(origin.port)", through: pintle.port, protocols: ["h2"])
        try client.send(Self.preface)
        let fields = [
            (":method", "GET"), (":scheme", "https"), (":authority", "localhost:\(origin.port)"), (":path", "/"),
            ("te", "trailers"),
        ]
        try client.send(Self.frame(1, 5, 1, Self.block(fields)))
        #expect(try self.answer(client, on: 1).kinds == [1, 0, 1])
    }

    // MARK: HTTP/1.1 beside it

    @Test func `a WebSocket passes in a tunnel with HTTP 1`() throws {
        let pintle = try self.pintle()
        let origin = try self.origin { stream in
            _ = try stream.readHead()
            try stream.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
                    + "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nfirst")
            try stream.send(try stream.read(5))
        }
        let client = try TLSStream(to: "localhost:\(origin.port)", through: pintle.port, protocols: ["http/1.1"])
        try client.send(
            "GET /chat HTTP/1.1\r\nHost: localhost:\(origin.port)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        var text = ""
        while !text.hasSuffix("\r\n\r\nfirst") { text += String(decoding: try client.read(1), as: UTF8.self) }
        #expect(text.hasPrefix("HTTP/1.1 101 "))
        try client.send("there")
        #expect(try client.read(5) == Array("there".utf8))
    }
}
