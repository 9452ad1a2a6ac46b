// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleLoop

/// Looks at frames on their way to SwiftNIO's codec, and back, for what the codec leaves to others.
///
/// - What has come for a stream and was not taken yet is counted, by what it costs to hold it.
/// - Frames of nothing, of which the codec counts those of a whole connection, must not follow each other for long.
/// - A turn takes no more than some frames of one connection: each may be a request, and others want their share.
/// - A connection error is told apart from that of a stream: the codec fires both, and only the former has a GOAWAY.
final class HTTP2FrameWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The head of a frame (RFC 9113 §4.1).
    private struct Head {
        let length: Int
        let type: UInt8
        let flags: UInt8
        let stream: Int

        /// Nil where it has not come as a whole.
        init?(_ bytes: ByteBuffer, at index: Int) {
            guard let high: UInt16 = bytes.getInteger(at: index), let low: UInt8 = bytes.getInteger(at: index + 2),
                let type: UInt8 = bytes.getInteger(at: index + 3), let flags: UInt8 = bytes.getInteger(at: index + 4),
                let stream: UInt32 = bytes.getInteger(at: index + 5)
            else { return nil }
            self.length = Int(high) << 8 | Int(low)
            self.type = type
            self.flags = flags
            self.stream = Int(stream & 0x7FFF_FFFF)
        }

        static let size = 9

        var isEnd: Bool { self.flags & 0x1 != 0 }
        var endsHeaders: Bool { self.flags & 0x4 != 0 }
        var isPadded: Bool { self.flags & 0x8 != 0 }
    }

    private enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let settings: UInt8 = 4
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    /// The cost of holding a frame beside its content, in bytes; not less than the memory that the codec takes for one.
    static let frameCost = 256
    /// Frames of nothing that may follow each other on a connection.
    private static let mostEmpty = 100
    /// Frames that a turn takes.
    private static let mostFrames = 32
    /// Values in one SETTINGS; there are not as many kinds.
    private static let mostSettings = 64
    /// The longest frame that this side allows; the codec refuses a longer one.
    private static let longestFrame = 16 * 1024

    private let connection: HTTP2ClientConnection
    private let loop: Loop
    /// The bytes that are left of the client's greeting, or of the frame under way.
    private var left = 24
    /// The beginning of what is only looked at as a whole.
    private var held = ByteBuffer()
    private var empty = 0
    private var frames = 0
    /// The turn that these were counted in.
    private var turn: UInt64 = 0
    /// True while the rest of what has come waits for the next turn.
    private var isPausing = false
    private var context: ChannelHandlerContext?
    /// The bytes that are left of the frame that is written.
    private var leftToWrite = 0
    /// True once the client was told of an error of the connection. What it sends is thrown away then.
    private(set) var hasFailed = false
    /// When a header section began that is not complete.
    private(set) var sectionSince: NIODeadline?
    /// True where the section ends with the frame under way.
    private var endsSection = false

    init(_ connection: HTTP2ClientConnection) {
        self.connection = connection
        self.loop = connection.lane.loop
    }

    // MARK: From the client

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.hasFailed else { return }
        var bytes = self.unwrapInboundIn(data)
        if self.held.readableBytes > 0 {
            self.held.writeBuffer(&bytes)
            guard !self.isPausing else { return }
            bytes = self.held
            self.held = ByteBuffer()
        }
        self.pass(bytes, context)
    }

    /// Lets the codec have what may go on, and keeps the rest.
    private func pass(_ received: ByteBuffer, _ context: ChannelHandlerContext) {
        var bytes = received
        if self.turn != self.loop.turn { (self.turn, self.frames) = (self.loop.turn, 0) }
        let end = self.look(at: bytes)
        if end < bytes.writerIndex {
            // In memory of its own: the buffer is the loop's.
            self.held = ByteBuffer(bytes: bytes.viewBytes(at: end, length: bytes.writerIndex - end) ?? ByteBufferView())
            bytes.moveWriterIndex(to: end)
        }
        if self.isPausing { self.goOnLater() }
        guard bytes.readableBytes > 0 else { return }
        context.fireChannelRead(self.wrapInboundOut(bytes))
    }

    private func goOnLater() {
        self.connection.setReading(false)
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.execute { box.value.goOn() }
    }

    private func goOn() {
        guard let context, !self.hasFailed else { return self.held = ByteBuffer() }
        guard self.turn != self.loop.turn else { return self.goOnLater() }
        self.isPausing = false
        let bytes = self.held
        self.held = ByteBuffer()
        self.pass(bytes, context)
        context.fireChannelReadComplete()
        if !self.isPausing { self.connection.setReading(true) }
    }

    /// - Returns: the index up to which the codec may have it in this turn.
    private func look(at bytes: ByteBuffer) -> Int {
        var index = bytes.readerIndex
        while index < bytes.writerIndex {
            let skipped = min(self.left, bytes.writerIndex - index)
            self.left -= skipped
            index += skipped
            guard self.left == 0, self.endFrame(), index < bytes.writerIndex else { break }
            guard let head = Head(bytes, at: index) else { return index }
            guard self.frames < Self.mostFrames else {
                self.isPausing = true
                return index
            }
            switch head.type {
            case Kind.settings where head.length > 6 * Self.mostSettings && head.length <= Self.longestFrame:
                self.connection.fail(.enhanceYourCalm)
            case Kind.data:
                guard self.note(data: head, bytes.getInteger(at: index + Head.size)) else { return index }
            case Kind.headers, Kind.continuation:
                if self.sectionSince == nil { self.sectionSince = self.loop.turnTime }
                self.endsSection = head.endsHeaders
            case Kind.priority, Kind.windowUpdate: self.connection.received(Self.frameCost, on: head.stream)
            default: break
            }
            self.frames += 1
            index += Head.size
            self.left = head.length
            if self.left == 0 { _ = self.endFrame() }
        }
        return bytes.writerIndex
    }

    /// Always true, for a condition to go on with.
    private func endFrame() -> Bool {
        if self.endsSection { (self.sectionSince, self.endsSection) = (nil, false) }
        return true
    }

    /// - Returns: false where the byte behind the head, which says how much is padding, must come first.
    private func note(data head: Head, _ padding: UInt8?) -> Bool {
        var content = head.length
        if head.isPadded, head.length > 0 {
            guard let padding else { return false }
            content = max(0, head.length - 1 - Int(padding))
        }
        self.connection.received(content + Self.frameCost, on: head.stream)
        if content > 0 {
            self.empty = 0
        } else if !head.isEnd {
            self.empty += 1
            if self.empty > Self.mostEmpty { self.connection.fail(.enhanceYourCalm) }
        }
        return true
    }

    // MARK: To the client

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let bytes) = self.unwrapOutboundIn(data) { self.look(atWritten: bytes) }
        context.write(data, promise: promise)
    }

    private func look(atWritten bytes: ByteBuffer) {
        guard self.leftToWrite == 0 else {
            self.leftToWrite = max(0, self.leftToWrite - bytes.readableBytes)
            return
        }
        guard let head = Head(bytes, at: bytes.readerIndex) else { return }
        self.leftToWrite = max(0, head.length - (bytes.readableBytes - Head.size))
        guard head.type == Kind.goAway else { return }
        let code: UInt32 = bytes.getInteger(at: bytes.readerIndex + Head.size + 4) ?? 0
        if code != 0 { self.hasFailed = true }
    }
}

extension ByteBuffer {
    fileprivate func viewBytes(at index: Int, length: Int) -> ByteBufferView? {
        self.getSlice(at: index, length: length)?.readableBytesView
    }
}
