// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Fields of HTTP/2 are bytes (RFC 9113 §8.2.1), whatever text they are.
struct HTTP2FieldBytesTests {
    /// Says how a client speaks HTTP/2 with the proxy.
    enum Way: CaseIterable { case inTunnel, toListener }

    struct Value: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
    }

    private static let values = [
        Value(
            testDescription: "Latin-1", bytes: Array("attachment; filename=\"r".utf8) + [0xE9] + Array("sum.txt\"".utf8)
        ),
        Value(testDescription: "UTF-8", bytes: Array("r\u{E9}sum\u{E9}, re\u{301}sume\u{301} \u{1F4C4} \u{FFFD}".utf8)),
        Value(testDescription: "no UTF-8", bytes: [0x61, 0xC3, 0x28, 0x80, 0xFF, 0xED, 0xA0, 0x80, 0x7A]),
        Value(testDescription: "all bytes over 0x7F", bytes: Array(0x80...0xFF)),
    ]

    /// True if `all` has `part` exactly this many times.
    private static func count(_ part: [UInt8], in all: [UInt8]) -> Int {
        let (all, part) = (Data(all), Data(part))
        var (count, rest) = (0, all[...])
        while let found = rest.range(of: part) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }

    private struct Stage {
        let folder = Result { try TemporaryFolder() }
        let origin: RawOrigin
        let pintle: PintleProcess
        let way: Way

        init(_ way: Way, answering value: [UInt8]) throws {
            self.way = way
            let (folder, pki) = (try self.folder.get(), TestPKI())
            let root = try pki.root("Root")
            _ = try folder.write(pki.leaf("proxy", dns: ["proxy.test"], ip: ["127.0.0.1"], signedBy: root), as: "proxy")
            try AuthorityFolder("\(folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
            let origin = try RawOrigin { connection in
                while true {
                    _ = try connection.readRequest()
                    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Out: "
                    try connection.stream.send(Array(head.utf8) + value + Array("\r\n\r\nok".utf8))
                }
            }
            self.origin = origin
            self.pintle = try PintleProcess(
                """
                listen_tls: {certificate: proxy.pem, key: proxy.key}
                routes:
                  - {name: o, match: {hosts: [origin.test]}, connect: intercept, upstream: "http://127.0.0.1:\(origin.port)"}
                """,
                arguments: ["--listen", "https://127.0.0.1:0"], environment: ["XDG_DATA_HOME": folder.path],
                folder: folder)
        }

        func client() throws -> HTTP2Client {
            let stream =
                switch self.way {
                case .inTunnel: try TLSStream(to: "origin.test:443", through: self.pintle.ports[0], protocols: ["h2"])
                case .toListener: try TLSStream(port: self.pintle.ports[1], protocols: ["h2"])
                }
            let client = HTTP2Client(stream)
            try client.greet()
            return client
        }

        var head: [UInt8] {
            let isInTunnel = self.way == .inTunnel
            return Bytes.block([
                (":method", "GET"), (":scheme", isInTunnel ? "https" : "http"),
                (":authority", isInTunnel ? "origin.test" : "127.0.0.1:\(self.origin.port)"), (":path", "/"),
            ])
        }
    }

    @Test(arguments: Way.allCases, Self.values)
    func `LOOK-72 bytes pass from clients of HTTP 2 to HTTP 1 and back, by entries of the table too`(
        way: Way, value: Value
    ) throws {
        let stage = try Stage(way, answering: value.bytes)
        let client = try stage.client()
        let name = Array("x-in".utf8)
        let ascii = Array("plain".utf8)
        // Kept, referred to, another value by the name of the first, both referred to, and one that comes in two frames.
        let fields = [
            Bytes.literal(name, value.bytes, 0x40), [0xBE],
            [0x7E] + Bytes.integer(ascii.count, 7) + ascii, [0xBE, 0xBF],
        ]
        for (number, field) in fields.enumerated() {
            let stream = 2 * number + 1
            try client.send(Bytes.frame(Kind.headers, Flag.whole, on: stream, stage.head + field))
            #expect(try client.answer(on: stream).bytes["x-out"] == value.bytes)
        }
        let last = stage.head + Bytes.literal(name, value.bytes)
        let cut = last.count - value.bytes.count / 2
        try client.send(
            Bytes.frame(Kind.headers, Flag.endStream, on: 9, Array(last[..<cut]))
                + Bytes.frame(Kind.continuation, Flag.endHeaders, on: 9, Array(last[cut...])))
        #expect(try client.answer(on: 9).bytes["x-out"] == value.bytes)
        let received = stage.origin.connections.flatMap(\.received)
        #expect(Self.count(Array("x-in: ".utf8) + value.bytes + [0x0D, 0x0A], in: received) == 4)
        #expect(Self.count(Array("x-in: plain\r\n".utf8), in: received) == 2)
    }

    @Test(arguments: Self.values)
    func `LOOK-72 bytes pass to origins of HTTP 2 and back, by entries of the table too`(value: Value) throws {
        let site = try PrivateSite()
        let side = try TLSServerSide(site.leaf, speaksHTTP2: true)
        let blocks = Watched<[[UInt8]]>([])
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            var peer = try HTTP2Peer(connection.stream)
            for block in [Bytes.literal(Array("x-out".utf8), value.bytes, 0x40), [0xBE], [0xBE]] {
                let request = try peer.nextRequest()
                blocks.change { $0.append(request.block) }
                try peer.answer(request.stream, "ok", [0x88] + block)
            }
            _ = try connection.waitForEnd()
        }
        let pintle = try site.pintle("roots: [root.pem]")
        let client = try pintle.connect()
        for _ in 0..<3 {
            let head = "GET https://localhost:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nX-In: "
            try client.send(Array(head.utf8) + value.bytes + Array("\r\n\r\n".utf8))
            #expect(try client.readResponse().text == "ok")
        }
        #expect(origin.connections.count == 1)
        #expect(Self.count(Array("x-out: ".utf8) + value.bytes + [0x0D, 0x0A], in: client.received) == 3)
        // The value is in no table, so it is sent as it is each time.
        for block in blocks.current {
            #expect(Self.count(Bytes.integer(value.bytes.count, 7) + value.bytes, in: block) == 1)
        }
    }

    /// nghttp2 uses Huffman coding for values that it makes shorter, and keeps them in its table.
    @Test func `LOOK-72 bytes that curl and Node write in Huffman's code pass`() throws {
        let value = Array("attachment; filename=\"a rather long name of a r".utf8) + [0xE9] + Array("sum.txt\"".utf8)
        let stage = try Stage(.inTunnel, answering: value)
        let folder = try stage.folder.get()
        try Data(Array("X-In: ".utf8) + value).write(to: URL(fileURLWithPath: "\(folder.path)/fields"))
        let url = "https://origin.test/"
        let result = try Curl.run(
            proxy: stage.pintle.ports[0], "--http2", "-k", "-H", "@\(folder.path)/fields", "-w", "%{http_version}", url,
            url, url)
        #expect(result.exitCode == 0 && result.heads.count { $0.startLine.hasPrefix("HTTP/2 200") } == 3, "\(result)")
        let received = stage.origin.connections.flatMap(\.received)
        #expect(Self.count(Array("x-in: ".utf8) + value + [0x0D, 0x0A], in: received) == 3)
    }
}
