// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Peers that go away while a throttled body is on its way.
struct ThrottledBodyTests {
    /// A body that takes a minute at this pace, so that no test reaches its end.
    private static let rules = "routes: [{name: slow, request: {throttle: {packet: 1KiB, delay: 100ms}}}]"
    private static let length = 600 << 10

    private func request(_ origin: RawOrigin) -> String {
        "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: \(Self.length)\r\n\r\n"
    }

    /// Waits until the counters say that nothing is left of the exchange.
    private func waitForNothing(_ pintle: PintleProcess) throws {
        _ = try pintle.waitForExchanges(1)
        let counters = try pintle.counters()
        #expect(counters["active"] as? Int == 0, "\(counters)")
    }

    @Test func `an origin that is killed is told of at once, and the proxy goes on`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            guard connection.number == 0 else { return try connection.send(response("done")) }
            _ = try connection.stream.read(2048)
            connection.stream.reset()
        }
        let pintle = try PintleProcess(Self.rules)
        let client = try pintle.connect()
        try client.send(self.request(origin))
        // All that the proxy takes in; it never reads the rest.
        try? client.send(pattern(Self.length))
        let answer = try client.readResponse()
        #expect(answer.status == 502, "\(answer)")
        try self.waitForNothing(pintle)
        #expect(try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/").text == "done")
    }

    @Test func `a client that is killed takes its exchange with it`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.stream.read(2048)
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(Self.rules)
        let client = try pintle.connect()
        try client.send(self.request(origin))
        try client.send(pattern(8 << 10))
        try origin.waitForRequests(1)
        client.reset()
        try self.waitForNothing(pintle)
        try origin.waitUntilQuiet()
        #expect(try #require(pintle.exchanges.first)["error"] as? String != nil)
    }
}
