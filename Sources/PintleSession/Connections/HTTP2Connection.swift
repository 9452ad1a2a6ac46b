// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintleTrust

/// A connection of HTTP/2 to an origin (RFC 9113), by SwiftNIO's codec, with a stream for each transfer. Used only on its
/// loop's thread.
final class HTTP2Connection: TurnEndWork, @unchecked Sendable {
    // Why @unchecked holds: the channel and its handlers are on the pool's loop, which makes all calls here.

    private enum Phase {
        case open
        /// It takes no more streams: the peer accepts none, or is no longer trusted.
        case leaving
        case closed
    }

    let made: EstablishedConnection
    /// True if a transfer was carried to its end.
    private(set) var hasServed = false
    private let pool: TransferPool
    /// Its number in the pool; nil when it is closed.
    private var number: ConnectionNumber?
    private var phase = Phase.open
    private let channel: SocketChannel
    // weak: the handler holds the connection as its watcher.
    private weak var heads: HTTP2HeadFrames?
    private var multiplexer: NIOHTTP2Handler.StreamMultiplexer?
    private var streams: [ObjectIdentifier: HTTP2Stream] = [:]
    private var streamsByNumber: [Int: HTTP2Stream] = [:]
    /// The time at which the peer's last frame arrived.
    private var lastArrival = NIODeadline.uptimeNanoseconds(0)
    /// True if it leaves at the end of this turn: other transfers may hear of that, and one of them may be under way.
    private var leavesWithTurn = false
    /// The cost of frames that have arrived and were not taken, in bytes.
    private var untaken = 0
    /// The memory for them that is reserved from the common budget.
    private var share = MemoryReservation()
    /// Streams that begin at the end of this turn.
    private var starting: [HTTP2Stream] = []
    /// True once the peer's frames have violated HTTP/2; then the connection ends.
    fileprivate(set) var isBroken = false
    /// True once the peer was notified of an error of the connection.
    fileprivate var hasFailed: Bool { self.heads?.hasFailed ?? true }

    /// The bytes that the peer may send on a stream before they are read.
    private static let window = 256 * 1024
    /// The most PING, SETTINGS and other frames of one kind within a time. Implementations of gRPC send a PING in each round
    /// trip while content comes, and origins may end each stream by a reset. The codec keeps eight bytes for each frame.
    private static let mostFrames = (count: 2000, time: TimeAmount.milliseconds(100))
    /// The highest cost of waiting frames on a stream, in bytes: that of a full window in frames of some twenty bytes each.
    private static let mostUntaken = 16 * HTTP2Connection.window

    init(_ made: EstablishedConnection, to host: HostNumber, pool: TransferPool) {
        self.made = made
        self.pool = pool
        self.channel = made.makeChannel(on: pool.loop)
        // A GOAWAY may be waiting, which tells which requests were never processed.
        self.channel.readsBeforeFailing = true
        self.number = pool.opened(.http2(self), at: host)
        let most = pool.configuration.responseHead.bytes
        let handler = NIOHTTP2Handler(
            mode: .client, eventLoop: pool.loop, connectionConfiguration: Self.configuration(headLimit: most),
            streamConfiguration: Self.streamConfiguration
        ) { $0.close() }
        do {
            let pipeline = self.channel.pipeline.syncOperations
            let heads = HTTP2HeadFrames(.client, limit: most, watcher: self)
            self.heads = heads
            try pipeline.addHandler(heads)
            try pipeline.addHandler(handler)
            try pipeline.addHandler(OriginConnectionHandler(self))
            self.multiplexer = try handler.syncMultiplexer()
        } catch {
            preconditionFailure("BUG: a new channel takes no handlers: \(error)")
        }
        self.channel.start()
    }

    private static func configuration(headLimit: Int) -> NIOHTTP2Handler.ConnectionConfiguration {
        var settings = NIOHTTP2Handler.ConnectionConfiguration(
            [HTTP2Setting(parameter: .enablePush, value: 0)], headLimit: headLimit, window: Self.window)
        settings.controlFrameRateLimit.maximumCount = Self.mostFrames.count
        settings.controlFrameRateLimit.windowLength = Self.mostFrames.time
        // No limit, as frames on abandoned streams count as well, over the connection's whole life.
        settings.maximumConnectionGlitches = .max
        return settings
    }

    private static var streamConfiguration: NIOHTTP2Handler.StreamConfiguration {
        var stream = NIOHTTP2Handler.StreamConfiguration(window: Self.window)
        // An origin can reset no more streams than were opened to it.
        stream.streamResetFrameRateLimit.maximumCount = Self.mostFrames.count
        stream.streamResetFrameRateLimit.windowLength = Self.mostFrames.time
        stream.streamErrorRateLimit.maximumCount = Self.mostFrames.count
        stream.streamErrorRateLimit.windowLength = Self.mostFrames.time
        return stream
    }

    /// True if another connection to the peer may speak HTTP/1.1.
    var hasAlternative: Bool { self.pool.configuration.httpVersion == .automatic }

    /// True once the peer accepts no more streams, or the connection is over.
    var takesNoMore: Bool { self.phase != .open }

    /// Leaves if another transfer cannot be carried, whatever the number of streams: the channel is being closed, or the peer
    /// is no longer trusted.
    ///
    /// - Returns: true if it leaves.
    func leaveIfUnfit() -> Bool {
        if self.channel.isActive, self.made.isTrusted(at: .now) { return false }
        self.leave()
        return true
    }

    /// Leaves if no frame has come since a moment, while a transfer has waited for one in vain: the way to the peer may be broken,
    /// which TCP notices only after a quarter of an hour. In HTTP/1.1 such a connection ends with its transfer.
    func leaveIfSilent(since moment: NIODeadline) { if self.lastArrival < moment { self.leaveWithTurn() } }

    private func leaveWithTurn() {
        self.leavesWithTurn = true
        self.pool.loop.atEndOfTurn(self)
    }

    /// Carries a transfer.
    func carry(_ transfer: Transfer) {
        if let number { self.pool.beganStream(on: number) }
        let stream = HTTP2Stream(transfer, on: self, limits: self.pool.configuration.responseHead)
        self.streams[ObjectIdentifier(stream)] = stream
        transfer.isCarried(by: stream)
        // Not at once: a channel that fails reports that from within the call.
        if self.starting.isEmpty { self.pool.loop.atEndOfTurn(self) }
        self.starting.append(stream)
    }

    func runAtEndOfTurn() {
        if self.leavesWithTurn, !self.takesNoMore { self.leave() }
        let starting = self.starting
        self.starting.removeAll()
        for stream in starting where !stream.isOver {
            // The peer accepts no more streams; nothing of this one was sent.
            guard !self.takesNoMore else {
                stream.failed(.unseen)
                continue
            }
            let box = NIOLoopBound(stream, eventLoop: self.pool.loop)
            self.multiplexer?.createStreamChannel { channel in
                box.value.begin(on: channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }.whenFailure { _ in box.value.failed(.unseen) }
        }
    }

    /// Notes that a transfer to `authority` was carried to its end.
    func served(_ authority: Authority) {
        if !self.hasServed, self.made.isToOrigin, let session = self.made.tls?.session {
            self.pool.remember(session, self.made.verdict, for: authority)
        }
        self.hasServed = true
    }

    /// Notes the number of a stream. The connection takes no more if the numbers come to their end.
    func began(_ stream: HTTP2Stream, as number: Int) {
        self.streamsByNumber[number] = stream
        if Self.isLast(number) { self.leaveWithTurn() }
    }

    /// True if no stream should follow one of this number: the highest is 2³¹−1 (RFC 9113 §5.1.1), and SwiftNIO's codec
    /// (swift-nio-http2 1.46) traps when it is asked for another. Leaves room for streams that wait in the codec.
    static func isLast(_ number: Int) -> Bool { number > 1 << 30 }

    /// True if the codec has sent the head of the stream; it may keep the head until the peer has room.
    func hasSentHead(of stream: HTTP2Stream) -> Bool { stream.number ?? .max <= self.heads?.lastStream ?? 0 }

    /// The streams that have not begun for the peer: the codec sends the next of them when another one ends.
    private var unsent: [HTTP2Stream] { self.streams.values.filter { !self.hasSentHead(of: $0) } }

    /// The transfers that wait for a stream.
    var waiting: [Transfer] { self.unsent.compactMap(\.transfer) }

    /// Changes the cost of frames that were not taken; `change` is negative if frames were taken or dropped.
    func untaken(changedBy change: Int) {
        self.untaken += change
        // Only the proxy has a budget of memory.
        guard let memory = self.pool.memory else { return }
        self.share.resize(to: self.untaken, of: memory)
    }

    /// Removes a stream that is over.
    func ended(_ stream: HTTP2Stream) {
        if let number = stream.number { self.streamsByNumber[number] = nil }
        // A stream ends twice if its transfer takes the last frames later: for the connection, then for the transfer. Without
        // a number the connection is over.
        guard self.streams.removeValue(forKey: ObjectIdentifier(stream)) != nil, let number else { return }
        if self.pool.endedStream(on: number) { self.close() }
    }

    /// Closes the connection; the transfers on it fail.
    func close() { self.channel.close(promise: nil) }

    fileprivate func received(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .settings(.settings(let settings)):
            // The connection is over.
            guard let number else { return }
            for setting in settings where setting.parameter == .maxConcurrentStreams {
                self.pool.allow(streams: setting.value, on: number)
            }
        case .goAway:
            self.leave()
        case .alternativeService, .data, .headers, .origin, .ping, .priority, .pushPromise, .rstStream, .settings,
            .windowUpdate:
            break
        }
    }

    /// Carries no more transfers: the peer accepts none, or is no longer trusted.
    func leave() {
        // It is over, and its transfers were notified.
        guard let number else { return }
        self.phase = .leaving
        if self.pool.leaves(number) { return self.close() }
        // The codec would still send them: at a GOAWAY it fails only streams that it has sent.
        for stream in self.unsent { stream.failed(.unseen) }
    }

    fileprivate func closed() {
        guard let number else { preconditionFailure("BUG: a connection closes twice") }
        self.phase = .closed
        self.number = nil
        self.pool.closed(number)
        for stream in self.streams.values { stream.connectionEnded() }
    }
}

extension HTTP2Connection: HTTP2FrameWatcher {
    func admits(_ frame: HTTP2FrameHead, content: Int) -> Bool {
        self.lastArrival = self.pool.loop.turnTime
        // PRIORITY reaches no stream.
        guard frame.kind != HTTP2FrameHead.Kind.priority, let stream = self.streamsByNumber[frame.stream] else {
            return true
        }
        stream.untaken += HTTP2FrameHead.cost + content
        self.untaken(changedBy: HTTP2FrameHead.cost + content)
        if stream.untaken > Self.mostUntaken { stream.failed(.excessive) }
        return true
    }

    func sectionEnded() {}
}

/// Handles the frames and events of the connection as a whole.
private final class OriginConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let connection: HTTP2Connection

    init(_ connection: HTTP2Connection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.connection.received(self.unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) { self.connection.closed() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The codec fires errors of streams and of the connection alike. Streams hear of their own; after one of the
        // connection, for which a GOAWAY was sent, no more frames can be parsed.
        if error.isOfHTTP2 {
            guard self.connection.hasFailed else { return }
            self.connection.isBroken = true
        }
        context.close(promise: nil)
    }
}
