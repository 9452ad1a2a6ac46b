// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// A relay between two real sockets.
struct SocketRelayTests {
    @Test(arguments: RelayStage.Kind.allCases) func `small pieces pass in both directions`(kind: RelayStage.Kind) throws
    {
        let stage = try RelayStage(kind)
        sendAll("question", to: stage.client)
        #expect(text(receive(8, from: stage.server)) == "question")
        sendAll("answer", to: stage.server)
        #expect(text(receive(6, from: stage.client)) == "answer")
        sendAll("more", to: stage.client)
        #expect(text(receive(4, from: stage.server)) == "more")
        let (up, down) = try stage.onLoop { ($0.bytesWritten(.up), $0.bytesWritten(.down)) }
        #expect(up == 12 && down == 6)
        #expect(try stage.pipesInUse() == 0)
    }

    @Test(arguments: RelayStage.Kind.allCases, [nil, 0])
    func `large amounts pass both ways at once, whole`(kind: RelayStage.Kind, pipes: Int?) throws {
        let stage = try RelayStage(kind, pipes: pipes)
        let (up, down) = (noise(12_000_001, 1), noise(9_000_003, 2))
        let (client, server) = (stage.client, stage.server)
        let sent = beside {
            sendAll(up, to: client)
            return shutdown(client, Int32(SHUT_WR))
        }
        let answered = beside {
            sendAll(down, to: server)
            return shutdown(server, Int32(SHUT_WR))
        }
        let atServer = beside { receive(from: server) }
        #expect(receive(from: client) == down)
        #expect(try atServer.wait(for: "the client's bytes") { $0 != nil } == up)
        try sent.wait(for: "the client") { $0 != nil }
        try answered.wait(for: "the server") { $0 != nil }
        try stage.waitForEnd()
        #expect(try stage.onLoop { $0.bytesWritten(.up) } == up.count)
        #expect(try stage.onLoop { $0.bytesWritten(.down) } == down.count)
        #expect(stage.observer.copied.current == 0)
    }

    @Test func `a client that has sent everything still gets its answer`() throws {
        let stage = try RelayStage()
        sendAll("all", to: stage.client)
        shutdown(stage.client, Int32(SHUT_WR))
        #expect(text(receive(from: stage.server)) == "all")
        sendAll("answer", to: stage.server)
        #expect(text(receive(6, from: stage.client)) == "answer")
        stage.closeServer()
        #expect(text(receive(from: stage.client)) == "")
        try stage.waitForEnd()
        #expect(stage.observer.events.current == ["up read", "down read", "ended", "closed"])
    }

    @Test func `a server that has sent everything still gets what comes`() throws {
        let stage = try RelayStage()
        sendAll("done", to: stage.server)
        shutdown(stage.server, Int32(SHUT_WR))
        #expect(text(receive(from: stage.client)) == "done")
        sendAll("still here", to: stage.client)
        stage.closeClient()
        #expect(text(receive(from: stage.server)) == "still here")
        try stage.waitForEnd()
        #expect(stage.observer.events.current == ["down read", "up read", "ended", "closed"])
    }

    @Test(arguments: [nil, 0]) func `a slow reader holds the sender back, and gets everything`(pipes: Int?) throws {
        let stage = try RelayStage(pipes: pipes, receiveBuffer: 16 * 1024)
        let body = noise(32 << 20, 3)
        let server = stage.server
        let sent = Watched(0)
        let sending = beside {
            for start in stride(from: 0, to: body.count, by: 1 << 16) {
                sendAll(Array(body[start..<min(start + 1 << 16, body.count)]), to: server)
                sent.change { $0 = start }
            }
            return shutdown(server, Int32(SHUT_WR))
        }
        // More than this must have passed before any bytes are held back.
        try sent.wait(for: "the first bytes") { $0 > 1 << 20 }
        let inFlight = try stage.onLoop { $0.bytesInFlight(.down) }
        #expect(inFlight <= 1 << 20)
        #expect(receive(from: stage.client) == body)
        try sending.wait(for: "the server") { $0 != nil }
        #expect(try stage.pipesInUse() == 0, "the tunnel is open, and idle")
        shutdown(stage.client, Int32(SHUT_WR))
        try stage.waitForEnd()
    }

    @Test(arguments: [nil, 0]) func `who resets the connection gets no more, and its bytes arrive`(pipes: Int?) throws {
        let stage = try RelayStage(pipes: pipes)
        sendAll("last words", to: stage.client)
        #expect(text(receive(10, from: stage.server)) == "last words")
        stage.closeClient(resetting: true)
        #expect(text(receive(from: stage.server)) == "")
        try stage.waitForEnd()
        #expect(stage.observer.events.current == ["ended", "closed"])
    }

    @Test(arguments: [true, false])
    func `a transport tells its peer of the end unless the other connection has broken`(isBroken: Bool) throws {
        let ends = Watched(0)
        let stage = try RelayStage { CountedEnds($0, ends) }
        sendAll("answer", to: stage.server)
        #expect(text(receive(6, from: stage.client)) == "answer")
        stage.closeServer(resetting: isBroken)
        #expect(receive(from: stage.client) == [])
        #expect(ends.current == (isBroken ? 0 : 1))
        stage.closeClient()
        try stage.waitForEnd()
    }

    @Test func `a reset of one who has sent everything is noticed while nothing passes`() throws {
        let stage = try RelayStage()
        shutdown(stage.client, Int32(SHUT_WR))
        #expect(text(receive(from: stage.server)) == "")
        stage.closeClient(resetting: true)
        #expect(text(receive(from: stage.server)) == "")
        stage.closeServer()
        try stage.waitForEnd()
    }

    @Test(arguments: [nil, 0])
    func `what was read before its sender broke off still arrives`(pipes: Int?) throws {
        let stage = try RelayStage(pipes: pipes, receiveBuffer: 16 * 1024)
        let body = noise(24 << 20, 4)
        let server = stage.server
        let isSent = beside { sendAll(body, to: server) == body.count }
        // The relay is full: its client has read nothing.
        try stage.waitUntilFull(.down)
        stage.closeClient(resetting: true)
        #expect(try isSent.wait(for: "the server to fail") { $0 != nil } == false)
        try stage.waitForEnd()
        #expect(stage.observer.copied.current == 0)
    }

    @Test(arguments: [nil, 0]) func `closing writes what is in flight`(pipes: Int?) throws {
        let stage = try RelayStage(pipes: pipes, receiveBuffer: 16 * 1024)
        let body = noise(24 << 20, 5)
        let server = stage.server
        let sent = beside { sendAll(body, to: server) }
        try stage.waitUntilFull(.down)
        let read = try stage.onLoop { relay in
            let read = relay.bytesWritten(.down) + relay.bytesInFlight(.down)
            relay.close()
            return read
        }
        let received = receive(from: stage.client)
        #expect(received == Array(body[..<read]))
        stage.closeClient()
        try stage.waitForEnd()
        try sent.wait(for: "the server to fail") { $0 != nil }
    }

    @Test func `aborting shows both peers a broken connection`() throws {
        let stage = try RelayStage()
        sendAll("x", to: stage.client)
        #expect(text(receive(1, from: stage.server)) == "x")
        try stage.onLoop { $0.abort() }
        #expect(receive(from: stage.client) == nil && receive(from: stage.server) == nil)
        try stage.waitForEnd()
        #expect(stage.observer.events.current == ["ended", "closed"])
    }

    @Test func `what was to be sent before comes first`() throws {
        let stage = try RelayStage(unsent: "200 ", sent: "early ")
        sendAll("bird", to: stage.client)
        sendAll("ready", to: stage.server)
        #expect(text(receive(10, from: stage.server)) == "early bird")
        #expect(text(receive(9, from: stage.client)) == "200 ready")
    }
}

/// A relay whose bytes are inspected.
struct InspectedRelayTests {
    @Test func `bytes are seen until nobody wants to look, and large amounts follow them`() throws {
        let stage = try RelayStage(inspecting: [.up])
        stage.observer.verdict.change {
            $0 = { relay, bytes in
                relay.inspect(.up, false)
                return bytes
            }
        }
        sendAll("hello ", to: stage.client)
        #expect(text(receive(6, from: stage.server)) == "hello ")
        let body = noise(3_000_000, 6)
        let client = stage.client
        let sent = beside { sendAll(body, to: client) }
        #expect(receive(body.count, from: stage.server) == body)
        try sent.wait(for: "the client") { $0 != nil }
        #expect(stage.observer.seen.current == "hello ")
    }

    @Test func `bytes that are kept back go with those that are let go`() throws {
        let stage = try RelayStage(inspecting: [.up])
        let held = Watched(ByteBuffer())
        stage.observer.verdict.change {
            $0 = { _, bytes in
                let all = held.change { held in
                    held.writeImmutableBuffer(bytes)
                    return held
                }
                return all.readableBytes < 2 ? nil : all
            }
        }
        sendAll("a", to: stage.client)
        try stage.observer.seen.wait(for: "the first byte") { $0 == "a" }
        sendAll("b", to: stage.client)
        #expect(text(receive(2, from: stage.server)) == "ab")
    }

    @Test func `who looks may break it off, and tell the client`() throws {
        let stage = try RelayStage(inspecting: [.up])
        stage.observer.verdict.change {
            $0 = { relay, _ in
                relay.tellClient(ByteBuffer(string: "no"))
                relay.close(dropping: .up)
                return nil
            }
        }
        sendAll("bad", to: stage.client)
        #expect(text(receive(from: stage.client)) == "no")
        #expect(text(receive(from: stage.server)) == "")
        try stage.waitForEnd()
        #expect(try stage.onLoop { $0.bytesWritten(.up) } == 0)
    }
}

/// Bytes without a pattern that a lost or doubled piece would go unnoticed in.
private func noise(_ count: Int, _ seed: UInt32) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { space, filled in
        var state = seed &* 0x9E37_79B9
        for index in 0..<count {
            state = state &* 1_664_525 &+ 1_013_904_223
            space[index] = UInt8(truncatingIfNeeded: state >> 24)
        }
        filled = count
    }
}

/// Passes bytes as they are, and counts how often it says that no more follow.
private final class CountedEnds: StreamTransport {
    private let descriptor: Int32
    private let ends: Watched<Int>

    init(_ descriptor: Int32, _ ends: Watched<Int>) { (self.descriptor, self.ends) = (descriptor, ends) }

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        .receiving(from: self.descriptor, into: space)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome { .sending(bytes, to: self.descriptor) }

    func shutdownOutput() {
        self.ends.change { $0 += 1 }
        shutdown(self.descriptor, Int32(SHUT_WR))
    }

    func close() { Glibc.close(self.descriptor) }
}
