// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// An HTTP/2 connection of a client (RFC 9113), with SwiftNIO's codec: one stream per request.
///
/// The codec ends connections that break the protocol, or that flood it with resets, settings, pings, or pieces of header
/// sections; `HTTP2FrameWatch` covers the rest.
final class HTTP2ClientConnection {
    /// Client identity and local address of the connection.
    struct Caller {
        let client: Client?
        /// The process of the client; nil if it is not on this machine.
        let process: ClientProcess?
        /// The problem for which all requests of this connection are refused; nil if they are served.
        let refusal: Problem?
        /// The connection that contains the requests; nil for requests to the proxy.
        let enclosure: (any RequestEnclosure)?
        let place: HTTP2RequestHead.Place
    }

    let worker: Worker
    let caller: Caller
    let owner = ConnectionOwner()
    private let channel: SocketChannel
    private var streams: [ObjectIdentifier: HTTP2ClientStream] = [:]
    private var streamsByNumber: [Int: HTTP2ClientStream] = [:]
    /// The highest stream number so far.
    private var lastNumber = 0
    /// The time when the last stream ended; initially, when the connection began.
    private var emptySince = NIODeadline.uptimeNanoseconds(0)
    private var timer: LoopTimer?
    private var isLeaving = false
    /// The time when the output was closed.
    private var finishedSince: NIODeadline?
    /// The reader of the connection's frames, until the connection is closed.
    private var frames: (reader: HTTP2HeadFrames, watch: HTTP2FrameWatch)?
    /// The response bytes that the client has not taken.
    private var unsent = 0
    /// The request bytes that no exchange has taken.
    private var untaken = 0
    /// The share of the common memory for both.
    private var share = MemoryReservation()
    private var isCongested = false
    private var ownResets = 0
    /// The streams whose content is dropped, because their response has ended.
    private var discarding = 0

    /// The most concurrent requests. Each may hold one window of its upload (64 KiB) and one piece of its response (128 KiB)
    /// that arrived before back-pressure took effect; so a hostile connection holds some tens of MiB.
    static let mostStreams = 256
    /// The most streams whose content is dropped at a time, so that as many are left for further requests.
    private static let mostDiscarding = HTTP2ClientConnection.mostStreams / 2
    /// The window of a stream, in bytes.
    private static let window = 64 * 1024
    /// Above `high`, responses wait until the client takes some of the unsent bytes; below `low` they continue.
    private static let unsentLimits = (high: 8 * 1024 * 1024, low: 4 * 1024 * 1024)
    /// The most untaken request bytes: the window of the connection, filled with tiny frames.
    private static let mostUntaken = 16 * 1024 * 1024
    /// The most streams that may be broken off here because of faults of the client; the codec has the same limit for those
    /// that it breaks off.
    private static let mostOwnResets = 200
    /// The most streams that a client may reset in 30 seconds. A client of a proxy closes tunnels in this way.
    private static let mostResets = 1000
    /// The most PING frames within a time.
    private static let mostPings = (count: 200, time: TimeAmount.milliseconds(10))
    /// The interval of the timer that checks timeouts.
    private static let pulse = TimeAmount.seconds(1)
    /// The time for which a client may keep the connection open after its end was announced.
    private static let lingering = TimeAmount.seconds(2)

    /// Takes over a connection on which the client has chosen `h2`; only `bytes` were read from it.
    static func begin(on channel: SocketChannel, for caller: Caller, on worker: Worker, with bytes: ByteBuffer) {
        // An HTTP/2 client that has ended its side does not wait for responses.
        channel.allowsHalfClosure = false
        let connection = HTTP2ClientConnection(channel, caller, worker)
        let box = NIOLoopBound(connection, eventLoop: worker.loop)
        let handler = NIOHTTP2Handler(
            mode: .server, eventLoop: worker.loop, connectionConfiguration: Self.configuration(worker.active),
            streamConfiguration: Self.streamConfiguration
        ) { channel in
            channel.eventLoop.makeCompletedFuture { try box.value.accept(channel) }
        }
        let watch = HTTP2FrameWatch(connection)
        let reader = HTTP2HeadFrames(.server, limit: worker.active.headLimits.bytes, watcher: watch)
        connection.frames = (reader, watch)
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(reader)
            try pipeline.addHandler(handler)
            try pipeline.addHandler(ClientConnectionHandler(connection))
            worker.add(connection)
            // The channel may have ended while the codec wrote its settings, before the handler was there.
            channel.closeFuture.assumeIsolated().whenComplete { _ in connection.closed() }
            pipeline.fireChannelRead(NIOAny(bytes))
            pipeline.fireChannelReadComplete()
        } catch {
            preconditionFailure("BUG: an open channel takes no handlers: \(error)")
        }
    }

    private static func configuration(_ active: ActiveConfiguration) -> NIOHTTP2Handler.ConnectionConfiguration {
        var settings = NIOHTTP2Handler.ConnectionConfiguration(
            [
                HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.mostStreams),
                HTTP2Setting(parameter: .enableConnectProtocol, value: 1),
            ],
            headLimit: active.headLimits.bytes, window: Self.window)
        // After a reset, content may still be under way: on as many streams as are allowed at a time, and on as many before
        // them. Content on any other stream ends the connection.
        settings.maximumRecentlyResetStreams = 2 * Self.mostStreams
        // Responses to a flood wait for a client that does not read them.
        settings.maximumBufferedControlFrames = 2 * Self.mostStreams
        // Clients of gRPC send a PING in each round trip while content comes. `HTTP2FrameWatch` counts SETTINGS.
        settings.controlFrameRateLimit.maximumCount = Self.mostPings.count
        settings.controlFrameRateLimit.windowLength = Self.mostPings.time
        return settings
    }

    private static var streamConfiguration: NIOHTTP2Handler.StreamConfiguration {
        var stream = NIOHTTP2Handler.StreamConfiguration(window: Self.window)
        stream.streamResetFrameRateLimit.maximumCount = Self.mostResets
        return stream
    }

    private init(_ channel: SocketChannel, _ caller: Caller, _ worker: Worker) {
        self.channel = channel
        self.caller = caller
        self.worker = worker
        self.emptySince = worker.loop.turnTime
        // unowned: `closed` disarms the timer.
        let timer = LoopTimer { [unowned self] in self.beat() }
        self.timer = timer
        worker.loop.arm(timer, at: worker.loop.turnTime + Self.pulse)
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

    /// Removes a stream that is over.
    func ended(_ stream: HTTP2ClientStream) {
        // A stream that was reset hears of the end of its channel, too.
        guard self.streams.removeValue(forKey: ObjectIdentifier(stream)) != nil else { return }
        self.streamsByNumber[stream.number] = nil
        // The connection is neither idle nor drained before its last stream ends.
        guard self.streams.isEmpty else { return }
        self.emptySince = self.worker.loop.turnTime
        if self.isLeaving { self.finish() }
    }

    /// True if the number is that of a stream that is over on both sides.
    func hasEnded(_ number: Int) -> Bool {
        number & 1 == 1 && number <= self.lastNumber && self.streamsByNumber[number] == nil
    }

    /// True for a stream behind the last one that a GOAWAY has named.
    func hasRefused(_ number: Int) -> Bool { self.isLeaving && number > self.lastNumber }

    /// Counts a stream that was broken off because of a fault of the client. The connection ends if there are too many, because
    /// the work for such streams is wasted.
    func resetByFault() {
        self.ownResets += 1
        if self.ownResets > Self.mostOwnResets { self.fail(.enhanceYourCalm) }
    }

    /// Counts a stream whose content is dropped.
    ///
    /// - Returns: false if there are too many of them.
    func beginDiscarding() -> Bool {
        guard self.discarding < Self.mostDiscarding else { return false }
        self.discarding += 1
        return true
    }

    func endDiscarding() { self.discarding -= 1 }

    /// Stops reading for this turn, and continues in the next.
    func goOnLater() {
        self.channel.setAutoRead(false)
        let box = NIOLoopBound(self, eventLoop: self.worker.loop)
        let turn = self.worker.loop.turn
        self.worker.loop.execute { box.value.goOn(after: turn) }
    }

    private func goOn(after turn: UInt64) {
        // The connection has closed meanwhile.
        guard let reader = self.frames?.reader else { return }
        guard self.worker.loop.turn != turn else { return self.goOnLater() }
        reader.goOn()
        if !reader.isPausing { self.channel.setAutoRead(true) }
    }

    // MARK: Memory

    /// False while the client does not take the responses that it has requested.
    var hasRoom: Bool { !self.isCongested }

    /// Counts response bytes that were written, or, if `change` is negative, taken by the client.
    func unsent(changedBy change: Int) {
        self.unsent += change
        self.count()
        if self.isCongested {
            // Between the limits nothing changes, so that streams do not stop and continue for every frame.
            guard self.unsent < Self.unsentLimits.low else { return }
            self.isCongested = false
            for stream in Array(self.streams.values) { stream.mayHaveRoom() }
        } else if self.unsent > Self.unsentLimits.high {
            self.isCongested = true
        }
    }

    /// Counts the cost of a frame that has arrived on a stream, until it is taken.
    func received(_ count: Int, on number: Int) {
        // Frames of streams that are over, and of the connection, are not held.
        guard let stream = self.streamsByNumber[number] else { return }
        stream.untaken += count
        self.untaken(changedBy: count)
        if self.untaken > Self.mostUntaken { self.fail(.enhanceYourCalm) }
    }

    /// Counts request bytes that have arrived, or, if `change` is negative, were taken or dropped.
    func untaken(changedBy change: Int) {
        self.untaken += change
        self.count()
    }

    private func count() {
        // After the end, no memory is held.
        guard self.timer != nil else { return }
        self.share.resize(to: self.unsent + self.untaken, of: self.worker.memory)
    }

    // MARK: Time

    private func beat() {
        let (now, patience) = (self.worker.loop.turnTime, self.worker.active.patience)
        if let finishedSince {
            let limit = self.channel.pendingWriteBytes > 0 ? patience.body : Self.lingering
            if finishedSince + limit <= now { return self.channel.reset() }
        } else {
            for stream in Array(self.streams.values) { stream.checkTime() }
            if let since = self.frames?.watch.sectionSince, since + patience.head <= now { self.fail(.protocolError) }
            if self.streams.isEmpty, self.emptySince + patience.idle <= now { self.drain() }
        }
        if let timer { self.worker.loop.arm(timer, at: now + Self.pulse) }
    }

    // MARK: The end

    /// Closes the output, and waits until the client has ended its side: a close with unread input would destroy the bytes
    /// written last. Does nothing if the output is closed.
    private func finish() {
        guard self.finishedSince == nil else { return }
        self.finishedSince = self.worker.loop.turnTime
        self.channel.close(mode: .output, promise: nil)
    }

    /// Ends the connection because of an error of the client (RFC 9113 §5.4.1).
    func fail(_ code: HTTP2ErrorCode) {
        self.goAway(code)
        self.failed()
    }

    /// Announces the last stream that is served. The codec ignores later ones, so that the client may repeat them elsewhere
    /// (RFC 9113 §6.8).
    private func goAway(_ code: HTTP2ErrorCode) {
        let last = HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(lastStreamID: HTTP2StreamID(self.lastNumber), errorCode: code, opaqueData: nil))
        self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(last), promise: nil)
    }

    /// Leaves all streams after the client was sent an error of the connection.
    fileprivate func failed() {
        for stream in Array(self.streams.values) { stream.leave() }
        self.finish()
    }

    /// True once the client was sent an error of the connection.
    fileprivate var hasFailed: Bool { self.frames?.reader.hasFailed ?? true }

    fileprivate func closed() {
        guard let timer else { preconditionFailure("BUG: a connection closes twice") }
        self.owner.end()
        self.worker.loop.disarm(timer)
        self.share.resize(to: 0, of: self.worker.memory)
        self.timer = nil
        self.frames = nil
        self.worker.limiter.leave(self.caller.client)
        self.worker.remove(self)
    }
}

extension HTTP2ClientConnection: ServedConnection {
    /// Accepts no more requests, and closes after the last response. Does nothing if that was announced before.
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

    var running: [any ExchangeProgress] { self.streams.values.compactMap(\.exchange?.progress) }
}

extension HTTP2ClientConnection.Caller {
    init(
        client: Client?, process: ClientProcess?, refusal: Problem?, enclosure: (any RequestEnclosure)?,
        _ tls: TLSTransport
    ) {
        let place = enclosure.map { HTTP2RequestHead.Place.tunnel($0.place.scheme) }
        self.init(
            client: client, process: process, refusal: refusal, enclosure: enclosure,
            place: place ?? .listener(serverName: tls.serverName, port: tls.port))
    }
}

/// Handles the events of the connection as a whole.
private final class ClientConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let connection: HTTP2ClientConnection

    init(_ connection: HTTP2ClientConnection) { self.connection = connection }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error.isOfHTTP2 else { return context.close(promise: nil) }
        // Errors of streams go to the streams; after an error of the connection nothing can be parsed any more.
        if self.connection.hasFailed { self.connection.failed() }
    }
}
