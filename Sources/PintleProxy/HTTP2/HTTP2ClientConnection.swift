// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy

/// A connection on which a client speaks HTTP/2 (RFC 9113), by SwiftNIO's codec: a stream for each request.
///
/// The codec ends connections that break the protocol, or that flood it with resets, settings, pings, empty frames or pieces
/// of header sections.
final class HTTP2ClientConnection {
    let lane: Lane
    let client: Client?
    /// The tunnel that the requests come out of.
    let tunnel: InterceptedTunnel
    private let channel: SocketChannel
    private var streams: [ObjectIdentifier: HTTP2ClientStream] = [:]
    private var idleSince = NIODeadline.uptimeNanoseconds(0)
    private var timer: LoopTimer?
    private var isLeaving = false

    /// The most requests at a time.
    private static let mostStreams = 1024
    /// The bytes that a client may send on a stream before they are read.
    private static let window = 64 * 1024
    /// How often it is looked at what has taken too long.
    private static let pulse = TimeAmount.seconds(1)

    /// Takes over a connection on which the client has chosen `h2`, and nothing was read but `bytes`.
    static func begin(
        on channel: SocketChannel, in tunnel: InterceptedTunnel, of client: Client?, on lane: Lane,
        with bytes: ByteBuffer
    ) {
        // Who ends a connection of HTTP/2 waits for no answer on it.
        channel.allowsHalfClosure = false
        let connection = HTTP2ClientConnection(channel, tunnel, client, lane)
        var settings = NIOHTTP2Handler.ConnectionConfiguration()
        settings.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.mostStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: lane.active.headLimits.bytes),
            HTTP2Setting(parameter: .initialWindowSize, value: Self.window),
        ]
        settings.targetWindowSize = 16 * Self.window
        // Answers to a flood wait for a client that does not read them.
        settings.maximumBufferedControlFrames = 256
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.targetWindowSize = Self.window
        stream.outboundBufferSizeHighWatermark = 64 * 1024
        stream.outboundBufferSizeLowWatermark = 32 * 1024
        let box = NIOLoopBound(connection, eventLoop: lane.loop)
        let handler = NIOHTTP2Handler(
            mode: .server, eventLoop: lane.loop, connectionConfiguration: settings, streamConfiguration: stream
        ) { channel in
            channel.eventLoop.makeCompletedFuture { try box.value.accept(channel) }
        }
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(handler)
            try pipeline.addHandler(ConnectionHandler(connection))
            lane.add(connection)
            pipeline.fireChannelRead(NIOAny(bytes))
            pipeline.fireChannelReadComplete()
        } catch {
            preconditionFailure("BUG: an open channel takes no handlers: \(error)")
        }
    }

    private init(_ channel: SocketChannel, _ tunnel: InterceptedTunnel, _ client: Client?, _ lane: Lane) {
        self.channel = channel
        self.tunnel = tunnel
        self.client = client
        self.lane = lane
        self.idleSince = lane.loop.turnTime
        // unowned: `closed` disarms the timer.
        let timer = LoopTimer { [unowned self] in self.beat() }
        self.timer = timer
        lane.loop.arm(timer, at: lane.loop.turnTime + Self.pulse)
    }

    private func accept(_ channel: any Channel) throws {
        let stream = HTTP2ClientStream(on: self, channel: channel)
        try channel.syncOptions?.setOption(ChannelOptions.autoRead, value: false)
        try channel.pipeline.syncOperations.addHandler(stream)
        self.streams[ObjectIdentifier(stream)] = stream
    }

    /// A stream is over.
    func ended(_ stream: HTTP2ClientStream) {
        guard self.streams.removeValue(forKey: ObjectIdentifier(stream)) != nil, self.streams.isEmpty else { return }
        self.idleSince = self.lane.loop.turnTime
        if self.isLeaving { self.channel.close(promise: nil) }
    }

    private func beat() {
        for stream in self.streams.values { stream.checkTime() }
        if self.streams.isEmpty, self.idleSince + self.lane.active.patience.idle <= self.lane.loop.turnTime {
            return self.drain()
        }
        if let timer { self.lane.loop.arm(timer, at: self.lane.loop.turnTime + Self.pulse) }
    }

    fileprivate func closed() {
        guard let timer else { return }
        self.lane.loop.disarm(timer)
        self.timer = nil
        self.lane.census.leave(self.client)
        self.lane.remove(self)
    }
}

extension HTTP2ClientConnection: ServedConnection {
    /// Takes no more requests, and closes when the last answer has left.
    func drain() {
        guard !self.isLeaving else { return }
        self.isLeaving = true
        let last = HTTP2Frame(
            streamID: .rootStream, payload: .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil))
        self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(last), promise: nil)
        if self.streams.isEmpty { self.channel.close(promise: nil) }
    }

    func abort() {
        for stream in self.streams.values { stream.abort() }
        self.channel.reset()
    }

    func tellProgress() -> Bool {
        for stream in self.streams.values { stream.exchange?.tellProgress() }
        return !self.streams.isEmpty
    }
}

/// Takes what concerns the connection as a whole.
private final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let connection: HTTP2ClientConnection

    init(_ connection: HTTP2ClientConnection) { self.connection = connection }

    func channelInactive(context: ChannelHandlerContext) {
        self.connection.closed()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The streams are told of theirs; after one of the connection nothing can be understood any more.
        guard !(error is NIOHTTP2Errors.StreamError) else { return }
        context.close(promise: nil)
    }
}
