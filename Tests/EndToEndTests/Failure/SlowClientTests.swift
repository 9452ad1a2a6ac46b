// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Clients that read late, slowly, or never: they lose nothing, and cost little.
struct SlowClientTests {
    /// A small buffer, so that a client soon falls behind.
    private static let receiveBuffer = Int32(16 * 1024)

    @Test(
        .tags(.load),
        arguments: ["OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://denied.test/ HTTP/1.1\r\nHost: x\r\n\r\n"])
    func `LOOK-58 a client that pipelines without reading is read no further`(request: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            "destinations: {deny: [denied.test]}\nlimits: {header_timeout: 1s}", log: "{format: json, exchanges: off}")
        let client = try pintle.connect(receiveBuffer: Self.receiveBuffer)
        let total = 64 << 20
        let sent = Watched(0)
        let failure = Watched<String?>(nil)
        inBackground(failure) {
            let block = Array(String(repeating: request, count: 1000).utf8)
            while sent.current < total {
                try client.send(block)
                sent.change { $0 += block.count }
            }
        }
        // Until the proxy takes no more.
        try pintle.waitUntilStill(sent)
        #expect(sent.current < total, "the proxy read everything")
        let peak = try pintle.memory("VmHWM")
        #expect(peak < BoundedMemoryTests.limit)
        #expect(try pintle.ask(get(origin.port)).text == "done")
        // The answers are there once the client reads, and the proxy keeps working.
        for _ in 0..<1000 { #expect([200, 204, 403].contains(try client.readResponse().status)) }
        client.reset()
        #expect(try pintle.serves("http://127.0.0.1:\(origin.port)/"))
    }

    @Test(.tags(.load)) func `clients that never read are given up, and leave nothing behind`() throws {
        let total = 100 << 20
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let block = pattern(1 << 16)
            for _ in 0..<(total >> 16) { try connection.stream.send(block) }
        }
        let good = try RawOrigin(answering: response("done", fields: "Connection: close\r\n"))
        let pintle = try PintleProcess("engine: {threads: 1}\nlimits: {body_timeout: 1s}")
        #expect(try pintle.ask(get(good.port)).text == "done")
        let before = try pintle.openDescriptors()
        let clients = try (0..<5).map { _ in
            let client = try pintle.connect(receiveBuffer: Self.receiveBuffer)
            try client.send(get(origin.port))
            return client
        }
        try origin.waitForRequests(clients.count)
        let records = try pintle.waitForExchanges(1 + clients.count)
        #expect(records.dropFirst().allSatisfy { $0["error"] != nil }, "\(records)")
        let counters = try pintle.counters()
        let (failed, cancelled) = (counters["failed"] as? Int ?? 0, counters["cancelled"] as? Int ?? 0)
        #expect(counters["active"] as? Int == 0 && failed + cancelled == clients.count, "\(counters)")
        try origin.waitUntilQuiet()
        try Patience.wait(for: "\(before) descriptors") {
            _ = try pintle.ask(get(good.port))
            return try pintle.openDescriptors() <= before
        }
        for client in clients { client.close() }
    }

    /// More of them than the loop looks at in a turn: its timers fire before it has read from all.
    @Test func `LOOK-74 heads that came in time are answered by a loop that is late`() throws {
        let pintle = try PintleProcess(
            "engine: {threads: 1}\nlimits: {header_timeout: 10s, connections_per_client: 1000}",
            log: "{format: json, exchanges: off}")
        let before = try pintle.openDescriptors()
        let clients = try (0..<400).map { _ in try pintle.connect() }
        try Patience.wait(for: "the connections") { try pintle.openDescriptors() >= before + clients.count }
        pintle.process.signal(SIGSTOP)
        try pintle.waitUntilStopped()
        for client in clients { try client.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n") }
        // Another process shows that the time-out has passed: the stopped one has no time of its own.
        try PintleProcess("limits: {header_timeout: 10s}").waitForHeaderTimeout()
        pintle.process.signal(SIGCONT)
        for client in clients { #expect(try client.readResponse().status == 200) }
    }

    // Different sizes, so that the origin's end meets full and half-empty buffers on its way.
    @Test(arguments: [1, 3, 5, 8])
    func `LOOK-58 a tunnel whose client has finished sending and reads late delivers every byte`(mebibytes: Int) throws
    {
        let body = pattern(mebibytes << 20)
        let sent = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.stream.readToEnd()
            try connection.stream.send(body)
            sent.change { $0 = true }
        }
        let pintle = try PintleProcess("engine: {threads: 1}\nlimits: {header_timeout: 3s}")
        let client = try pintle.connect(receiveBuffer: Self.receiveBuffer)
        try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send("that is all")
        client.finishSending()
        // Longer than the two seconds in which a connection that is done with is expected to close.
        try pintle.waitForHeaderTimeout()
        var got = try client.read(body.count / 2)
        try pintle.waitForHeaderTimeout()
        let rest = try client.readToEnd()
        got += rest.bytes
        #expect(got == body && rest.ending == .closed, "\(got.count) bytes, then \(rest.ending)")
        #expect(sent.current)
    }

    @Test func `LOOK-58 an HTTP 1.0 client that pauses near the end gets every byte`() throws {
        let body = pattern(8 << 20)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            try connection.stream.send(body)
        }
        let pintle = try PintleProcess("engine: {threads: 1}\nlimits: {header_timeout: 3s}")
        let client = try pintle.connect(receiveBuffer: Self.receiveBuffer)
        try client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\n\r\n")
        #expect(try client.readHead().status == 200)
        // Until the proxy has everything from the origin and the exchange is over, but not for the client.
        var got: [UInt8] = []
        while pintle.exchanges.isEmpty, got.count < body.count - (256 << 10), let bytes = try client.readSome() {
            got += bytes
        }
        try pintle.waitForHeaderTimeout()
        let rest = try client.readToEnd()
        got += rest.bytes
        #expect(got == body && rest.ending == .closed, "\(got.count) bytes, then \(rest.ending)")
    }
}
