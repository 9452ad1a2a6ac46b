// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// A channel whose bytes go through a transport.
struct StreamTransportTests {
    @Test func `what a transport has taken in is read to its end without another word of the descriptor`() throws {
        let stage = try ChannelStage { TurnedBytes($0) }
        let text = String(repeating: "0123456789", count: 500)
        stage.send(turned(text))
        try stage.recorder.text.wait(for: "all of it") { $0 == text }
    }

    @Test func `a transport that holds bytes is asked when reading begins again`() throws {
        let stage = try ChannelStage(autoRead: false) { TurnedBytes($0) }
        stage.send(turned("held back for a while"))
        try stage.onLoop { $0.pipeline.read() }
        try stage.recorder.text.wait(for: "one piece") { $0 == "held ba" }
        try stage.onLoop { _ in }
        #expect(stage.recorder.text.current == "held ba")
        try stage.onLoop { $0.setAutoRead(true) }
        try stage.recorder.text.wait(for: "the rest") { $0 == "held back for a while" }
    }

    @Test func `what is written goes through the transport, however little it takes at a time`() throws {
        let stage = try ChannelStage { TurnedBytes($0) }
        let futures = try stage.onLoop { channel in
            ["first ", "", "second"].map { text in
                let promise = channel.eventLoop.makePromise(of: Void.self)
                channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: promise)
                return promise.futureResult
            }
        }
        #expect(String(decoding: stage.receive(12), as: UTF8.self) == turned("first second"))
        for future in futures { try future.wait() }
    }

    @Test func `a transport that is full is asked again when the descriptor takes bytes`() throws {
        let stage = try ChannelStage { TurnedBytes($0) }
        let block = String(repeating: "x", count: 1 << 20)
        try stage.onLoop {
            $0.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: block)), promise: nil)
        }
        #expect(stage.receive(1 << 20).count == 1 << 20)
    }

    @Test func `an end that cannot be told at once is told when the descriptor takes bytes`() throws {
        let stage = try ChannelStage(halfClosure: true) { TurnedBytes($0, refusingShutdowns: 2) }
        stage.finishSending()
        try stage.recorder.events.wait(for: "the end of input") { $0.contains("input closed") }
        try stage.onLoop {
            $0.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "bye")), promise: nil)
            $0.close(mode: .output, promise: nil)
        }
        #expect(String(decoding: stage.receive(4), as: UTF8.self) == turned("bye"))
        try stage.channel.closeFuture.wait()
    }

    @Test func `a close tells the peer that this was all, unless something is left or the connection is broken`() throws
    {
        for (isReset, count) in [(false, 1), (true, 0)] {
            let shutdowns = Watched(0)
            let stage = try ChannelStage { TurnedBytes($0, shutdowns: shutdowns) }
            try stage.onLoop { if isReset { $0.reset() } else { $0.close(promise: nil) } }
            try stage.channel.closeFuture.wait()
            #expect(shutdowns.current == count)
        }
    }

    @Test func `the end of a transport ends the channel, and its words come before its end`() throws {
        let stage = try ChannelStage(halfClosure: true) { TurnedBytes($0) }
        stage.send(turned("last words"))
        stage.finishSending()
        try stage.recorder.events.wait(for: "the end of input") { $0.contains("input closed") }
        #expect(stage.recorder.text.current == "last words")
        try stage.onLoop { $0.close(mode: .output, promise: nil) }
        try stage.channel.closeFuture.wait()
        #expect(stage.receive(1).isEmpty)
    }
}

/// Turns the last bit of every byte over. It takes all that has come, and gives it out seven bytes at a time.
private final class TurnedBytes: StreamTransport {
    private let descriptor: Int32
    private var taken: [UInt8] = []
    private var hasEnded = false
    private var refusals: Int
    private let shutdowns: Watched<Int>?

    /// - Parameter refusals: the number of attempts to shut down the output that must wait.
    init(_ descriptor: Int32, refusingShutdowns refusals: Int = 0, shutdowns: Watched<Int>? = nil) {
        self.descriptor = descriptor
        self.refusals = refusals
        self.shutdowns = shutdowns
    }

    private(set) var shutdownNeeds: Readiness?

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        var room = [UInt8](repeating: 0, count: 65_536)
        while !self.hasEnded {
            let count = recv(self.descriptor, &room, room.count, 0)
            if count < 0 { break }
            self.hasEnded = count == 0
            self.taken += room[..<count].map { $0 ^ 1 }
        }
        guard !self.taken.isEmpty else { return self.hasEnded ? .end : .wouldBlock(until: .read) }
        let piece = self.taken.prefix(7)
        space.copyBytes(from: piece)
        self.taken.removeFirst(piece.count)
        return .bytes(piece.count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        let piece = bytes.prefix(4096).map { $0 ^ 1 }
        let count = send(self.descriptor, piece, piece.count, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .bytes(count) }
        let code = errno
        return code == EAGAIN ? .wouldBlock(until: .write) : .failed(IOError(errnoCode: code, reason: "send"))
    }

    func shutdownOutput() {
        self.shutdowns?.change { $0 += 1 }
        self.refusals -= 1
        self.shutdownNeeds = self.refusals >= 0 ? .write : nil
        if self.refusals < 0 { shutdown(self.descriptor, Int32(SHUT_WR)) }
    }

    func close() { Glibc.close(self.descriptor) }
}

private func turned(_ text: String) -> String { String(decoding: text.utf8.map { $0 ^ 1 }, as: UTF8.self) }
