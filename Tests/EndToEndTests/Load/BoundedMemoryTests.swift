// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Bodies stream: the process stays small whatever their size, and however slow the other side is.
@Suite(.tags(.load)) struct BoundedMemoryTests {
    /// The most that the process may ever have resident, in KiB.
    static let limit = 64 * 1024
    static let isSoak = ProcessInfo.processInfo.environment["PINTLE_SOAK"] == "1"

    /// Downloads and uploads through one proxy.
    ///
    /// - Returns: the peak of its resident memory in KiB.
    private func transfer(mebibytes: Int, rate: String) throws -> Int {
        let body = pattern(mebibytes << 20)
        let origin = try NginxOrigin()
        try origin.serve(body, as: "down")
        let folder = try TemporaryFolder()
        let file = try folder.write(body, to: "up")
        let pintle = try PintleProcess()
        let base = "http://127.0.0.1:\(origin.httpPort)"
        let down = try Curl.run(proxy: pintle.port, seconds: 600, "--limit-rate", rate, "\(base)/files/down")
        #expect(down.exitCode == 0 && down.body == body, "\(down.exitCode) \(down.body.count) \(down.errors)")
        let up = try Curl.run(
            proxy: pintle.port, seconds: 600, "--limit-rate", rate, "-T", file, "\(base)/store/up")
        #expect(up.status == 201 && origin.stored("up") == body, "\(up.exitCode) \(up.errors)")
        return try pintle.memory("VmHWM")
    }

    @Test func `24 MiB down and up past a slow client stay under 64 MiB resident`() throws {
        let peak = try self.transfer(mebibytes: 24, rate: "8M")
        #expect(peak < Self.limit)
    }

    @Test(.enabled(if: isSoak)) func `100 MiB down and up at 1 MiB a second stay under 64 MiB resident`() throws {
        let peak = try self.transfer(mebibytes: 100, rate: "1M")
        #expect(peak < Self.limit)
    }

    @Test func `LOOK-58 a client that does not read holds the origin back`() throws {
        let sent = Watched(0)
        let total = 64 << 20
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let block = pattern(1 << 16)
            for _ in 0..<(total >> 16) {
                try connection.stream.send(block)
                sent.change { $0 += block.count }
            }
        }
        let pintle = try PintleProcess("limits: {header_timeout: 1s}")
        let client = try pintle.connect(receiveBuffer: 16 * 1024)
        try client.send(get(origin.port))
        _ = try client.readHead()
        try pintle.waitUntilStill(sent)
        #expect(sent.current < total, "the proxy took the whole body from the origin")
        var read = 0
        while read < total, let bytes = try client.readSome() {
            read += bytes.count
            client.forgetTaken()
        }
        #expect(read >= total - 64 * 1024 && sent.current == total)
        let peak = try pintle.memory("VmHWM")
        #expect(peak < Self.limit)
    }

    @Test(arguments: ["", "routes: [{name: r, request: {throttle: {packet: 1MiB, delay: 1ms}}}]\n"])
    func `LOOK-58 an origin that does not read holds the client back`(rules: String) throws {
        let mayRead = Watched(false)
        let total = 64 << 20
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try mayRead.wait(for: "the test to go on") { $0 }
            var left = total
            while left > 0, let bytes = try connection.stream.readSome() {
                left -= bytes.count
                connection.stream.forgetTaken()
            }
            try connection.send(response("got all but \(left)"))
        }
        let pintle = try PintleProcess("\(rules)limits: {header_timeout: 1s}")
        let client = try pintle.connect()
        let sent = Watched(0)
        let failure = Watched<String?>(nil)
        inBackground(failure) {
            try client.send(
                "PUT http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: \(total)\r\n\r\n")
            let block = pattern(1 << 16)
            for _ in 0..<(total >> 16) {
                try client.send(block)
                sent.change { $0 += block.count }
            }
        }
        try origin.waitForRequests(1)
        try pintle.waitUntilStill(sent)
        #expect(sent.current < total, "the proxy took the whole body from the client")
        mayRead.change { $0 = true }
        #expect(try client.readResponse().text == "got all but 0")
        #expect(failure.current == nil)
        let peak = try pintle.memory("VmHWM")
        #expect(peak < Self.limit)
    }

    @Test func `LOOK-58 a slow reader in a tunnel holds the origin back`() throws {
        let sent = Watched(0)
        let total = 64 << 20
        let origin = try RawOrigin { connection in
            let block = pattern(1 << 16)
            for _ in 0..<(total >> 16) {
                try connection.stream.send(block)
                sent.change { $0 += block.count }
            }
        }
        let pintle = try PintleProcess("limits: {header_timeout: 1s}")
        let client = try pintle.connect(receiveBuffer: 16 * 1024)
        try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try client.readHead()
        try pintle.waitUntilStill(sent)
        #expect(sent.current < total, "the tunnel took everything from the origin")
        var read = 0
        while let bytes = try client.readSome() {
            read += bytes.count
            client.forgetTaken()
        }
        #expect(read >= total - 64 * 1024 && sent.current == total)
        let peak = try pintle.memory("VmHWM")
        #expect(peak < Self.limit)
    }
}

extension Tag {
    /// Moves many bytes or many requests.
    @Tag static var load: Self
}
