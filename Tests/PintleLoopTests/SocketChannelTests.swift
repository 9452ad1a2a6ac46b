// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// A channel over a socket pair.
struct SocketChannelTests {
    private static let block = String(repeating: "x", count: 64 * 1024)

    /// Writes until the channel is not writable.
    ///
    /// - Returns: the number of bytes that were written.
    private func fill(_ stage: ChannelStage) throws -> Int {
        let buffer = ByteBuffer(string: Self.block)
        return try stage.onLoop { channel in
            var count = 0
            while channel.isWritable, count < 1000 {
                channel.pipeline.syncOperations.writeAndFlush(NIOAny(buffer), promise: nil)
                count += 1
            }
            return count * buffer.readableBytes
        }
    }

    @Test func `what the peer sends is read in its order`() throws {
        let stage = try ChannelStage()
        stage.send("one ")
        stage.send("two ")
        try stage.recorder.text.wait(for: "the first two") { $0 == "one two " }
        stage.send("three")
        try stage.recorder.text.wait(for: "all three") { $0 == "one two three" }
        #expect(stage.recorder.events.current == ["active"])
    }

    @Test func `what is written and flushed arrives, and its promises are kept`() throws {
        let stage = try ChannelStage()
        let futures = try stage.onLoop { channel in
            (0..<100).map { number in
                let promise = channel.eventLoop.makePromise(of: Void.self)
                channel.pipeline.syncOperations.write(NIOAny(ByteBuffer(string: "\(number),")), promise: promise)
                if number == 99 { channel.pipeline.syncOperations.flush() }
                return promise.futureResult
            }
        }
        let expected = (0..<100).map { "\($0)," }.joined()
        #expect(String(decoding: stage.receive(expected.utf8.count), as: UTF8.self) == expected)
        for future in futures { try future.wait() }
    }

    @Test func `LOOK-69 a write that fails may be followed by one from within the call that tells so`() throws {
        let stage = try ChannelStage(autoRead: false)
        stage.closePeer()
        let futures = try stage.onLoop { channel in
            channel.readsBeforeFailing = true
            let promises = (0..<2).map { _ in channel.eventLoop.makePromise(of: Void.self) }
            promises[0].futureResult.whenFailure { _ in
                channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "two")), promise: promises[1])
            }
            channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "one")), promise: promises[0])
            return promises.map(\.futureResult)
        }
        for future in futures { #expect(throws: (any Error).self) { try future.wait() } }
        try stage.recorder.events.wait(for: "the end") { $0.last == "inactive" }
    }

    @Test func `a peer that does not read makes the channel unwritable, and reading makes it writable`() throws {
        let stage = try ChannelStage()
        let bytes = try self.fill(stage)
        #expect(bytes > Self.block.utf8.count && bytes < 1000 * Self.block.utf8.count)
        #expect(stage.recorder.events.current == ["active", "unwritable"])
        #expect(try stage.onLoop { $0.pendingWriteBytes } > 0)
        #expect(stage.receive(bytes).count == bytes)
        try stage.recorder.events.wait(for: "writability") { $0.last == "writable" }
        #expect(try stage.onLoop { $0.pendingWriteBytes } == 0)
    }

    @Test func `who is told that something is written may write more at once`() throws {
        let stage = try ChannelStage()
        try stage.onLoop { channel in
            let pipeline = channel.pipeline.syncOperations
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess {
                pipeline.writeAndFlush(NIOAny(ByteBuffer(string: "two")), promise: nil)
            }
            pipeline.writeAndFlush(NIOAny(ByteBuffer(string: "one,")), promise: promise)
        }
        #expect(String(decoding: stage.receive(7), as: UTF8.self) == "one,two")
    }

    @Test func `who is told of room may write and flush at once`() throws {
        let stage = try ChannelStage()
        let block = [UInt8](repeating: 1, count: 64 * 1024)
        let count = try stage.onLoop { channel in
            try channel.pipeline.syncOperations.addHandler(Refill(), position: .first)
            var count = 0
            while channel.isWritable {
                channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(bytes: block)), promise: nil)
                count += block.count
            }
            return count
        }
        #expect(stage.receive(count + 1).last == 2)
    }

    @Test func `without auto-read nothing is read until it is asked for`() throws {
        let stage = try ChannelStage(autoRead: false)
        stage.send("held")
        // A turn of the loop after the bytes are there.
        try stage.onLoop { _ in }
        try stage.onLoop { _ in }
        #expect(stage.recorder.text.current == "")
        try stage.onLoop { $0.setAutoRead(true) }
        try stage.recorder.text.wait(for: "the bytes") { $0 == "held" }
    }

    @Test func `a peer that has gone costs no turns while nothing is read, and its bytes and its end come then`() throws
    {
        let stage = try ChannelStage(autoRead: false)
        stage.send("last words")
        stage.closePeer()
        // Epoll reports such a descriptor in every turn, as long as it is in its set.
        for _ in 0..<2 { try stage.onLoop { _ in } }
        let first = try stage.onLoop { $0.loop.turn }
        for _ in 0..<50 { try stage.onLoop { _ in } }
        let passed = try stage.onLoop { $0.loop.turn } - first
        #expect(passed < 500)
        #expect(stage.recorder.text.current == "" && !stage.recorder.events.current.contains("inactive"))
        try stage.onLoop { $0.setAutoRead(true) }
        try stage.recorder.events.wait(for: "the end") { $0.contains("inactive") }
        #expect(stage.recorder.text.current == "last words")
    }

    @Test func `what a peer sent before it broke the connection is read, and then the error`() throws {
        let stage = try ChannelStage { ShortReads(descriptor: $0) }
        // The peer leaves this unread, so that its end is a reset.
        try stage.onLoop {
            $0.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "unread")), promise: nil)
        }
        let (words, isGone) = (String(repeating: "word ", count: 200), Watched(false))
        // The loop hears of all at once.
        stage.loop.execute { _ = try? isGone.wait(for: "the end of the peer") { $0 } }
        stage.send(words)
        stage.closePeer()
        isGone.change { $0 = true }
        try stage.recorder.events.wait(for: "the end") { $0.last == "inactive" }
        #expect(stage.recorder.text.current == words)
        #expect(stage.recorder.events.current == ["active", "error", "inactive"])
    }

    @Test(arguments: [false, true])
    func `what a peer sent before a write to it failed is read, however much it is`(readsAhead: Bool) throws {
        let stage = try ChannelStage { ShortReads(descriptor: $0, readsAhead: readsAhead) }
        let (words, isGone) = (String(repeating: "word ", count: 200), Watched(false))
        // The write fails before the loop hears of the words.
        stage.loop.execute { [channel = stage.channel] in
            _ = try? isGone.wait(for: "the end of the peer") { $0 }
            channel.readsBeforeFailing = true
            channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "late")), promise: nil)
        }
        stage.send(words)
        stage.closePeer()
        isGone.change { $0 = true }
        try stage.recorder.events.wait(for: "the end") { $0.last == "inactive" }
        #expect(stage.recorder.text.current == words)
    }

    @Test func `the end of the peer's stream closes the channel`() throws {
        let stage = try ChannelStage()
        stage.send("last words")
        stage.finishSending()
        try stage.recorder.events.wait(for: "the end") { $0.contains("inactive") }
        #expect(stage.recorder.text.current == "last words")
        try stage.channel.closeFuture.wait()
        #expect(stage.receive(1).isEmpty)
    }

    @Test func `with half-closure the end of one direction leaves the other open`() throws {
        let stage = try ChannelStage(halfClosure: true)
        stage.send("question")
        stage.finishSending()
        try stage.recorder.events.wait(for: "the end of input") { $0.contains("input closed") }
        try stage.onLoop {
            $0.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "answer")), promise: nil)
        }
        #expect(stage.receive(6) == Array("answer".utf8))
        try stage.onLoop { $0.close0(error: ChannelError.eof, mode: .output, promise: nil) }
        try stage.recorder.events.wait(for: "the end") { $0.contains("inactive") }
        #expect(stage.receive(1).isEmpty)
    }

    @Test func `closing the output waits for what is still to be written`() throws {
        let stage = try ChannelStage(halfClosure: true)
        let size = 3_000_000
        try stage.onLoop { channel in
            channel.pipeline.syncOperations.writeAndFlush(
                NIOAny(ByteBuffer(bytes: [UInt8](repeating: 7, count: size))), promise: nil)
            channel.close0(error: ChannelError.eof, mode: .output, promise: nil)
        }
        #expect(stage.receive(size + 1).count == size)
        stage.send("still heard")
        try stage.recorder.text.wait(for: "the peer's words") { $0 == "still heard" }
    }

    @Test func `writing to a peer that is gone closes the channel and fails the promise`() throws {
        let stage = try ChannelStage(autoRead: false)
        stage.closePeer()
        let future = try stage.onLoop { channel in
            let promise = channel.eventLoop.makePromise(of: Void.self)
            channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "nobody")), promise: promise)
            return promise.futureResult
        }
        #expect(throws: (any Error).self) { try future.wait() }
        try stage.recorder.events.wait(for: "the end") { $0.contains("inactive") }
    }

    @Test func `a channel that was closed takes no more writes`() throws {
        let stage = try ChannelStage()
        try stage.onLoop { $0.close0(error: ChannelError.eof, mode: .all, promise: nil) }
        let future = try stage.onLoop { channel in
            let promise = channel.eventLoop.makePromise(of: Void.self)
            channel.write0(NIOAny(ByteBuffer(string: "late")), promise: promise)
            return promise.futureResult
        }
        #expect(throws: ChannelError.ioOnClosedChannel) { try future.wait() }
        #expect(stage.recorder.events.current == ["active", "inactive"])
        try stage.channel.closeFuture.wait()
    }

    /// Fills a pipe of the channel's loop with as much of `bytes` as it takes.
    private func pipe(_ bytes: [UInt8], on stage: ChannelStage) throws -> LoopBox<PipedBytes> {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("socketpair: errno \(errno)")
        }
        defer { for end in ends { close(end) } }
        guard write(ends[0], bytes, bytes.count) == bytes.count else { throw TestFailure("write: errno \(errno)") }
        let (source, loop) = (ends[1], stage.loop)
        return try stage.onLoop { _ in
            let piped = PipedBytes(on: loop)
            guard case .outcome(.bytes(bytes.count)) = piped.fill(from: source) else {
                throw TestFailure("the pipe took \(piped.count) bytes of \(bytes.count)")
            }
            return LoopBox(piped)
        }
    }

    private func pipesInUse(_ stage: ChannelStage) throws -> Int {
        let loop = stage.loop
        return try stage.onLoop { _ in loop.pipesInUse }
    }

    @Test func `what is in a pipe is sent behind what was written`() throws {
        let stage = try ChannelStage()
        let piped = try self.pipe(Array("second".utf8), on: stage)
        let sent = try stage.onLoop { channel in
            channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: "first ")), promise: nil)
            return channel.send(piped.value)
        }
        #expect(sent == 6)
        #expect(String(decoding: stage.receive(12), as: UTF8.self) == "first second")
        #expect(stage.recorder.events.current == ["active"])
        #expect(try self.pipesInUse(stage) == 0)
    }

    @Test func `a pipe that the peer has no room for is kept, and room for it is told`() throws {
        let stage = try ChannelStage()
        let piped = try self.pipe(Array("behind".utf8), on: stage)
        let bytes = try self.fill(stage)
        #expect(try stage.onLoop { $0.send(piped.value) } == 0)
        #expect(try stage.onLoop { $0.isWritable } == false)
        #expect(stage.receive(bytes).count == bytes)
        try stage.recorder.events.wait(for: "room") { $0 == ["active", "unwritable", "writable"] }
        #expect(try stage.onLoop { $0.send(piped.value) } == 6)
        #expect(String(decoding: stage.receive(6), as: UTF8.self) == "behind")
    }

    @Test func `sending a pipe to a peer that is gone closes the channel`() throws {
        let stage = try ChannelStage(autoRead: false)
        let piped = try self.pipe(Array("lost".utf8), on: stage)
        stage.closePeer()
        #expect(try stage.onLoop { $0.send(piped.value) } == 0)
        try stage.recorder.events.wait(for: "the end") { $0.last == "inactive" }
        try stage.onLoop { _ in piped.value.drop() }
        #expect(try self.pipesInUse(stage) == 0)
    }
}

/// Writes one byte when there is room again.
private final class Refill: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return context.fireChannelWritabilityChanged() }
        context.writeAndFlush(NIOAny(ByteBuffer(bytes: [2])), promise: nil)
        context.fireChannelWritabilityChanged()
    }
}

/// Passes on a few bytes with each read, as a transport with short records does.
private final class ShortReads: StreamTransport {
    private static let most = 10

    private let descriptor: Int32
    /// True if it takes all that is in the socket, as TLS may, and holds it until it is read.
    private let readsAhead: Bool
    private var held = ByteBuffer()

    init(descriptor: Int32, readsAhead: Bool = false) { (self.descriptor, self.readsAhead) = (descriptor, readsAhead) }

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        let part = UnsafeMutableRawBufferPointer(rebasing: space.prefix(Self.most))
        guard self.readsAhead else { return .receiving(from: self.descriptor, into: part) }
        if self.held.readableBytes == 0 {
            var outcome = StreamOutcome.end
            self.held.clear()
            self.held.writeWithUnsafeMutableBytes(minimumWritableBytes: 4096) { room in
                outcome = .receiving(from: self.descriptor, into: room)
                guard case .bytes(let count) = outcome else { return 0 }
                return count
            }
            guard self.held.readableBytes > 0 else { return outcome }
        }
        let bytes = self.held.readBytes(length: min(part.count, self.held.readableBytes)) ?? []
        part.copyBytes(from: bytes)
        return .bytes(bytes.count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome { .sending(bytes, to: self.descriptor) }
    func shutdownOutput() { shutdown(self.descriptor, Int32(SHUT_WR)) }
    func close() { Glibc.close(self.descriptor) }
}
