// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Memory that is held for many clients together.
@Suite(.tags(.load)) struct HeldMemoryTests {
    private static let shortage = "as many bytes are held as limits.held_bytes (8MiB) allows; try again later"

    private static func counter(_ name: String, of pintle: PintleProcess) throws -> Int {
        // Counters that are zero are not logged.
        try pintle.counters()[name] as? Int ?? 0
    }

    /// Asks for the counters until one has its expected value; a test cannot wait for the release of memory.
    private static func wait(for name: String, of pintle: PintleProcess, until holds: (Int) -> Bool) throws -> Int {
        for _ in 0..<1_000 {
            let value = try Self.counter(name, of: pintle)
            if holds(value) { return value }
        }
        return try Self.counter(name, of: pintle)
    }

    @Test func `LOOK-16 bodies that many clients do not finish stay within limits held_bytes`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            """
            engine: {threads: 2}
            limits: {held_bytes: 8MiB, body_buffer: 2MiB}
            routes: [{name: held, match: {paths: ["/held"]}, request: {serialize: json}}]
            """)
        let before = try pintle.memory("VmHWM")
        let piece = [UInt8](repeating: 0x20, count: 1 << 20)
        let clients = try (0..<60).map { _ in try pintle.connect() }
        var refused = 0
        for client in clients {
            try client.send(
                "POST http://127.0.0.1:\(origin.port)/held HTTP/1.1\r\nHost: a\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(2 << 20)\r\n\r\n")
            // If the request is refused the proxy reads no more, and the rest may not be taken.
            try? client.send(piece)
        }
        _ = try Self.wait(for: "held_bytes_refused", of: pintle) { $0 >= 50 }
        #expect(try Self.counter("held_bytes", of: pintle) <= 8 << 20)
        #expect(try Self.counter("held_bytes", of: pintle) > 6 << 20)
        // Requests that need no memory to be held are still served.
        #expect(try pintle.serves("http://127.0.0.1:\(origin.port)/"))
        for record in pintle.exchanges where record["status"] as? Int == 503 {
            #expect(record["error"] as? String == Self.shortage)
            refused += 1
        }
        #expect(refused >= 50, "\(refused)")
        #expect(try pintle.memory("VmHWM") - before < 48 << 10)
        for client in clients { client.close() }
        #expect(try Self.wait(for: "held_bytes", of: pintle) { $0 == 0 } == 0)
        #expect(try Self.counter("held_bytes_peak", of: pintle) <= 9 << 20)
        // There is room again.
        let answer = try pintle.ask(
            "POST http://127.0.0.1:\(origin.port)/held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", method: "POST")
        #expect(answer.status == 200)
    }

    @Test(arguments: [("reject", 503), ("report", 200)])
    func `LOOK-16 responses that there is no room to judge are refused or passed as the route says`(
        onViolation: String, status: Int
    ) throws {
        let isOpen = Watched(false)
        let body = "[" + String(repeating: "1,", count: 500_000) + "1]"
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            guard request.head.startLine.contains("/open ") else { return try connection.send(head + body) }
            // All but the end, which comes when there is no room any more.
            try connection.send(head + body.dropLast())
            try isOpen.wait(for: "the end of the test") { $0 }
            try connection.send("]")
        }
        let pintle = try PintleProcess(
            """
            limits: {held_bytes: 8MiB, body_buffer: 2MiB}
            routes:
              - {name: filling, match: {paths: ["/open"]}, response: {body: plist, content_types: [application/json]}}
              - {name: judged, response: {body: plist, content_types: [application/json], on_violation: \(onViolation)}}
            """)
        let clients = try (0..<8).map { _ in try pintle.connect() }
        for client in clients { try client.send(get(origin.port, "/open")) }
        let full = try Self.wait(for: "held_bytes", of: pintle) { $0 > 7_900_000 }
        #expect(full > 7_900_000)
        let answer = try pintle.ask(get(origin.port, "/judged"))
        #expect(answer.status == status)
        if status == 503 {
            #expect(answer.text.contains(Self.shortage))
        } else {
            #expect(answer.body == Array(body.utf8))
            #expect(answer.head.values("Pintle-Violation") == ["body-too-large"])
        }
        isOpen.change { $0 = true }
        for client in clients { client.close() }
        #expect(try Self.wait(for: "held_bytes", of: pintle) { $0 == 0 } == 0)
    }

    @Test func `LOOK-16 answers that clients do not read are counted until they are gone`() throws {
        // More than Linux takes off a sender's hands for one connection (4 MiB).
        let body = "[\"" + String(repeating: "a", count: 7_000_000) + "\"]"
        let origin = try RawOrigin(
            answering: response(body, fields: "Content-Type: application/json\r\n"))
        let pintle = try PintleProcess(
            """
            limits: {held_bytes: 64MiB}
            routes: [{name: judged, response: {body: json}}]
            """)
        let clients = try (0..<6).map { _ in try pintle.connect(receiveBuffer: 16 * 1024) }
        for client in clients { try client.send(get(origin.port)) }
        #expect(try Self.wait(for: "held_bytes", of: pintle) { $0 > 6 << 20 } > 6 << 20)
        for client in clients { client.close() }
        #expect(try Self.wait(for: "held_bytes", of: pintle) { $0 == 0 } == 0)
    }

    @Test func `clients that break their connections within pipelined requests leave nothing held`() throws {
        let pintle = try PintleProcess("")
        let requests = String(repeating: "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", count: 1800)
        for _ in 0..<50 {
            let client = try pintle.connect()
            try client.send(requests)
            client.reset()
        }
        #expect(try pintle.ask("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").status == 200)
        #expect(try Self.wait(for: "held_bytes", of: pintle) { $0 == 0 } == 0)
    }
}
