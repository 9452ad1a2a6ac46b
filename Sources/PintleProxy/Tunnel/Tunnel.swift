// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleTrust

/// A CONNECT tunnel, or a connection that switched protocols: two channels on one loop that write to each other what
/// they read.
///
/// Each direction ends by itself: a client that has sent everything still gets its answer.
final class Tunnel {
    private let exchange: Exchange
    private let lane: Lane
    private let client: SocketChannel
    private let origin: SocketChannel
    /// Nil where there is nothing to be looked at, or no more.
    private var watch: TunnelWatch?
    /// The same for what the client sends.
    private var helloWatch: HelloWatch?
    private var outcome = Outcome.completed
    private var idle: LoopTimer?
    private let start: NIODeadline
    private var lastActivity: NIODeadline
    private var openDirections = 2
    private var isClosed = false

    /// Answers the request and begins to relay. Takes over both channels.
    ///
    /// - Parameters:
    ///   - origin: a channel with an empty pipeline, started or not.
    ///   - watch: looks at what the server sends in clear, before the client gets it.
    ///   - early: what the origin has sent already.
    ///   - answer: writes the head that the client gets.
    static func open(
        for exchange: Exchange, to origin: SocketChannel, watchedBy watch: TunnelWatch? = nil,
        early: ByteBuffer = ByteBuffer(), answer: (inout ByteBuffer) -> Void
    ) {
        exchange.report.counters.tunnelOpened()
        Tunnel(exchange: exchange, origin: origin, watch: watch).begin(early, answer)
    }

    private init(exchange: Exchange, origin: SocketChannel, watch: TunnelWatch?) {
        self.watch = watch
        let policy = exchange.gate.policy
        if exchange.report.mode == .tunnel, policy.configuration.destinations.requiresSNIMatch,
            let decision = exchange.decision
        {
            self.helloWatch = HelloWatch(policy, tunnelTo: decision.authority)
        }
        self.exchange = exchange
        self.lane = exchange.connection.lane
        self.client = exchange.connection.channel
        self.origin = origin
        origin.account = exchange.connection.lane.memory
        self.start = exchange.connection.lane.loop.turnTime
        self.lastActivity = self.start
        self.idle = LoopTimer { [weak self] in self?.checkIdle() }
    }

    private func begin(_ earlyAnswer: ByteBuffer, _ answer: (inout ByteBuffer) -> Void) {
        let connection = self.exchange.connection
        guard self.client.isActive else {
            self.isClosed = true
            self.origin.close0(error: ChannelError.eof, mode: .all, promise: nil)
            return self.report()
        }
        connection.write(answer)
        self.lane.add(self)
        let early = connection.detach()
        let (up, down) = (TunnelEnd(self, .up), TunnelEnd(self, .down))
        do {
            let pipeline = self.client.pipeline.syncOperations
            pipeline.removeHandler(connection, promise: nil)
            try pipeline.addHandler(up)
            try self.origin.pipeline.syncOperations.addHandler(down)
        } catch {
            return self.close()
        }
        self.origin.start()
        if earlyAnswer.readableBytes > 0 { self.relay(earlyAnswer, .down) }
        if early.readableBytes > 0 { self.relay(early, .up) }
        self.origin.setAutoRead(self.client.isWritable)
        self.client.setAutoRead(self.origin.isWritable)
        if let idle { self.lane.loop.arm(idle, at: self.deadline) }
        if connection.hasFinished { self.ended(.up) }
    }

    // MARK: Relaying

    func relay(_ bytes: ByteBuffer, _ direction: TunnelEnd.Direction) {
        guard !self.isClosed else { return }
        self.lastActivity = self.lane.loop.turnTime
        if direction == .down, self.watch != nil, !self.passes(bytes) { return }
        var bytes = bytes
        if direction == .up, self.helloWatch != nil {
            guard let passed = self.passed(bytes) else { return }
            bytes = passed
        }
        let (from, to) = self.ends(of: direction)
        switch direction {
        case .up: self.exchange.report.bytesIn += bytes.readableBytes
        case .down: self.exchange.report.bytesOut += bytes.readableBytes
        }
        to.pipeline.syncOperations.writeAndFlush(NIOAny(bytes), promise: nil)
        if !to.isWritable { from.setAutoRead(false) }
    }

    /// Whether the client may get what the server sends: not a certificate that the policy refuses.
    private func passes(_ bytes: ByteBuffer) -> Bool {
        switch self.watch?.look(at: bytes) {
        case .nothing, nil: return true
        case .hidden: break
        case .seen(let verdict):
            guard let error = verdict.error else {
                self.exchange.report.note(verdict, assurance: .observed)
                break
            }
            if let kind = ViolationKind(error) { self.exchange.report.violated(kind) }
            if error.code == .pinMismatch { self.exchange.report.counters.pinFailed() }
            self.breakOff("the tunnel shows its client a certificate that is refused: \(error.message)")
            return false
        case .unreadable:
            self.breakOff("the tunnel shows its client a certificate that cannot be read")
            return false
        }
        self.watch = nil
        return true
    }

    /// What the server may get of what the client sends; nil where that is nothing yet, or nothing any more.
    private func passed(_ bytes: ByteBuffer) -> ByteBuffer? {
        switch self.helloWatch?.look(at: bytes) {
        case .held: return nil
        case .passed(let bytes):
            if self.helloWatch?.isOver == true { self.helloWatch = nil }
            return bytes
        case .refused(let reason):
            self.refuseHello(reason)
            return nil
        case nil: return bytes
        }
    }

    private func refuseHello(_ reason: String) {
        let rule = "destinations.require_sni_match"
        self.exchange.report.rule = rule
        self.exchange.report.problem = .destinationDenied
        self.exchange.report.error = "the tunnel is broken off by \(rule): \(reason)"
        self.outcome = .failed
        if self.exchange.report.bytesOut == 0, self.client.isActive {
            // All that a TLS client is told of it: a fatal alert, access_denied (RFC 8446 §6).
            let alert = ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, 49])
            self.client.pipeline.syncOperations.writeAndFlush(NIOAny(alert), promise: nil)
        }
        self.close()
        self.origin.reset()
    }

    private func breakOff(_ reason: String) {
        self.exchange.report.error = reason
        self.outcome = .failed
        self.abort()
    }

    /// The receiving end of a direction takes bytes again.
    func caughtUp(_ direction: TunnelEnd.Direction) {
        let (from, to) = self.ends(of: direction)
        if to.isWritable { from.setAutoRead(true) }
    }

    /// The sending end of a direction has sent everything.
    func ended(_ direction: TunnelEnd.Direction) {
        if direction == .up, self.helloWatch?.isHolding == true {
            return self.refuseHello("its ClientHello is cut off")
        }
        self.openDirections -= 1
        guard self.openDirections > 0 else { return self.close() }
        self.ends(of: direction).to.close0(error: ChannelError.eof, mode: .output, promise: nil)
    }

    /// An end is gone: so is the tunnel.
    func close() {
        if self.isClosed { return self.leaveIfOver() }
        self.isClosed = true
        for channel in [self.client, self.origin] {
            if channel.pendingWriteBytes > 0, channel.isActive {
                // What was relayed is still on its way out.
                channel.close0(error: ChannelError.eof, mode: .output, promise: nil)
                channel.setAutoRead(true)
            } else {
                channel.close0(error: ChannelError.eof, mode: .all, promise: nil)
            }
        }
        self.report()
        if let idle { self.lane.loop.arm(idle, at: self.lane.loop.turnTime + self.exchange.gate.patience.body) }
        self.leaveIfOver()
    }

    /// Breaks both connections.
    func abort() {
        self.client.reset()
        self.origin.reset()
        self.close()
    }

    private func leaveIfOver() {
        guard !self.client.isActive, !self.origin.isActive, let idle else { return }
        self.lane.loop.disarm(idle)
        self.idle = nil
        self.lane.census.leave(self.exchange.connection.client)
        self.lane.remove(self)
    }

    private func report() {
        self.exchange.report.counters.tunnelClosed()
        self.exchange.report.close(self.exchange, outcome: self.outcome)
    }

    private func ends(of direction: TunnelEnd.Direction) -> (from: SocketChannel, to: SocketChannel) {
        direction == .up ? (self.client, self.origin) : (self.origin, self.client)
    }

    /// Whether nothing has passed yet in a tunnel that was opened for its client to speak in. A connection that has switched
    /// protocols may well be silent: it was spoken on before.
    private var awaitsFirstBytes: Bool {
        let (report, patience) = (self.exchange.report, self.exchange.gate.patience)
        return report.mode == .tunnel && report.bytesIn == 0 && report.bytesOut == 0 && patience.head < patience.tunnel
    }

    private var deadline: NIODeadline {
        let patience = self.exchange.gate.patience
        return self.awaitsFirstBytes ? self.start + patience.head : self.lastActivity + patience.tunnel
    }

    private func checkIdle() {
        guard !self.isClosed else { return self.abort() }
        guard self.deadline <= self.lane.loop.turnTime else {
            if let idle { self.lane.loop.arm(idle, at: self.deadline) }
            return
        }
        self.exchange.report.error =
            self.awaitsFirstBytes
            ? "nothing was sent in the tunnel within limits.header_timeout"
            : "the tunnel was idle for limits.tunnel_idle_timeout"
        self.close()
    }
}

/// One end of a tunnel: gives what it reads to the other.
final class TunnelEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The direction of what this end reads.
    enum Direction { case up, down }

    private let tunnel: Tunnel
    private let direction: Direction

    init(_ tunnel: Tunnel, _ direction: Direction) {
        self.tunnel = tunnel
        self.direction = direction
    }

    func handlerAdded(context: ChannelHandlerContext) {
        _ = context.channel.setOption(ChannelOptions.allowRemoteHalfClosure, value: true)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.tunnel.relay(self.unwrapInboundIn(data), self.direction)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.tunnel.caughtUp(self.direction == .up ? .down : .up)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { self.tunnel.ended(self.direction) }
    }

    func channelInactive(context: ChannelHandlerContext) { self.tunnel.close() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
