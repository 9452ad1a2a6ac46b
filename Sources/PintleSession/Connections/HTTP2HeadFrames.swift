// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleMessage

/// Filters the frames between a connection and SwiftNIO's codec: heads with any bytes, and of any size up to a limit, pass in
/// both directions (RFC 9113 §4.3, §6.10), and a watcher sees the frames of the peer.
///
/// Five properties of the codec (swift-nio-http2 1.46) stand in the way of heads:
/// - It has their fields as strings, and takes bytes for UTF-8. So they pass it as Latin-1 text (`HeaderBlockEscaper`), and
///   text that it writes without indexing becomes bytes again (`HeaderBlockUnescaper`).
/// - It writes a head as one frame, and none at all if that is longer than the peer's SETTINGS_MAX_FRAME_SIZE. So it is told
///   that the peer accepts frames of any size, and frames that are too long are split into CONTINUATION frames here.
/// - Its decoder accepts no more than 16 KiB before the peer has acknowledged the settings of this side. So it gets an
///   acknowledgement at once, and the peer's own is dropped.
/// - Heads over the limit end the connection. So it is given a larger limit than the peer is told, and such heads are found
///   where their stream alone can be refused.
/// - It fills any compression table that the peer allows, up to 4 GiB. So it is told of at most the 4 KiB of RFC 9113 §6.5.2.
package final class HTTP2HeadFrames: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = IOData
    package typealias OutboundOut = IOData

    /// The side of the connection that this program is.
    package enum Side { case client, server }

    private typealias Kind = HTTP2FrameHead.Kind
    private typealias Flag = HTTP2FrameHead.Flag

    private enum Setting {
        static let headerTableSize: UInt16 = 1
        static let enablePush: UInt16 = 2
        static let maxFrameSize: UInt16 = 5
        static let maxHeaderListSize: UInt16 = 6
    }

    private static let greeting = 24
    /// The length of frames that every peer accepts, and the highest that there is.
    private static let frameSizes: (least: UInt32, most: UInt32) = (1 << 14, 1 << 24 - 1)
    /// Longer SETTINGS are passed on for the codec to refuse: there are not that many settings; clients send them to keep a
    /// loop busy.
    private static let longestSettings = (ofClients: 6 * 64, ofServers: 16 * 1024)

    /// Returns the codec's limit for a limit that the peer is told: a head between the two is refused by its stream alone. A
    /// byte over 0x7F counts twice there.
    package static func decoderLimit(for limit: Int) -> Int { 2 * limit + 64 * 1024 }

    /// The size of the codec's table for the fields of the peer; the peer is told another one.
    package static let decoderTable = HeaderBlockEscaper.decoderTable

    /// Returns the highest number of frames in which a head of that limit may come.
    package static func mostContinuations(for limit: Int) -> Int { decoderLimit(for: limit) / 4096 + 16 }

    private let side: Side
    private let announcedLimit: UInt32
    private let watcher: any HTTP2FrameWatcher
    private var context: ChannelHandlerContext?
    /// The number of missing bytes of the peer's greeting, or of the current frame.
    private var left: Int
    /// The beginning of a frame that is processed as a whole, or of frames that wait.
    private var held = ByteBuffer()
    /// The number of held bytes from which on they can be processed.
    private var wanted = 0
    /// True if the watcher has admitted the frame that is held.
    private var isAdmitted = false
    /// True while the watcher makes the frames of the peer wait.
    package private(set) var isPausing = false
    private var escaper: HeaderBlockEscaper
    /// The stream of an incomplete header section.
    private var sectionStream: Int?
    private var hasSettings = false
    private var dropsAcknowledgement = true
    private var frameSize = HTTP2HeadFrames.frameSizes.least
    /// The highest stream with a head that was written; the codec may keep those of higher ones until the peer accepts them.
    package private(set) var lastStream = 0
    /// The number of missing bytes of the frame that is being written.
    private var leftToWrite = 0
    /// True until the codec's acknowledgement of the settings that were made up here is dropped.
    private var dropsOwnAcknowledgement: Bool
    /// The table sizes that the codec wrote in a section without fields; the next section begins with them.
    private var tableSizes: [UInt8] = []
    /// True once the peer was notified of an error of the connection; its bytes are then dropped. The codec fires errors of
    /// streams as well, but sends a GOAWAY only for this one.
    package private(set) var hasFailed = false

    /// - Parameter limit: the limit on heads that the peer is told, in bytes.
    package init(_ side: Side, limit: Int, watcher: any HTTP2FrameWatcher) {
        self.side = side
        self.announcedLimit = UInt32(clamping: limit)
        self.watcher = watcher
        self.escaper = HeaderBlockEscaper(fieldLimit: Self.decoderLimit(for: limit))
        self.left = side == .server ? Self.greeting : 0
        self.dropsOwnAcknowledgement = side == .client
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: From the peer

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        // A client sends its settings first (RFC 9113 §3.4).
        guard self.side == .client else { return }
        // A server's settings come after the first request was sent, which may have a long head.
        var settings = ByteBuffer()
        settings.writeFrameHead(length: 6, kind: Kind.settings)
        settings.writeSetting(Setting.maxFrameSize, Self.frameSizes.most)
        context.fireChannelRead(self.wrapInboundOut(settings))
        self.acknowledge(context)
        // Otherwise the codec flushes nothing, not even the first request, before the server has sent something.
        context.fireChannelReadComplete()
    }

    private func acknowledge(_ context: ChannelHandlerContext) {
        self.hasSettings = true
        var frame = ByteBuffer()
        frame.writeFrameHead(length: 0, kind: Kind.settings, flags: Flag.acknowledgement)
        context.fireChannelRead(self.wrapInboundOut(frame))
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // After an error of the connection no more frames can be parsed.
        guard !self.hasFailed else { return }
        var bytes = self.unwrapInboundIn(data)
        if self.held.readableBytes > 0 {
            self.held.writeBuffer(&bytes)
            // The frame is incomplete, or has to wait until `goOn`.
            guard !self.isPausing, self.held.readableBytes >= self.wanted else { return }
            bytes = self.held
            self.held = ByteBuffer()
        }
        self.take(bytes, context)
    }

    /// Processes the frames that had to wait.
    package func goOn() {
        self.isPausing = false
        let bytes = self.held
        self.held = ByteBuffer()
        // The connection has ended while the frames waited.
        guard let context, !self.hasFailed else { return }
        self.take(bytes, context)
        context.fireChannelReadComplete()
    }

    private func take(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        // The common case: bytes without heads and settings are passed on unchanged.
        var start = bytes.readerIndex
        var index = start
        while index < bytes.writerIndex {
            let skipped = min(self.left, bytes.writerIndex - index)
            self.left -= skipped
            index += skipped
            guard self.left == 0, index < bytes.writerIndex else { break }
            guard let head = HTTP2FrameHead(bytes, at: index),
                let content = Self.content(of: head, in: bytes, at: index)
            else {
                self.pass(bytes, from: start, to: index, context)
                return self.hold(bytes, from: index, until: HTTP2FrameHead.size)
            }
            if !self.isAdmitted {
                self.isAdmitted = self.watcher.admits(head, content: content)
                // The watcher has ended the connection.
                guard !self.hasFailed else { return }
                guard self.isAdmitted else {
                    self.pass(bytes, from: start, to: index, context)
                    self.isPausing = true
                    return self.hold(bytes, from: index, until: 0)
                }
            }
            guard self.isWhole(head) else {
                self.isAdmitted = false
                self.left = head.length
                index += HTTP2FrameHead.size
                continue
            }
            self.pass(bytes, from: start, to: index, context)
            let end = index + HTTP2FrameHead.size + head.length
            guard end <= bytes.writerIndex else { return self.hold(bytes, from: index, until: end - index) }
            self.isAdmitted = false
            switch head.kind {
            case Kind.reset, Kind.windowUpdate: break
            case Kind.data:
                // The codec does not know that these bytes have come.
                if head.length > 0 {
                    context.writeAndFlush(NIOAny(ByteBuffer(windowUpdate: head.length)), promise: nil)
                }
            case Kind.settings: self.takeSettings(head, bytes, at: index, context)
            case Kind.priority: self.takePriority(head, bytes, at: index, context)
            default: self.takeSection(head, bytes, at: index, context)
            }
            // The frame was an error of the connection.
            guard !self.hasFailed else { return }
            (start, index) = (end, end)
        }
        self.pass(bytes, from: start, to: bytes.writerIndex, context)
    }

    /// Returns the number of a frame's bytes without padding; nil if the length of the padding has not arrived yet.
    private static func content(of head: HTTP2FrameHead, in bytes: ByteBuffer, at index: Int) -> Int? {
        guard head.kind == Kind.data, head.isPadded, head.length > 0 else { return head.length }
        let padding: UInt8? = bytes.getInteger(at: index + HTTP2FrameHead.size)
        return padding.map { max(0, head.length - 1 - Int($0)) }
    }

    /// True for a frame that is not passed on in pieces, as it may have to be changed or dropped.
    private func isWhole(_ head: HTTP2FrameHead) -> Bool {
        switch head.kind {
        case Kind.settings:
            head.length <= (self.side == .server ? Self.longestSettings.ofClients : Self.longestSettings.ofServers)
        // A frame that is out of place, or too long, is left for the codec to refuse.
        case Kind.headers: self.hasSettings && self.sectionStream == nil && head.length <= Self.frameSizes.least
        case Kind.continuation: self.sectionStream == head.stream && head.length <= Self.frameSizes.least
        case Kind.priority: self.hasSettings && self.sectionStream == nil && head.length == 5 && head.stream != 0
        // Late frames are dropped.
        case Kind.reset, Kind.windowUpdate: self.sectionStream == nil && head.length == 4 && self.watcher.isLate(head)
        case Kind.data: self.sectionStream == nil && head.length <= Self.frameSizes.least && self.watcher.isLate(head)
        default: false
        }
    }

    private func hold(_ bytes: ByteBuffer, from index: Int, until wanted: Int) {
        // In memory of its own, as the buffer is the loop's.
        self.held = ByteBuffer()
        self.held.reserveCapacity(max(wanted, bytes.writerIndex - index))
        if let rest = bytes.getSlice(at: index, length: bytes.writerIndex - index) {
            self.held.writeImmutableBuffer(rest)
        }
        self.wanted = wanted
    }

    private func pass(_ bytes: ByteBuffer, from start: Int, to end: Int, _ context: ChannelHandlerContext) {
        // Two frames that are processed here follow each other.
        guard start < end else { return }
        context.fireChannelRead(self.wrapInboundOut(bytes.part(from: start, to: end)))
    }

    /// Processes a HEADERS or CONTINUATION frame.
    private func takeSection(
        _ head: HTTP2FrameHead, _ bytes: ByteBuffer, at index: Int, _ context: ChannelHandlerContext
    ) {
        let start = index + HTTP2FrameHead.size
        var payload = bytes.part(from: start, to: start + head.length)
        var (prefix, flags) = (ByteBuffer(), head.flags)
        if head.kind == Kind.headers {
            flags &= ~Flag.padded
            guard payload.removePadding(of: head), let priority = payload.readSlice(length: head.hasPriority ? 5 : 0)
            else {
                return self.pass(bytes, from: index, to: start + head.length, context)
            }
            prefix = priority
        }
        var (block, isBroken) = ([UInt8](), false)
        block.reserveCapacity(2 * payload.readableBytes)
        do throws(WireError) {
            var result: Result<Void, WireError> = .success(())
            payload.withUnsafeReadableBytes { bytes in
                result = Result { () throws(WireError) in
                    try self.escaper.escape(bytes, isLast: head.endsHeaders, into: &block)
                }
            }
            try result.get()
        } catch {
            // The codec reports the error: the table never has an entry 0.
            (block, flags, isBroken) = ([0x80], flags | Flag.endHeaders, true)
        }
        self.sectionStream = head.endsHeaders ? nil : head.stream
        if head.endsHeaders { self.watcher.sectionEnded() }
        var frames = ByteBuffer()
        frames.writeSection(
            block, behind: prefix, kind: head.kind, flags: flags, stream: head.stream, size: Int(Self.frameSizes.least))
        context.fireChannelRead(self.wrapInboundOut(frames))
        if isBroken { self.hasFailed = true }
    }

    /// Drops a PRIORITY frame. Streams take turns by their windows, browsers send some for each picture of a page, and the codec
    /// counts them towards a flood.
    private func takePriority(
        _ head: HTTP2FrameHead, _ bytes: ByteBuffer, at index: Int, _ context: ChannelHandlerContext
    ) {
        let dependency: UInt32 = bytes.getInteger(at: index + HTTP2FrameHead.size) ?? 0
        // A stream that depends on itself is the codec's to refuse.
        guard Int(dependency & 0x7FFF_FFFF) == head.stream else { return }
        self.pass(bytes, from: index, to: index + HTTP2FrameHead.size + head.length, context)
    }

    /// Processes a SETTINGS frame.
    private func takeSettings(
        _ head: HTTP2FrameHead, _ bytes: ByteBuffer, at index: Int, _ context: ChannelHandlerContext
    ) {
        guard !head.isAcknowledgement else {
            // The peer's first one is dropped, as the codec has got one already. One before the peer's settings is the codec's
            // to refuse.
            if self.hasSettings, self.dropsAcknowledgement { return self.dropsAcknowledgement = false }
            return self.pass(bytes, from: index, to: index + HTTP2FrameHead.size + head.length, context)
        }
        var frame = ByteBuffer()
        let count = head.length / 6
        frame.writeFrameHead(length: head.length + 6, kind: Kind.settings, flags: head.flags, stream: head.stream)
        for number in 0..<count {
            let place = index + HTTP2FrameHead.size + 6 * number
            guard let name: UInt16 = bytes.getInteger(at: place), let value: UInt32 = bytes.getInteger(at: place + 2)
            else {
                break
            }
            switch name {
            case Setting.headerTableSize: frame.writeSetting(name, min(value, UInt32(HeaderBlockEscaper.table)))
            // The codec accepts it from servers as well, which must not set it (RFC 9113 §6.5.2); it refuses the value 2.
            case Setting.enablePush where self.side == .client && value != 0: frame.writeSetting(name, 2)
            case Setting.maxFrameSize where (Self.frameSizes.least...Self.frameSizes.most).contains(value):
                self.frameSize = value
                frame.writeSetting(name, Self.frameSizes.most)
            default: frame.writeSetting(name, value)
            }
        }
        // A length that is no multiple of six is left for the codec to refuse.
        frame.writeBytes(bytes.getBytes(at: index + HTTP2FrameHead.size + 6 * count, length: head.length % 6) ?? [])
        frame.writeSetting(Setting.maxFrameSize, Self.frameSizes.most)
        context.fireChannelRead(self.wrapInboundOut(frame))
        if !self.hasSettings { self.acknowledge(context) }
    }

    // MARK: To the peer

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let bytes) = self.unwrapOutboundIn(data), self.leftToWrite == 0,
            let head = HTTP2FrameHead(bytes, at: bytes.readerIndex), !bytes.beginsGreeting
        else {
            // Content may look like a frame; before the greeting nothing is left to write.
            if case .byteBuffer(let bytes) = self.unwrapOutboundIn(data) {
                self.leftToWrite = max(0, self.leftToWrite - bytes.readableBytes)
            }
            return context.write(data, promise: promise)
        }
        self.leftToWrite = max(0, head.length - (bytes.readableBytes - HTTP2FrameHead.size))
        switch head.kind {
        case Kind.headers:
            self.lastStream = max(self.lastStream, head.stream)
            context.write(self.wrapOutboundOut(.byteBuffer(self.section(bytes, head))), promise: promise)
        case Kind.settings where head.isAcknowledgement && self.dropsOwnAcknowledgement:
            // The server has not sent any settings that could be acknowledged.
            self.dropsOwnAcknowledgement = false
            promise?.succeed()
        case Kind.settings:
            context.write(self.wrapOutboundOut(.byteBuffer(self.announcing(bytes, head))), promise: promise)
        case Kind.goAway:
            let code: UInt32 = bytes.getInteger(at: bytes.readerIndex + HTTP2FrameHead.size + 4) ?? 0
            if code != 0 { self.hasFailed = true }
            context.write(data, promise: promise)
        default: context.write(data, promise: promise)
        }
    }

    private func announcing(_ bytes: ByteBuffer, _ head: HTTP2FrameHead) -> ByteBuffer {
        var bytes = bytes
        for place in stride(from: bytes.readerIndex + HTTP2FrameHead.size, to: bytes.writerIndex - 5, by: 6) {
            switch bytes.getInteger(at: place, as: UInt16.self) {
            case Setting.maxHeaderListSize: bytes.setInteger(self.announcedLimit, at: place + 2)
            case Setting.headerTableSize: bytes.setInteger(UInt32(HeaderBlockEscaper.table), at: place + 2)
            // The other settings stay as the codec has made them.
            default: break
            }
        }
        return bytes
    }

    /// Returns the frames of a head for the peer. The codec writes no padding, and no priority.
    private func section(_ bytes: ByteBuffer, _ head: HTTP2FrameHead) -> ByteBuffer {
        guard let payload = bytes.getSlice(at: bytes.readerIndex + HTTP2FrameHead.size, length: head.length) else {
            return bytes
        }
        // See `HTTP2Frame.FramePayload.end`.
        if payload.hasNoFields {
            self.tableSizes += payload.readableBytesView
            var end = ByteBuffer()
            end.writeFrameHead(length: 0, kind: Kind.data, flags: Flag.endStream, stream: head.stream)
            return end
        }
        let unescaped = try? payload.withUnsafeReadableBytes { try HeaderBlockUnescaper.unescape($0) }
        let isFit = head.length <= self.frameSize && self.tableSizes.isEmpty
        guard var block = unescaped ?? (isFit ? nil : Array(payload.readableBytesView)) else { return bytes }
        if !self.tableSizes.isEmpty {
            block = self.tableSizes + block
            self.tableSizes = []
        }
        var frames = ByteBuffer()
        frames.writeSection(
            block, kind: head.kind, flags: head.flags, stream: head.stream, size: Int(self.frameSize))
        return frames
    }
}
