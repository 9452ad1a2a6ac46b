// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// A connection on which a client speaks HTTP/2 (RFC 9113), by SwiftNIO's codec: a stream for each request.
///
/// The codec ends connections that break the protocol, or that flood it with resets, settings, pings, or pieces of header
/// sections; `HTTP2FrameWatch` sees the rest.
final class HTTP2ClientConnection {
    /// Says who speaks, and to whom.
    struct Caller {
        let client: Client?
        /// The problem for which nothing is served over this connection; nil where it is served.
        let refusal: Problem?
        /// The tunnel that the requests come out of; nil for requests to the proxy.
        let tunnel: InterceptedTunnel?
        let place: HTTP2RequestHead.Place
    }

    let lane: Lane
    let caller: Caller
    let owner = ConnectionOwner()
    private let channel: SocketChannel
    private var streams: [ObjectIdentifier: HTTP2ClientStream] = [:]
    private var streamsByNumber: [Int: HTTP2ClientStream] = [:]
    /// The highest number of a stream that there was.
    private var lastNumber = 0
    /// When its last stream ended, or it began.
    private var emptySince = NIODeadline.uptimeNanoseconds(0)
    private var timer: LoopTimer?
    private var isLeaving = false
    /// When the client was told that nothing more will be written.
    private var finishedSince: NIODeadline?
    /// The reader of its frames, until it is closed.
    private var frames: (reader: HTTP2HeadFrames, watch: HTTP2FrameWatch)?
    /// Bytes of answers that the client has not taken.
    private var unsent = 0
    /// Bytes of requests that nobody has taken.
    private var untaken = 0
    /// The bytes that are drawn from the common memory for both.
    private var share = MemoryShare()
    private var isCongested = false
    private var ownResets = 0

    /// The most requests at a time. Each may hold a window of what it sends, and a piece of its answer that came before anybody
    /// knew that it is not read: 64 KiB and 128 KiB, so that a connection without scruples holds some tens of MiB.
    static let mostStreams = 256
    /// The bytes that a client may send on a stream before they are read.
    private static let window = 64 * 1024
    /// Above the first, answers wait for a client to take some of what it has not; below the second they go on.
    private static let unsentLimits = (high: 8 * 1024 * 1024, low: 4 * 1024 * 1024)
    /// The most that waits for its streams to take it, in bytes: the window of the connection, in frames of a few bytes each.
    private static let mostUntaken = 16 * 1024 * 1024
    /// Streams that were broken off for what the client did; the codec counts those that it breaks off, up to the same number.
    private static let mostOwnResets = 200
    /// Streams that a client may break off in 30 seconds. Behind a proxy that is how a tunnel is closed.
    private static let mostResets = 1000
    /// How often it is looked at what has taken too long.
    private static let pulse = TimeAmount.seconds(1)
    /// How long a client that was told of the end may take to end the connection.
    private static let lingering = TimeAmount.seconds(2)

    /// Takes over a connection on which the client has chosen `h2`, and nothing was read but `bytes`.
    static func begin(on channel: SocketChannel, for caller: Caller, on lane: Lane, with bytes: ByteBuffer) {
        // A client that ends a connection of HTTP/2 waits for no answer on it.
        channel.allowsHalfClosure = false
        let connection = HTTP2ClientConnection(channel, caller, lane)
        let box = NIOLoopBound(connection, eventLoop: lane.loop)
        let handler = NIOHTTP2Handler(
            mode: .server, eventLoop: lane.loop, connectionConfiguration: Self.configuration(lane.active),
            streamConfiguration: Self.streamConfiguration
        ) { channel in
            channel.eventLoop.makeCompletedFuture { try box.value.accept(channel) }
        }
        let watch = HTTP2FrameWatch(connection)
        let reader = HTTP2HeadFrames(.server, limit: lane.active.headLimits.bytes, watcher: watch)
        connection.frames = (reader, watch)
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(reader)
            try pipeline.addHandler(handler)
            try pipeline.addHandler(ConnectionHandler(connection))
            lane.add(connection)
            // The channel may have ended while the codec wrote its settings, before there was a handler to be told.
            channel.closeFuture.assumeIsolated().whenComplete { _ in connection.closed() }
            pipeline.fireChannelRead(NIOAny(bytes))
            pipeline.fireChannelReadComplete()
        } catch {
            preconditionFailure("BUG: an open channel takes no handlers: \(error)")
        }
    }

    private static func configuration(_ active: ActiveConfiguration) -> NIOHTTP2Handler.ConnectionConfiguration {
        var settings = NIOHTTP2Handler.ConnectionConfiguration()
        settings.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.mostStreams),
            HTTP2Setting(parameter: .headerTableSize, value: HTTP2HeadFrames.decoderTable),
            HTTP2Setting(
                parameter: .maxHeaderListSize, value: HTTP2HeadFrames.decoderLimit(for: active.headLimits.bytes)),
            HTTP2Setting(parameter: .initialWindowSize, value: Self.window),
            HTTP2Setting(parameter: .enableConnectProtocol, value: 1),
        ]
        // The streams do so: a client that was refused may end short of its length.
        settings.contentLengthValidation = .disabled
        settings.targetWindowSize = 16 * Self.window
        settings.maximumSequentialContinuationFrames = HTTP2HeadFrames.mostContinuations(for: active.headLimits.bytes)
        // Content is still under way on streams that were reset: as many as there may be at a time, and those before them. On
        // others it ends the connection.
        settings.maximumRecentlyResetStreams = 2 * Self.mostStreams
        // Answers to a flood wait for a client that does not read them.
        settings.maximumBufferedControlFrames = 2 * Self.mostStreams
        // Counted over all of a connection's life; HTTP2FrameWatch counts those that follow each other.
        settings.maximumSequentialEmptyDataFrames = 10_000
        return settings
    }

    private static var streamConfiguration: NIOHTTP2Handler.StreamConfiguration {
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.targetWindowSize = Self.window
        stream.outboundBufferSizeHighWatermark = 64 * 1024
        stream.outboundBufferSizeLowWatermark = 32 * 1024
        stream.streamResetFrameRateLimit.maximumCount = Self.mostResets
        return stream
    }

    private init(_ channel: SocketChannel, _ caller: Caller, _ lane: Lane) {
        self.channel = channel
        self.caller = caller
        self.lane = lane
        self.emptySince = lane.loop.turnTime
        // unowned: `closed` disarms the timer.
        let timer = LoopTimer { [unowned self] in self.beat() }
        self.timer = timer
        lane.loop.arm(timer, at: lane.loop.turnTime + Self.pulse)
    }

    // MARK: Streams

    private func accept(_ channel: any Channel) throws {
        let number = try channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID) ?? .rootStream
        let stream = HTTP2ClientStream(on: self, channel: channel, number: Int(number))
        try channel.syncOptions?.setOption(ChannelOptions.autoRead, value: false)
        try channel.pipeline.syncOperations.addHandler(stream)
        self.streams[ObjectIdentifier(stream)] = stream
        self.streamsByNumber[stream.number] = stream
        self.lastNumber = max(self.lastNumber, stream.number)
    }

    /// A stream is over.
    func ended(_ stream: HTTP2ClientStream) {
        guard self.streams.removeValue(forKey: ObjectIdentifier(stream)) != nil else { return }
        self.streamsByNumber[stream.number] = nil
        guard self.streams.isEmpty else { return }
        self.emptySince = self.lane.loop.turnTime
        if self.isLeaving { self.finish() }
    }

    /// True for the number of a stream that is over on both sides.
    func hasEnded(_ number: Int) -> Bool {
        number & 1 == 1 && number <= self.lastNumber && self.streamsByNumber[number] == nil
    }

    /// A stream was broken off for what its client did. Who does that for ever has the connection ended: the work of each
    /// stream is done for nobody.
    func resetByFault() {
        self.ownResets += 1
        if self.ownResets > Self.mostOwnResets { self.fail(.enhanceYourCalm) }
    }

    /// Takes no more of what has come in this turn, and goes on in the next.
    func goOnLater() {
        self.channel.setAutoRead(false)
        let box = NIOLoopBound(self, eventLoop: self.lane.loop)
        let turn = self.lane.loop.turn
        self.lane.loop.execute { box.value.goOn(after: turn) }
    }

    private func goOn(after turn: UInt64) {
        guard let reader = self.frames?.reader else { return }
        guard self.lane.loop.turn != turn else { return self.goOnLater() }
        reader.goOn()
        if !reader.isPausing { self.channel.setAutoRead(true) }
    }

    // MARK: Memory

    /// False while the client does not take what it has asked for.
    var hasRoom: Bool { !self.isCongested }

    /// Bytes of answers were written, or the client has taken some, where `change` is negative.
    func unsent(changedBy change: Int) {
        self.unsent += change
        self.count()
        if self.isCongested {
            guard self.unsent < Self.unsentLimits.low else { return }
            self.isCongested = false
            for stream in Array(self.streams.values) { stream.mayHaveRoom() }
        } else if self.unsent > Self.unsentLimits.high {
            self.isCongested = true
        }
    }

    /// Something has come on a stream, and takes so many bytes until it is taken.
    func received(_ count: Int, on number: Int) {
        guard let stream = self.streamsByNumber[number] else { return }
        stream.untaken += count
        self.untaken(changedBy: count)
        if self.untaken > Self.mostUntaken { self.fail(.enhanceYourCalm) }
    }

    /// Content was taken, or dropped, where `change` is negative.
    func untaken(changedBy change: Int) {
        self.untaken += change
        self.count()
    }

    private func count() {
        // After the end there is nothing to give back any more.
        guard self.timer != nil else { return }
        self.share.resize(to: self.unsent + self.untaken, of: self.lane.memory)
    }

    // MARK: Time

    private func beat() {
        let (now, patience) = (self.lane.loop.turnTime, self.lane.active.patience)
        if let finishedSince {
            let limit = self.channel.pendingWriteBytes > 0 ? patience.body : Self.lingering
            if finishedSince + limit <= now { return self.channel.reset() }
        } else {
            for stream in Array(self.streams.values) { stream.checkTime() }
            if let since = self.frames?.watch.sectionSince, since + patience.head <= now { self.fail(.protocolError) }
            if self.streams.isEmpty, self.emptySince + patience.idle <= now { self.drain() }
        }
        if let timer { self.lane.loop.arm(timer, at: now + Self.pulse) }
    }

    // MARK: The end

    /// Says that nothing more will be written, and closes when the client has ended its side: a close with unread input would
    /// take from it what was written last.
    private func finish() {
        guard self.finishedSince == nil else { return }
        self.finishedSince = self.lane.loop.turnTime
        self.channel.close(mode: .output, promise: nil)
    }

    /// Ends the connection for what the client did (RFC 9113 §5.4.1).
    func fail(_ code: HTTP2ErrorCode) {
        self.goAway(code)
        self.failed()
    }

    /// Says which streams are served. The codec looks at no later one, so that its client may ask elsewhere (RFC 9113 §6.8).
    private func goAway(_ code: HTTP2ErrorCode) {
        let last = HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(lastStreamID: HTTP2StreamID(self.lastNumber), errorCode: code, opaqueData: nil))
        self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(last), promise: nil)
    }

    /// The client was told that the connection ends for what it did.
    fileprivate func failed() {
        for stream in Array(self.streams.values) { stream.leave() }
        self.finish()
    }

    /// True once the client was told of an error of the connection.
    fileprivate var hasFailed: Bool { self.frames?.reader.hasFailed ?? true }

    fileprivate func closed() {
        guard let timer else { return }
        self.owner.end()
        self.lane.loop.disarm(timer)
        self.share.resize(to: 0, of: self.lane.memory)
        self.timer = nil
        self.frames = nil
        self.lane.census.leave(self.caller.client)
        self.lane.remove(self)
    }
}

extension HTTP2ClientConnection: ServedConnection {
    /// Takes no more requests, and closes when the last answer has left.
    func drain() {
        guard !self.isLeaving else { return }
        self.isLeaving = true
        self.goAway(.noError)
        if self.streams.isEmpty { self.finish() }
    }

    func closeIfIdle(since end: NIODeadline) { if self.streams.isEmpty, self.emptySince <= end { self.drain() } }

    func abort() {
        for stream in Array(self.streams.values) { stream.abort() }
        self.channel.reset()
    }

    func tellProgress() -> Bool {
        for stream in self.streams.values { stream.exchange?.tellProgress() }
        return !self.streams.isEmpty
    }
}

extension HTTP2ClientConnection.Caller {
    init(client: Client?, refusal: Problem?, tunnel: InterceptedTunnel?, _ tls: TLSTransport) {
        let place = tunnel.map { HTTP2RequestHead.Place.tunnel($0.scheme) }
        self.init(
            client: client, refusal: refusal, tunnel: tunnel,
            place: place ?? .listener(serverName: tls.serverName, port: tls.port))
    }
}

/// Takes what concerns the connection as a whole.
private final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let connection: HTTP2ClientConnection

    init(_ connection: HTTP2ClientConnection) { self.connection = connection }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error.isOfHTTP2 else { return context.close(promise: nil) }
        // The streams are told of theirs; after one of the connection nothing can be understood any more.
        if self.connection.hasFailed { self.connection.failed() }
    }
}
