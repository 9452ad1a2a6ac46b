// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Invariant 4 of the design: a truncated response never looks complete to the client.
struct TruncationTests {
    /// A way in which an origin may cut its answer.
    enum Cut: String, CaseIterable, CustomTestStringConvertible {
        case closesBeforeTheLength, resetsBeforeTheLength, closesWithinAChunk, closesBetweenChunks, resetsBetweenChunks
        case closesBeforeTheTrailersEnd

        var testDescription: String { self.rawValue }

        var bytes: String {
            let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            return switch self {
            case .closesBeforeTheLength, .resetsBeforeTheLength:
                "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it"
            case .closesWithinAChunk: chunked + "ff\r\nhalf of it"
            case .closesBetweenChunks, .resetsBetweenChunks: chunked + "a\r\nhalf of it\r\n"
            case .closesBeforeTheTrailersEnd: chunked + "a\r\nhalf of it\r\n0\r\nX-T: 1\r\n"
            }
        }

        var isReset: Bool { self == .resetsBeforeTheLength || self == .resetsBetweenChunks }
    }

    /// An origin that cuts its answer when the client has seen the first part of it.
    private func origin(_ cut: Cut, after seen: Watched<Bool>) throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(cut.bytes)
            try seen.wait(for: "the client to see the beginning") { $0 }
            if cut.isReset { connection.stream.reset() }
        }
    }

    @Test(arguments: Cut.allCases)
    func `a cut answer is never a clean end for an HTTP 1.1 client`(cut: Cut) throws {
        let seen = Watched(false)
        let origin = try self.origin(cut, after: seen)
        let pintle = try PintleProcess()
        let client = try pintle.connect()
        try client.send(get(origin.port))
        let head = try client.readHead()
        #expect(head.status == 200)
        if head["Content-Length"] == nil { _ = try client.readLine() }
        #expect(try client.read(10) == Array("half of it".utf8))
        seen.change { $0 = true }
        let rest = try client.readToEnd()
        #expect(!String(decoding: rest.bytes, as: UTF8.self).contains("0\r\n"), "the last chunk must not be there")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["error"] != nil, "\(record)")
    }

    @Test(arguments: Cut.allCases)
    func `a cut answer to an HTTP 1.0 client ends with a reset`(cut: Cut) throws {
        let seen = Watched(false)
        let origin = try self.origin(cut, after: seen)
        let pintle = try PintleProcess()
        let client = try pintle.connect()
        try client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\n\r\n")
        let head = try client.readHead()
        #expect(try client.read(10) == Array("half of it".utf8))
        seen.change { $0 = true }
        let ending = try client.readToEnd().ending
        // Without a length, an orderly close would be the end of a whole body.
        if head["Content-Length"] == nil { #expect(ending == .reset) }
    }

    @Test(arguments: [Cut.closesBeforeTheLength, .closesBetweenChunks])
    func `curl notices that an answer was cut`(cut: Cut) throws {
        let seen = Watched(true)
        let origin = try self.origin(cut, after: seen)
        let pintle = try PintleProcess()
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect([18, 56, 52].contains(result.exitCode), "\(result)")
        #expect(result.exitCode != 0)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nX-A: 1\r\n", "HTTP/1.1 200"])
    func `an origin that closes before its head is complete is a problem`(bytes: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(bytes)
        }
        let pintle = try PintleProcess()
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(result.status == 502 && result.problem == "upstream-protocol", "\(result)")
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nBad Header: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: 3x\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 0\r\n\r\n",
    ])
    func `an origin that does not speak HTTP is a problem, and the next request works`(bytes: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(bytes)
        }
        let good = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess()
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(result.status == 502 && result.problem == "upstream-protocol", "\(result)")
        #expect(try pintle.serves("http://127.0.0.1:\(good.port)/"))
    }
}
