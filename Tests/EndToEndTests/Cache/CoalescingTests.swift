// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Equal requests under way become one (`coalesce`; RFC 9111 §4, collapsed forwarding).
struct CoalescingTests {
    private static let configuration = """
        cache: {disk: off}
        routes: [{name: merged, cache: {policy: protocol}, coalesce: {}}]
        """

    /// Opens connections, all of which ask for the same, and waits until they do.
    private func ask(
        _ count: Int, _ request: String, through pintle: PintleProcess, active: Int? = nil
    ) throws -> [SocketStream] {
        let clients = try (0..<count).map { _ in try pintle.connect(receiveBuffer: 4096) }
        for client in clients { try client.send(request) }
        while try pintle.counters()["active"] as? Int != active ?? count {}
        return clients
    }

    @Test func `five hundred clients share one request, and slow ones hold up nobody`() async throws {
        let body = String(decoding: pattern(1 << 20).map { 0x20 + $0 % 64 }, as: UTF8.self)
        let mayAnswer = Watched(false)
        let origin = try ScriptedOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the clients") { $0 }
            try connection.send(response(body, fields: "Cache-Control: max-age=60\r\n"))
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(500, get(origin.port), through: pintle)
        mayAnswer.change { $0 = true }
        // Ten of them do not read until all others have everything.
        for client in clients.dropFirst(10) { #expect(try client.readResponse().text == body) }
        #expect(try pintle.memory("VmHWM") < 400 << 10)
        for client in clients.prefix(10) { #expect(try client.readResponse().text == body) }
        #expect(try origin.waitForRequests(1).count == 1)
        let counters = try pintle.counters()
        #expect(counters["coalesced"] as? Int == 499 && counters["cache_misses"] as? Int == 1)
    }

    @Test func `an answer for one client alone is given to no other`() throws {
        let mayAnswer = Watched(false)
        let origin = try ScriptedOrigin { connection in
            while true {
                _ = try connection.readRequest()
                _ = try mayAnswer.wait(for: "the clients") { $0 }
                try connection.send(response("for \(connection.number)", fields: "Cache-Control: private\r\n"))
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(5, get(origin.port), through: pintle)
        #expect(try origin.waitForRequests(1).count == 1)
        mayAnswer.change { $0 = true }
        for client in clients { #expect(try client.readResponse().text.hasPrefix("for ")) }
        #expect(origin.requests.count == 5)
        #expect(try pintle.counters()["coalesced"] == nil)
    }

    @Test func `those who wait try themselves where the first request fails`() throws {
        let mayAnswer = Watched(false)
        let origin = try ScriptedOrigin { connection in
            _ = try connection.readRequest()
            guard connection.number > 0 else {
                _ = try mayAnswer.wait(for: "the clients") { $0 }
                return
            }
            try connection.send(response("well", fields: "Cache-Control: max-age=60\r\n"))
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(4, get(origin.port), through: pintle)
        mayAnswer.change { $0 = true }
        let answers = try clients.map { try $0.readResponse() }
        #expect(answers.count { $0.head.status == 502 } == 1 && answers.count { $0.text == "well" } == 3)
    }

    @Test func `the request goes on when the client that has caused it leaves`() throws {
        let mayAnswer = Watched(false)
        let origin = try ScriptedOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the clients") { $0 }
            try connection.send(response("still here", fields: "Cache-Control: max-age=60\r\n"))
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(Self.configuration)
        let first = try self.ask(1, get(origin.port), through: pintle)
        let others = try self.ask(3, get(origin.port), through: pintle, active: 4)
        first[0].reset()
        let error = try pintle.waitForExchanges(1)[0]["error"] as? String
        #expect(error == "the client closed the connection")
        mayAnswer.change { $0 = true }
        for client in others { #expect(try client.readResponse().text == "still here") }
        #expect(try origin.waitForRequests(1).count == 1)
    }

    @Test func `a request that nobody waits for any more is given up`() throws {
        let origin = try ScriptedOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(Self.configuration)
        let clients = try self.ask(3, get(origin.port), through: pintle)
        #expect(try origin.waitForRequests(1).count == 1)
        for client in clients { client.reset() }
        try origin.waitUntilQuiet()
    }

    @Test(arguments: ["fifo", "lifo"])
    func `so many requests are under way as the route allows, and the others come in their order`(order: String) throws
    {
        let mayAnswer = Watched(0)
        let origin = try ScriptedOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let number = try mayAnswer.wait(for: "a turn") { $0 > 0 }
                mayAnswer.change { $0 = number - 1 }
                try connection.send(response("x", fields: "Cache-Control: no-store\r\n"))
            }
        }
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            routes: [{name: few, coalesce: {max_active: 1, order: \(order)}}]
            """)
        var clients: [SocketStream] = []
        for number in 0..<4 {
            clients += try self.ask(1, get(origin.port, "/\(number)"), through: pintle, active: number + 1)
        }
        #expect(try origin.waitForRequests(1).count == 1)
        for count in 1...4 {
            try origin.waitForRequests(count)
            mayAnswer.change { $0 += 1 }
        }
        for client in clients { #expect(try client.readResponse().text == "x") }
        let paths = origin.requests.compactMap { $0.head.startLine.split(separator: " ").dropFirst().first }
        #expect(paths == (order == "fifo" ? ["/0", "/1", "/2", "/3"] : ["/0", "/3", "/2", "/1"]))
    }
}
