// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Long request bodies that are not inspected are moved from socket to socket (LOOK-92).
struct PipedUploadTests {
    /// The length is no multiple of a size that is moved at once, and the bytes differ everywhere.
    private static let body: [UInt8] = (0..<5_000_003).map { UInt8(truncatingIfNeeded: $0 &* 29 ^ $0 >> 10) }

    private static func post(_ port: Int, length: Int = Self.body.count) -> String {
        "POST http://127.0.0.1:\(port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n"
    }

    @Test func `LOOK-92 a long upload arrives whole, and both connections are used again`() throws {
        let connections = Watched(0)
        let origin = try RawOrigin { connection in
            connections.change { $0 += 1 }
            while (try? connection.readRequest()) != nil { try connection.send(response("ok")) }
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let client = try pintle.connect()
        for _ in 0..<3 {
            // The next request follows the body immediately, and is no part of it.
            try client.send(Array(Self.post(origin.port).utf8) + Self.body + Array(get(origin.port).utf8))
            #expect(try client.readResponse().status == 200)
            #expect(try client.readResponse().status == 200)
        }
        #expect(connections.current == 1)
        let requests = try origin.waitForRequests(6)
        #expect(requests.map(\.body) == [Self.body, [], Self.body, [], Self.body, []])
        for record in try pintle.waitForExchanges(6) where record["method"] as? String == "POST" {
            #expect(record["bytes_in"] as? Int == Self.body.count, "\(record)")
        }
    }

    @Test func `LOOK-92 an origin that reads slowly gets all of it through a pipe, and holds the client up`() throws {
        let taken = Watched(0)
        let mayRead = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try mayRead.wait(for: "the upload to stand still") { $0 }
            for _ in 0..<10 {
                #expect(try connection.stream.read(Self.body.count) == Self.body)
                taken.change { $0 += 1 }
            }
            try connection.send(response("ok"))
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let client = try pintle.connect()
        let sent = Watched(0)
        Thread.detachNewThread {
            try? client.send(Self.post(origin.port, length: 10 * Self.body.count))
            for _ in 0..<10 {
                try? client.send(Self.body)
                sent.change { $0 += 1 }
            }
        }
        try pintle.waitForPipe()
        mayRead.change { $0 = true }
        try taken.wait(for: "the origin to have the body") { $0 == 10 }
        #expect(try client.readResponse().status == 200)
        #expect(try pintle.waitForExchanges(1)[0]["bytes_in"] as? Int == 10 * Self.body.count)
    }

    @Test func `LOOK-92 an origin that refuses a long upload early is heard`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.stream.read(1_000_000)
            try connection.send("HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            _ = try? connection.waitForEnd()
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let before = try pintle.openDescriptors()
        let client = try pintle.connect()
        Thread.detachNewThread { try? client.send(Array(Self.post(origin.port).utf8) + Self.body) }
        #expect(try client.readResponse().status == 413)
        client.close()
        try pintle.waitForDescriptors(before)
    }

    @Test(arguments: ["the client", "the origin"])
    func `LOOK-92 whoever leaves in a long upload takes the connections and the pipe along`(leaving: String) throws {
        let seen = Watched(0)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.stream.read(300_000)
            seen.change { $0 += 1 }
            if leaving == "the origin" { return connection.stream.reset() }
            _ = try? connection.waitForEnd()
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        let before = try pintle.openDescriptors()
        for number in 1...10 {
            let client = try pintle.connect()
            let isSent = Watched(false)
            Thread.detachNewThread {
                try? client.send(Array(Self.post(origin.port, length: 1 << 40).utf8) + Self.body)
                isSent.change { $0 = true }
            }
            try seen.wait(for: "the origin to have a part") { $0 == number }
            if leaving == "the client" { client.reset() } else { #expect(try client.readResponse().status == 502) }
            try isSent.wait(for: "the client to be let go") { $0 }
            client.close()
        }
        for record in try pintle.waitForExchanges(10) { #expect(record["error"] != nil, "\(record)") }
        try pintle.waitForDescriptors(before)
    }
}

extension PintleProcess {
    /// Waits until the process holds a pipe with something in it, other than its standard streams.
    fileprivate func waitForPipe() throws {
        let folder = "/proc/\(self.process.pid)/fd"
        let inherited = Set(
            try (0..<3).map { try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") })
        let deadline = Date(timeIntervalSinceNow: Patience.seconds)
        while Date() < deadline {
            let targets = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
            }
            if targets.contains(where: { $0.hasPrefix("pipe:") && !inherited.contains($0) }) { return }
        }
        throw TestFailure("no pipe was opened")
    }
}
