// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Long bodies that are not inspected are moved from socket to socket.
struct PipedBodyTests {
    /// The length is no multiple of a size that is moved at once, and the bytes differ everywhere.
    private static let body: [UInt8] = (0..<5_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.body.count)\r\n\r\n"

    @Test func `a long body arrives whole, and its connection is used again`() throws {
        let connections = Watched(0)
        let origin = try RawOrigin { connection in
            connections.change { $0 += 1 }
            while (try? connection.readRequest()) != nil {
                try connection.send(Self.head)
                try connection.stream.send(Self.body)
            }
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let client = try pintle.connect()
        for _ in 0..<3 {
            try client.send(get(origin.port))
            let answer = try client.readResponse()
            #expect(answer.status == 200 && answer.body == Self.body)
        }
        #expect(connections.current == 1)
        for record in try pintle.waitForExchanges(3) {
            #expect(record["bytes_out"] as? Int == Self.body.count, "\(record)")
        }
    }

    @Test func `a client that reads slowly gets all of it, and holds the origin up`() throws {
        let sent = Watched(0)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(20 * Self.body.count)\r\n\r\n")
            for _ in 0..<20 {
                try connection.stream.send(Self.body)
                sent.change { $0 += 1 }
            }
        }
        let pintle = try PintleProcess()
        let client = try pintle.connect(receiveBuffer: 4096)
        try client.send(get(origin.port))
        #expect(try client.readHead().status == 200)
        for number in 0..<20 {
            // Only sockets and a pipe hold bytes that the client has not read.
            #expect(sent.current <= number + 4)
            #expect(try client.read(Self.body.count) == Self.body)
        }
        #expect(try pintle.waitForExchanges(1)[0]["bytes_out"] as? Int == 20 * Self.body.count)
    }

    @Test(arguments: [false, true])
    func `a long body that is cut off looks cut off`(isReset: Bool) throws {
        let seen = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.body.count + 1_000_000)\r\n\r\n")
            try connection.stream.send(Self.body)
            try seen.wait(for: "the client to have what there is") { $0 }
            if isReset { connection.stream.reset() }
        }
        let pintle = try PintleProcess()
        let client = try pintle.connect()
        try client.send(get(origin.port))
        #expect(try client.readHead().status == 200)
        #expect(try client.read(Self.body.count) == Self.body)
        seen.change { $0 = true }
        #expect(try client.readToEnd().bytes.isEmpty)
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["error"] != nil && record["bytes_out"] as? Int == Self.body.count, "\(record)")
    }

    @Test func `bytes behind a long body are nobody's answer`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(Self.head)
            try connection.stream.send(Self.body + Array(response("smuggled").utf8))
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let client = try pintle.connect()
        for _ in 0..<3 {
            try client.send(get(origin.port))
            #expect(try client.readResponse().body == Self.body)
        }
        try origin.waitForRequests(3)
    }

    @Test func `a client that leaves takes the connection and the pipe with it`() throws {
        let ended = Watched(0)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
            while (try? connection.stream.send(Self.body)) != nil {}
            ended.change { $0 += 1 }
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let before = try pintle.openDescriptors()
        for _ in 0..<20 {
            let client = try pintle.connect(receiveBuffer: 4096)
            try client.send(get(origin.port))
            #expect(try client.readHead().status == 200)
            _ = try client.read(100_000)
            client.reset()
        }
        try ended.wait(for: "the origin to be let go") { $0 == 20 }
        for record in try pintle.waitForExchanges(20) {
            #expect(record["error"] as? String == "the client closed the connection", "\(record)")
        }
        try pintle.waitForDescriptors(before)
    }

    @Test func `a long answer that comes before the upload is over waits for it in nothing`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(Self.head)
            try connection.stream.send(Self.body)
            _ = try connection.stream.read(10)
        }
        let pintle = try PintleProcess()
        let client = try pintle.connect()
        try client.send("POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
        let answer = try client.readResponse()
        #expect(answer.status == 200 && answer.body == Self.body)
        try client.send("67890")
        #expect(try pintle.waitForExchanges(1)[0]["error"] == nil)
    }
}
