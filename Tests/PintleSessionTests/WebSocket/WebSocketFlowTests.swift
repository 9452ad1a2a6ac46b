// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleWebSocket
import Testing

/// The faster end waits for the slower one, on both sides of a WebSocket.
@Suite(.timeLimit(.minutes(15))) struct WebSocketFlowTests {
    @Test func `a server whose messages nobody reads has to wait`() async throws {
        let sent = Watched(0)
        let count = 400
        let frame = WebSocketPeer.Frame(2, Array(repeating: 5, count: 100_000)).bytes
        let origin = try socketOrigin { peer in
            for _ in 0..<count {
                try peer.stream.send(frame)
                sent.change { $0 += 1 }
            }
            try peer.send(.close(1000))
            try peer.finish(after: peer.readFrame(8))
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        try await stage.waitUntilStill(sent)
        // 40 MB were to be sent; the kernel's buffers take some of them.
        #expect(sent.current < 200, "\(sent.current) messages were taken that nobody has read")
        var read = 0
        for try await message in socket {
            #expect(message == .binary(ByteBuffer(repeating: 5, count: 100_000)))
            read += 1
        }
        #expect(read == count && sent.current == count)
    }

    @Test func `a server that reads nothing keeps senders waiting, and a cancelled one sends nothing`() async throws {
        let (mayRead, read) = (Watched(false), Watched<[Int]>([]))
        let origin = try socketOrigin { peer in
            try mayRead.wait(for: "leave to read") { $0 }
            var size = 0
            while case let frame = try peer.readFrame() {
                if frame.opcode == 8 { return try peer.finish(after: frame) }
                size += frame.payload.count
                if frame.isFinal {
                    read.change { [size] in $0.append(size) }
                    size = 0
                }
            }
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        let accepted = Watched(0)
        let sending = Task {
            for _ in 0..<400 {
                try await socket.send(ByteBuffer(repeating: 1, count: 100_000))
                accepted.change { $0 += 1 }
            }
        }
        try await stage.waitUntilStill(accepted)
        #expect(accepted.current < 200)
        let waiting = Task { try await socket.send(ByteBuffer(repeating: 2, count: 7)) }
        sending.cancel()
        waiting.cancel()
        #expect(await sessionError { try await sending.value }?.code == .cancelled)
        #expect(await sessionError { try await waiting.value }?.code == .cancelled)
        let whole = accepted.current
        mayRead.change { $0 = true }
        try await socket.send(ByteBuffer(repeating: 3, count: 5))
        await socket.close()
        // All that were taken, whole, and none of those that were cancelled.
        #expect(read.current == Array(repeating: 100_000, count: whole) + [5])
    }

    @Test func `a reader that is cancelled loses no message`() async throws {
        let mayAnswer = Watched(false)
        let origin = try socketOrigin { peer in
            try mayAnswer.wait(for: "leave to answer") { $0 }
            try peer.send(WebSocketPeer.Frame(1, [0x61]), .close(1000))
            try peer.finish(after: peer.readFrame(8))
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        for _ in 0..<20 {
            let reading = Task { try await socket.receive() }
            reading.cancel()
            #expect(await sessionError { _ = try await reading.value }?.code == .cancelled)
        }
        mayAnswer.change { $0 = true }
        #expect(try await messages(of: socket) == [.text("a")])
    }

    @Test func `both ends may send more than they read at first`() async throws {
        let count = 100
        let frame = WebSocketPeer.Frame(2, Array(repeating: 5, count: 100_000)).bytes
        let received = Watched(0)
        let origin = try socketOrigin { peer in
            // The peer sends everything before it reads.
            for _ in 0..<count { try peer.stream.send(frame) }
            while case let frame = try peer.readFrame() {
                if frame.opcode == 8 { return try peer.finish(after: frame) }
                received.change { $0 += frame.payload.count }
            }
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        async let sending: Void = {
            for _ in 0..<count { try await socket.send(ByteBuffer(repeating: 6, count: 100_000)) }
        }()
        for _ in 0..<count { #expect(try await socket.receive() != nil) }
        try await sending
        await socket.close()
        #expect(received.current == count * 100_000)
    }

    @Test func `pings that cannot be answered are not kept, but the last one`() async throws {
        let mayRead = Watched(false)
        let pongs = Watched<[UInt64]>([])
        let pingCount = 200_000
        let origin = try socketOrigin { peer in
            // Enough that the answers fill every buffer on the way back.
            let payload = Array(repeating: 9 as UInt8, count: 117)
            for start in stride(from: 0, to: pingCount, by: 1000) {
                var bytes: [UInt8] = []
                for number in start..<(start + 1000) {
                    bytes += [0x89, 125] + payload
                    bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
                }
                try peer.stream.send(bytes)
            }
            try mayRead.wait(for: "leave to read") { $0 }
            while case let frame = try peer.readFrame() {
                if frame.opcode == 8 { return try peer.finish(after: frame) }
                let number = frame.payload.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                pongs.change { $0.append(number) }
                if number == UInt64(pingCount - 1) { try peer.send(WebSocketPeer.Frame(1, [0x62])) }
            }
        }
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        try await stage.waitForTimeout(500)
        mayRead.change { $0 = true }
        #expect(try await socket.receive() == .text("b"))
        await socket.close()
        #expect(pongs.current.last == UInt64(pingCount - 1) && pongs.current == pongs.current.sorted())
        #expect(pongs.current.count < pingCount, "\(pongs.current.count)")
    }

    @Test func `a suspended task neither reads nor sends, and goes on where it was`() async throws {
        let origin = try echoOrigin()
        let stage = try SessionStage()
        let socket = try await stage.socket(origin.port)
        try await socket.send("one")
        #expect(try await socket.receive() == .text("one"))
        socket.task.suspend()
        try await socket.send("two")
        let reading = Task { try await socket.receive() }
        try await stage.waitForTimeout(300)
        #expect(origin.connections.first.map { $0.received.count > 300 } == false, "it was not sent")
        socket.task.resume()
        #expect(try await reading.value == .text("two"))
        await socket.close()
    }
}
