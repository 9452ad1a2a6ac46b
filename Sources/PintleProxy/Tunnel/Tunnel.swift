// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A CONNECT tunnel, or a connection that switched protocols: two channels on one loop that write to each other what
/// they read.
///
/// Each direction ends by itself: a client that has sent everything still gets its answer.
final class Tunnel {
    private let lane: Lane
    private let gate: Gate
    private let peer: Client?
    private var report: ExchangeReport
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

    /// Begins to relay. Takes over both connections.
    ///
    /// - Parameters:
    ///   - channel: the client's, with an empty pipeline.
    ///   - early: bytes that the client has sent already.
    ///   - hasFinished: whether the client has sent everything.
    static func open(
        _ terms: TunnelTerms, to channel: SocketChannel, of peer: Client?, on lane: Lane, early: ByteBuffer,
        hasFinished: Bool
    ) {
        terms.report.counters.tunnelOpened()
        Tunnel(terms, channel, peer, lane).begin(terms.early, early, hasFinished)
    }

    private init(_ terms: TunnelTerms, _ channel: SocketChannel, _ peer: Client?, _ lane: Lane) {
        self.watch = terms.watch
        let policy = terms.gate.policy
        if let authority = terms.authority, policy.configuration.destinations.requiresSNIMatch {
            self.helloWatch = HelloWatch(policy, tunnelTo: authority)
        }
        self.lane = lane
        self.gate = terms.gate
        self.peer = peer
        self.report = terms.report
        self.client = channel
        self.origin = terms.origin.makeChannel(on: lane.loop)
        self.origin.account = lane.memory
        self.start = lane.loop.turnTime
        self.lastActivity = self.start
        self.idle = LoopTimer { [weak self] in self?.checkIdle() }
    }

    private func begin(_ earlyAnswer: ByteBuffer, _ early: ByteBuffer, _ hasFinished: Bool) {
        self.lane.add(self)
        guard self.client.isActive else { return self.close() }
        let (up, down) = (TunnelEnd(self, .up), TunnelEnd(self, .down))
        do {
            try self.client.pipeline.syncOperations.addHandler(up)
            try self.origin.pipeline.syncOperations.addHandler(down)
        } catch {
            return self.close()
        }
        // Before the channel begins to read: what it reads comes behind these, and it may be the end.
        if earlyAnswer.readableBytes > 0 { self.relay(earlyAnswer, .down) }
        self.origin.start()
        if early.readableBytes > 0 { self.relay(early, .up) }
        self.origin.setAutoRead(self.client.isWritable)
        self.client.setAutoRead(self.origin.isWritable)
        if let idle { self.lane.loop.arm(idle, at: self.deadline) }
        if hasFinished { self.ended(.up) }
    }

    /// Tells the counters of the route what has moved since they were told last.
    func tellProgress() { self.report.tellProgress() }

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
        case .up: self.report.bytesIn += bytes.readableBytes
        case .down: self.report.bytesOut += bytes.readableBytes
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
                self.report.note(verdict, assurance: .observed)
                break
            }
            if let kind = ViolationKind(error) { self.report.violated(kind) }
            if error.code == .pinMismatch { self.report.counters.pinFailed() }
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
        self.report.rule = rule
        self.report.problem = .destinationDenied
        self.report.error = "the tunnel is broken off by \(rule): \(reason)"
        self.outcome = .failed
        if self.report.bytesOut == 0, self.client.isActive {
            // All that a TLS client is told of it: a fatal alert, access_denied (RFC 8446 §6).
            let alert = ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, 49])
            self.client.pipeline.syncOperations.writeAndFlush(NIOAny(alert), promise: nil)
        }
        self.close()
        self.origin.reset()
    }

    private func breakOff(_ reason: String) {
        self.report.error = reason
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
        self.closeReport()
        if let idle { self.lane.loop.arm(idle, at: self.lane.loop.turnTime + self.gate.patience.body) }
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
        self.lane.census.leave(self.peer)
        self.lane.remove(self)
    }

    private func closeReport() {
        self.report.counters.tunnelClosed()
        self.report.close(self.outcome, in: self.gate)
    }

    private func ends(of direction: TunnelEnd.Direction) -> (from: SocketChannel, to: SocketChannel) {
        direction == .up ? (self.client, self.origin) : (self.origin, self.client)
    }

    /// Whether nothing has passed yet in a tunnel that was opened for its client to speak in. A connection that has switched
    /// protocols may well be silent: it was spoken on before.
    private var awaitsFirstBytes: Bool {
        let patience = self.gate.patience
        return self.report.mode == .tunnel && self.report.bytesIn == 0 && self.report.bytesOut == 0
            && patience.head < patience.tunnel
    }

    private var deadline: NIODeadline {
        let patience = self.gate.patience
        return self.awaitsFirstBytes ? self.start + patience.head : self.lastActivity + patience.tunnel
    }

    private func checkIdle() {
        guard !self.isClosed else { return self.abort() }
        guard self.deadline <= self.lane.loop.turnTime else {
            if let idle { self.lane.loop.arm(idle, at: self.deadline) }
            return
        }
        self.report.error =
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
