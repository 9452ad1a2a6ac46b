// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop

/// An HTTP/2 stream that carries a tunnel (RFC 9113 §8.5), as one end of a relay: DATA frames are its bytes, END_STREAM is its
/// FIN, and RST_STREAM its RST.
///
/// Frames wait here until they are read; the window of the stream limits them.
final class HTTP2StreamSocket: RelayStream {
    /// The stream ended without an END_STREAM.
    struct BrokenStream: Error {}

    /// Nil once the stream is over or released.
    private weak var stream: HTTP2ClientStream?
    private let loop: Loop
    private var waiting: CircularBuffer<ByteBuffer>
    private var hasInput: Bool
    private var isBroken = false
    private var hasEndedOutput = false
    private var hasPeerBroken = false
    private var interest = Readiness()
    private var watcher: (any DescriptorWatcher)?
    private var isScheduled = false

    var shutdownNeeds: Readiness? { nil }

    /// The most bytes that are written at once.
    private static let pieceLimit = 64 * 1024

    /// - Parameters:
    ///   - waiting: the bytes that have arrived already.
    ///   - hasEnded: true if no more bytes will arrive.
    init(_ stream: HTTP2ClientStream, on loop: Loop, waiting: CircularBuffer<ByteBuffer>, hasEnded: Bool) {
        self.stream = stream
        self.loop = loop
        self.waiting = waiting
        self.hasInput = !hasEnded
    }

    /// True if no bytes wait to be read.
    var isEmpty: Bool { self.waiting.isEmpty }

    // MARK: The stream's events

    func received(_ bytes: ByteBuffer) {
        if var last = self.waiting.popLast() {
            let isTakenIn = last.takeIn(bytes)
            self.waiting.append(last)
            if isTakenIn { return self.tellLater() }
        }
        self.waiting.append(bytes.forWaiting)
        self.tellLater()
    }

    func receivedEnd() {
        self.hasInput = false
        self.tellLater()
    }

    /// Called when the client has broken the stream or its connection.
    func broke() {
        self.stream = nil
        self.isBroken = true
        self.waiting.removeAll()
        self.tellLater()
    }

    func mayHaveRoom() { self.tellLater() }

    // MARK: Readiness

    func watch(for interest: Readiness, by watcher: any DescriptorWatcher) {
        self.interest = interest
        self.watcher = watcher
        self.tellLater()
    }

    func forget() {
        self.interest = Readiness()
        self.watcher = nil
    }

    private var ready: Readiness {
        var ready = Readiness()
        if !self.waiting.isEmpty || !self.hasInput || self.isBroken { ready.formUnion(.read) }
        if self.stream?.isWritable ?? true { ready.formUnion(.write) }
        return ready
    }

    private func tellLater() {
        // A call is due already, or the watcher waits for something else.
        guard !self.isScheduled, self.watcher != nil, !self.ready.isDisjoint(with: self.interest) else { return }
        self.isScheduled = true
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.execute { box.value.tell() }
    }

    private func tell() {
        self.isScheduled = false
        let readiness = self.ready.intersection(self.interest)
        // The watcher has left, or has changed its interest.
        guard let watcher, !readiness.isEmpty else { return }
        watcher.descriptorReady(DetachedSocket.noDescriptor, readiness)
        self.tellLater()
    }

    // MARK: Bytes

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        guard !self.isBroken else { return .failed(BrokenStream()) }
        var count = 0
        while count < space.count, var bytes = self.waiting.first {
            let taken = min(space.count - count, bytes.readableBytes)
            bytes.readWithUnsafeReadableBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: space[count...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(taken)))
                return taken
            }
            count += taken
            self.waiting.removeFirst()
            if bytes.readableBytes > 0 { self.waiting.prepend(bytes) }
        }
        if self.waiting.isEmpty, self.hasInput { self.stream?.takeMore() }
        if count > 0 { return .bytes(count) }
        return self.hasInput || !self.waiting.isEmpty ? .wouldBlock(until: .read) : .end
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        guard let stream, !self.isBroken, !self.hasEndedOutput else { return .failed(BrokenStream()) }
        guard stream.isWritable else { return .wouldBlock(until: .write) }
        let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.pieceLimit))
        stream.sendThroughTunnel(piece)
        return .bytes(piece.count)
    }

    func shutdownOutput() {
        // The end was sent before.
        guard !self.hasEndedOutput else { return }
        // After the peer has broken off, the end must not look orderly.
        guard !self.hasPeerBroken else { return self.breakStream() }
        self.hasEndedOutput = true
        self.stream?.endTunnelOutput()
    }

    func peerBroke() { self.hasPeerBroken = true }

    func close() {
        guard self.hasEndedOutput else { return self.breakStream() }
        let stream = self.stream
        self.stream = nil
        stream?.closeTunnel(hasInput: self.hasInput)
    }

    private func breakStream() {
        self.hasEndedOutput = true
        let stream = self.stream
        self.stream = nil
        stream?.breakTunnel()
    }
}
