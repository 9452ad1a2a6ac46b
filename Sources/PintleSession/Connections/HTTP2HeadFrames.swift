// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Lets heads of any size up to a limit pass SwiftNIO's codec in both directions (RFC 9113 §4.3, §6.10).
///
/// Four things of the codec (swift-nio-http2 1.46) stand in their way:
/// - It writes a head as one frame, and none at all if that is longer than SETTINGS_MAX_FRAME_SIZE of the peer. It is told that
///   the peer takes frames of any size, and what the peer does not take is cut into CONTINUATION frames here.
/// - Its decoder takes no more than 16 KiB before the peer has acknowledged the settings of this side. The acknowledgement is
///   brought forward, and the peer's own is left out.
/// - Heads over the limit end the connection. It is given a larger limit than the peer is told of, so that they are found where
///   a stream can be refused by itself.
/// - It fills any table for compression that the peer allows, up to 4 GiB. It is told of no more than the 4 KiB of RFC 9113
///   §6.5.2.
package final class HTTP2HeadFrames: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = IOData
    package typealias OutboundOut = IOData

    /// The end of the connection that this is.
    package enum Side { case client, server }

    private enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let continuation: UInt8 = 9
    }

    private enum Flag {
        static let acknowledgement: UInt8 = 1
        static let endHeaders: UInt8 = 4
    }

    private enum Setting {
        static let headerTableSize: UInt16 = 1
        static let maxFrameSize: UInt16 = 5
        static let maxHeaderListSize: UInt16 = 6
    }

    private static let headSize = 9
    private static let greeting = 24
    /// The table that every peer has without asking.
    private static let mostTable: UInt32 = 4096
    /// The frames that every peer takes, and the largest that there are.
    private static let frameSizes: (least: UInt32, most: UInt32) = (1 << 14, 1 << 24 - 1)
    /// Longer SETTINGS go on as they are, to be refused: there are not as many kinds, and clients send them to keep a loop busy.
    private static let longestSettings = (ofClients: 6 * 64, ofServers: 16 * 1024)

    /// The limit that the codec has, for a limit that the peer is told of: what is over that, but not by far, is a matter of a
    /// stream.
    package static func decoderLimit(for limit: Int) -> Int { 2 * limit + 64 * 1024 }

    /// The frames in which a head of that limit may come.
    package static func mostContinuations(for limit: Int) -> Int { decoderLimit(for: limit) / 4096 + 16 }

    private let side: Side
    private let announcedLimit: UInt32
    /// The bytes that are left of the peer's greeting, or of the frame under way.
    private var left: Int
    /// The beginning of what is looked at as a whole.
    private var held = ByteBuffer()
    private var hasSettings = false
    private var dropsAcknowledgement = true
    private var frameSize = HTTP2HeadFrames.frameSizes.least
    /// The bytes that are left of the frame that is being written.
    private var leftToWrite = 0
    /// True until the acknowledgement of the settings that were made up here for the codec is left out.
    private var dropsOwnAcknowledgement: Bool

    /// - Parameter limit: the size of heads that the peer is told of, in bytes.
    package init(_ side: Side, limit: Int) {
        self.side = side
        self.announcedLimit = UInt32(clamping: limit)
        self.left = side == .server ? Self.greeting : 0
        self.dropsOwnAcknowledgement = side == .client
    }

    // MARK: From the peer

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        guard self.side == .client else { return }
        // A server's settings come later than the first request leaves, which may have a long head.
        var settings = ByteBuffer()
        settings.writeFrameHead(length: 6, kind: Kind.settings)
        settings.writeSetting(Setting.maxFrameSize, Self.frameSizes.most)
        context.fireChannelRead(self.wrapInboundOut(settings))
        self.acknowledge(context)
    }

    private func acknowledge(_ context: ChannelHandlerContext) {
        self.hasSettings = true
        var frame = ByteBuffer()
        frame.writeFrameHead(length: 0, kind: Kind.settings, flags: Flag.acknowledgement)
        context.fireChannelRead(self.wrapInboundOut(frame))
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        if self.held.readableBytes > 0 {
            self.held.writeBuffer(&bytes)
            bytes = self.held
            self.held = ByteBuffer()
        }
        // The common case: there are no settings in it, and it goes on as it is.
        var start = bytes.readerIndex
        var index = start
        while index < bytes.writerIndex {
            let skipped = min(self.left, bytes.writerIndex - index)
            self.left -= skipped
            index += skipped
            guard self.left == 0, index < bytes.writerIndex else { break }
            guard let head = FrameHead(bytes, at: index) else {
                self.pass(bytes, from: start, to: index, context)
                return self.hold(bytes, from: index)
            }
            let longest = self.side == .server ? Self.longestSettings.ofClients : Self.longestSettings.ofServers
            guard head.kind == Kind.settings, head.length <= longest else {
                self.left = head.length
                index += Self.headSize
                continue
            }
            let end = index + Self.headSize + head.length
            self.pass(bytes, from: start, to: index, context)
            guard end <= bytes.writerIndex else { return self.hold(bytes, from: index) }
            self.take(head, bytes, at: index, context)
            (start, index) = (end, end)
        }
        self.pass(bytes, from: start, to: bytes.writerIndex, context)
    }

    private func hold(_ bytes: ByteBuffer, from index: Int) {
        // In memory of its own: the buffer is the loop's.
        self.held = ByteBuffer(bytes: bytes.getBytes(at: index, length: bytes.writerIndex - index) ?? [])
    }

    private func pass(_ bytes: ByteBuffer, from start: Int, to end: Int, _ context: ChannelHandlerContext) {
        guard start < end else { return }
        if start == bytes.readerIndex, end == bytes.writerIndex {
            return context.fireChannelRead(self.wrapInboundOut(bytes))
        }
        guard let part = bytes.getSlice(at: start, length: end - start) else { return }
        context.fireChannelRead(self.wrapInboundOut(part))
    }

    /// Takes a SETTINGS frame.
    private func take(_ head: FrameHead, _ bytes: ByteBuffer, at index: Int, _ context: ChannelHandlerContext) {
        guard head.flags & Flag.acknowledgement == 0 else {
            // One that comes before the settings of the peer is an error, and one behind the first is not ours.
            if self.hasSettings, self.dropsAcknowledgement { return self.dropsAcknowledgement = false }
            return self.pass(bytes, from: index, to: index + Self.headSize + head.length, context)
        }
        var frame = ByteBuffer()
        let count = head.length / 6
        frame.writeFrameHead(
            length: head.length + 6, kind: Kind.settings, flags: head.flags, stream: UInt32(clamping: head.stream))
        for number in 0..<count {
            let place = index + Self.headSize + 6 * number
            guard let name: UInt16 = bytes.getInteger(at: place), let value: UInt32 = bytes.getInteger(at: place + 2)
            else {
                break
            }
            switch name {
            case Setting.headerTableSize: frame.writeSetting(name, min(value, Self.mostTable))
            case Setting.maxFrameSize where (Self.frameSizes.least...Self.frameSizes.most).contains(value):
                self.frameSize = value
                frame.writeSetting(name, Self.frameSizes.most)
            default: frame.writeSetting(name, value)
            }
        }
        // A length that is no multiple of six is for the codec to refuse.
        frame.writeBytes(bytes.getBytes(at: index + Self.headSize + 6 * count, length: head.length % 6) ?? [])
        frame.writeSetting(Setting.maxFrameSize, Self.frameSizes.most)
        context.fireChannelRead(self.wrapInboundOut(frame))
        if !self.hasSettings { self.acknowledge(context) }
    }

    // MARK: To the peer

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let bytes) = self.unwrapOutboundIn(data), self.leftToWrite == 0,
            let head = FrameHead(bytes, at: bytes.readerIndex), !bytes.beginsGreeting
        else {
            // Content may begin with any bytes; before the greeting nothing is left to write.
            if case .byteBuffer(let bytes) = self.unwrapOutboundIn(data) {
                self.leftToWrite = max(0, self.leftToWrite - bytes.readableBytes)
            }
            return context.write(data, promise: promise)
        }
        self.leftToWrite = max(0, head.length - (bytes.readableBytes - Self.headSize))
        switch head.kind {
        case Kind.headers where head.length > Int(self.frameSize):
            self.writeInPieces(bytes, head, context, promise)
        case Kind.settings where head.flags & Flag.acknowledgement != 0 && self.dropsOwnAcknowledgement:
            // The server has sent nothing yet that could be acknowledged.
            self.dropsOwnAcknowledgement = false
            promise?.succeed()
        case Kind.settings:
            context.write(self.wrapOutboundOut(.byteBuffer(self.announcing(bytes, head))), promise: promise)
        default: context.write(data, promise: promise)
        }
    }

    private func announcing(_ bytes: ByteBuffer, _ head: FrameHead) -> ByteBuffer {
        var bytes = bytes
        for place in stride(from: bytes.readerIndex + Self.headSize, to: bytes.writerIndex - 5, by: 6) {
            guard let name: UInt16 = bytes.getInteger(at: place), name == Setting.maxHeaderListSize else { continue }
            bytes.setInteger(self.announcedLimit, at: place + 2)
        }
        return bytes
    }

    private func writeInPieces(
        _ bytes: ByteBuffer, _ head: FrameHead, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        let size = Int(self.frameSize)
        var pieces = ByteBuffer()
        pieces.reserveCapacity(bytes.readableBytes + Self.headSize * (head.length / size + 1))
        var offset = 0
        while offset < head.length {
            let count = min(size, head.length - offset)
            let isLast = offset + count == head.length
            var flags = offset == 0 ? head.flags & ~Flag.endHeaders : 0
            if isLast { flags |= Flag.endHeaders }
            pieces.writeFrameHead(
                length: count, kind: offset == 0 ? Kind.headers : Kind.continuation, flags: flags,
                stream: UInt32(clamping: head.stream))
            let place = bytes.readerIndex + Self.headSize + offset
            pieces.writeImmutableBuffer(bytes.getSlice(at: place, length: count) ?? ByteBuffer())
            offset += count
        }
        context.write(self.wrapOutboundOut(.byteBuffer(pieces)), promise: promise)
    }
}

/// The head of a frame (RFC 9113 §4.1).
private struct FrameHead {
    let length: Int
    let kind: UInt8
    let flags: UInt8
    let stream: Int

    /// Nil if it has not come as a whole.
    init?(_ bytes: ByteBuffer, at index: Int) {
        guard let high: UInt16 = bytes.getInteger(at: index), let low: UInt8 = bytes.getInteger(at: index + 2),
            let kind: UInt8 = bytes.getInteger(at: index + 3), let flags: UInt8 = bytes.getInteger(at: index + 4),
            let stream: UInt32 = bytes.getInteger(at: index + 5)
        else { return nil }
        self.length = Int(high) << 8 | Int(low)
        self.kind = kind
        self.flags = flags
        self.stream = Int(stream & 0x7FFF_FFFF)
    }
}

extension ByteBuffer {
    /// True for the greeting of a client, which is no frame.
    fileprivate var beginsGreeting: Bool {
        self.readableBytes >= 4 && self.getInteger(at: self.readerIndex, as: UInt32.self) == 0x5052_4920
    }

    fileprivate mutating func writeFrameHead(length: Int, kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0) {
        self.writeInteger(UInt16(truncatingIfNeeded: length >> 8))
        self.writeInteger(UInt8(truncatingIfNeeded: length))
        self.writeInteger(kind)
        self.writeInteger(flags)
        self.writeInteger(stream)
    }

    fileprivate mutating func writeSetting(_ name: UInt16, _ value: UInt32) {
        self.writeInteger(name)
        self.writeInteger(value)
    }
}
