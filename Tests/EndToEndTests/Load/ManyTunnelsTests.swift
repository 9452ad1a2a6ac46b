// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Many tunnels: all of their resources are released.
@Suite(.tags(.load)) struct ManyTunnelsTests {
    private static let limits = "limits: {connections: 4096, connections_per_client: 4096, tunnels: 4096, "

    /// Sends back everything that it gets.
    private static func echo() throws -> RawOrigin {
        try RawOrigin { connection in
            while let bytes = try connection.stream.readSome() {
                try connection.stream.send(bytes)
                connection.stream.forgetTaken()
            }
        }
    }

    private static func open(_ port: Int, on pintle: PintleProcess) throws -> SocketStream {
        let client = try pintle.connect()
        try client.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        guard try client.readHead().status == 200 else { throw TestFailure("the tunnel was refused") }
        return client
    }

    @Test(arguments: [1, 2]) func `2,000 tunnels at once, 64 KiB each way, leave nothing behind`(threads: Int) throws {
        let origin = try Self.echo()
        let pintle = try PintleProcess(
            "engine: {threads: \(threads)}\n\(Self.limits)tunnels_per_client: 4096, header_timeout: 1h}")
        // The first tunnel allocates what all tunnels share.
        try Self.open(origin.port, on: pintle).close()
        try pintle.waitForExchanges(1)
        let (descriptors, memory) = (try pintle.openDescriptors(), try pintle.memory("VmRSS"))
        let body = pattern(64 << 10)
        var clients = try (0..<2000).map { _ in try Self.open(origin.port, on: pintle) }
        for client in clients { try client.send(body) }
        for client in clients { #expect(try client.read(body.count) == body) }
        let peak = try pintle.memory("VmRSS")
        #expect((peak - memory) / 2000 < 12, "KiB for each tunnel: \(memory) before, \(peak) with 2,000 tunnels")
        for client in clients { client.finishSending() }
        for client in clients { #expect(try client.readToEnd().ending == .closed) }
        clients.removeAll()
        let records = try pintle.waitForExchanges(2001).dropFirst()
        #expect(
            records.allSatisfy { $0["bytes_in"] as? Int == body.count && $0["bytes_out"] as? Int == body.count },
            "\(records.first ?? [:])")
        try pintle.waitForDescriptors(descriptors)
    }

    @Test func `tunnels whose clients do not read take neither memory nor descriptors without bound`() throws {
        let origin = try RawOrigin { connection in
            // The error comes when the peer is gone.
            while true { try connection.send(String(repeating: "x", count: 1 << 16)) }
        }
        let pintle = try PintleProcess(
            "engine: {threads: 1}\n\(Self.limits)tunnels_per_client: 4096, header_timeout: 1s}")
        try Self.open(origin.port, on: pintle).close()
        try pintle.waitForExchanges(1)
        let (descriptors, memory) = (try pintle.openDescriptors(), try pintle.memory("VmRSS"))
        let count = 200
        var clients: [SocketStream] = []
        for _ in 0..<count {
            let client = try pintle.connect(receiveBuffer: 16 * 1024)
            try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
            clients.append(client)
        }
        for client in clients { #expect(try client.readHead().status == 200) }
        // A second, by the proxy's own clock, in which all of them stand still.
        try pintle.waitForHeaderTimeout()
        let held = try pintle.openDescriptors() - descriptors
        // Two sockets each, and two ends of 64 pipes; the clients of this test's own waiting are gone.
        #expect(held <= 2 * count + 2 * 64 + 8)
        // Each has at most 64 KiB that were copied before a pipe was free, or in place of one.
        let taken = try pintle.memory("VmRSS") - memory
        #expect(taken / count < 96, "\(taken) KiB")
        clients.removeAll()
        try pintle.waitForExchanges(count + 1)
        try pintle.waitForDescriptors(descriptors)
    }

    @Test func `a tunnel without a descriptor for a pipe passes everything on`() throws {
        let origin = try Self.echo()
        let pintle = try PintleProcess("engine: {threads: 1}", descriptors: 48)
        let client = try Self.open(origin.port, on: pintle)
        // These connections take the remaining descriptors.
        let others = try (0..<64).map { _ in try pintle.connect() }
        let before = try pintle.openDescriptors()
        let body = pattern(6_000_000)
        let failure = Watched<String?>(nil)
        inBackground(failure) {
            try client.send(body)
            client.finishSending()
        }
        let echoed = try client.readToEnd()
        #expect(echoed.bytes == body && echoed.ending == .closed, "\(echoed.bytes.count) bytes, \(before) descriptors")
        #expect(failure.current == nil)
        withExtendedLifetime(others) {}
    }
}

extension PintleProcess {
    /// Waits until no more descriptors are open than before: idle pipes are closed after a while.
    func waitForDescriptors(_ before: Int) throws {
        try Patience.wait(for: "\(before) descriptors") { try self.openDescriptors() <= before }
    }
}
