// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleTesting

/// A channel on a loop whose other end is a plain socket in the test's hands.
final class ChannelStage: @unchecked Sendable {
    // Why @unchecked holds: `channel` is used on the loop's thread, `peer` by the test.
    let loop: Loop
    let channel: SocketChannel
    let recorder: Recorder
    private(set) var peer: Int32

    /// - Parameter transport: makes the transport of the channel for a descriptor.
    init(
        halfClosure: Bool = false, autoRead: Bool = true, transport: ((Int32) -> any StreamTransport)? = nil
    ) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("socketpair: errno \(errno)")
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let (loop, recorder) = (try Loop(name: "channel"), Recorder())
        let channel = SocketChannel(descriptor: ends[0], loop: loop, transport: transport?(ends[0]))
        self.loop = loop
        self.recorder = recorder
        self.channel = channel
        self.peer = ends[1]
        try loop.submit {
            try channel.pipeline.syncOperations.addHandler(recorder)
            _ = channel.setOption(ChannelOptions.allowRemoteHalfClosure, value: halfClosure)
            channel.setAutoRead(autoRead)
            channel.start()
        }.wait()
    }

    deinit {
        self.closePeer()
        // A channel that is never closed and its pipeline hold each other for ever.
        _ = try? self.onLoop { $0.close(promise: nil) }
        self.loop.stop()
    }

    /// Runs on the loop's thread.
    @discardableResult
    func onLoop<Result: Sendable>(_ work: @escaping @Sendable (SocketChannel) throws -> Result) throws -> Result {
        try self.loop.submit { [channel] in try work(channel) }.wait()
    }

    func send(_ text: String) { _ = text.withCString { Glibc.write(self.peer, $0, strlen($0)) } }

    /// Reads from the plain socket until there are `count` bytes or the end comes.
    func receive(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var space = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < count {
            let got = read(self.peer, &space, min(space.count, count - bytes.count))
            guard got > 0 else { break }
            bytes += space[..<got]
        }
        return bytes
    }

    func finishSending() { shutdown(self.peer, Int32(SHUT_WR)) }

    func closePeer() {
        if self.peer >= 0 { close(self.peer) }
        self.peer = -1
    }
}

/// Notes everything that a channel tells its pipeline.
final class Recorder: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    let events = Watched<[String]>([])
    let text = Watched("")

    func channelActive(context: ChannelHandlerContext) { self.note("active") }
    func channelInactive(context: ChannelHandlerContext) { self.note("inactive") }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.text.change { $0 += String(decoding: bytes.readableBytesView, as: UTF8.self) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.note(context.channel.isWritable ? "writable" : "unwritable")
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { self.note("input closed") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.note("error") }

    private func note(_ event: String) { self.events.change { $0.append(event) } }
}
