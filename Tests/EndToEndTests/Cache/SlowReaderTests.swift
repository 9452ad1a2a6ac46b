// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Clients that do not read, while others wait for the same answer, or for their turn.
struct SlowReaderTests {
    private static let piece = String(repeating: "x", count: 50_000)

    /// Sends a chunked answer until the other side has gone.
    private func sendEndlessly(_ fields: String, on connection: RawOrigin.Connection) {
        do {
            try connection.send("HTTP/1.1 200 OK\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n")
            while true { try connection.send("\(String(Self.piece.count, radix: 16))\r\n\(Self.piece)\r\n") }
        } catch {
            // The other side has gone.
        }
    }

    @Test
    func
        `LOOK-77 a request waits for its turn no longer than its time-out, and a client that does not read loses its own`()
        throws
    {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request.head.startLine.contains("/endless") {
                    return self.sendEndlessly("Cache-Control: no-store\r\n", on: connection)
                }
                try connection.send(response("well", fields: "Cache-Control: no-store\r\n"))
            }
        }
        let pintle = try PintleProcess(
            "routes: [{name: few, request: {timeout: 1s}, coalesce: {max_active: 1}}]")
        let silent = try pintle.connect(receiveBuffer: 4096)
        try silent.send(get(origin.port, "/endless"))
        try origin.waitForRequests(1)
        let late = try pintle.ask(get(origin.port, "/other", fields: "Accept: application/problem+json\r\n"))
        #expect(late.head.status == 503 && late.text.contains("urn:pintle:problem:overloaded"))
        #expect(late.text.contains("none of the route's places (routes[].coalesce.max_active: 1)"))
        #expect(late.text.contains("within 1 s") && late.text.contains("request.timeout"))
        // The one that does not read counts no longer after a while, and keeps its connection.
        var answer = late
        while answer.head.status == 503 { answer = try pintle.ask(get(origin.port, "/other")) }
        #expect(answer.text == "well" && origin.requests.count == 2)
        #expect(try pintle.counters()["active"] as? Int == 1)
    }

    @Test func `LOOK-77 clients that join a long answer and do not read do not hold up the others`() throws {
        let (mayAnswer, body) = (Watched(false), String(repeating: Self.piece, count: 400))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the clients") { $0 }
            try connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<400 { try connection.send("\(String(Self.piece.count, radix: 16))\r\n\(Self.piece)\r\n") }
            try connection.send("0\r\n\r\n")
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(
            "cache: {disk: off, memory: 1MiB}\nroutes: [{name: merged, cache: {policy: protocol}, coalesce: {}}]")
        let clients = try (0..<4).map { _ in try pintle.connect(receiveBuffer: 4096) }
        for client in clients { try client.send(get(origin.port)) }
        try pintle.waitForCounter("active", clients.count)
        mayAnswer.change { $0 = true }
        // The first one and two others do not read.
        #expect(try clients[3].readResponse().text == body)
        #expect(try origin.waitForRequests(1).count == 1)
        // Their answers end without an end, and the log says why.
        for client in clients.prefix(3) { #expect(throws: (any Error).self) { try client.readResponse() } }
        let errors = try pintle.waitForExchanges(4).compactMap { $0["error"] as? String }
        #expect(errors.count == 3 && errors.allSatisfy { $0.contains("read too slowly") })
    }
}
