// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleTrust

/// A CONNECT tunnel, or a connection that switched protocols: a relay passes on what the client and the origin send.
///
/// Each direction ends by itself: a client that has sent everything still gets its answer. Bytes are seen here only while
/// there is something to be looked at.
final class Tunnel {
    private let exchange: Exchange
    private let lane: Lane
    private let relay: SocketRelay
    /// Nil where there is nothing to be looked at, or no more.
    private var watch: TunnelWatch?
    /// The same for what the client sends.
    private var helloWatch: HelloWatch?
    private var outcome = Outcome.completed
    private var idle: LoopTimer?
    private let start: NIODeadline
    /// Whether nothing more is read to be relayed.
    private var hasEnded = false

    /// Answers the request and begins to relay. Takes over both channels, which give their sockets up.
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
        let connection = exchange.connection
        guard connection.channel.isActive else { return Self.close(origin, insteadOfTunnelFor: exchange) }
        connection.write(answer)
        let sent = connection.detach()
        connection.channel.pipeline.syncOperations.removeHandler(connection, promise: nil)
        // The answer may have shown that the client is gone, which has counted it out.
        guard let client = connection.channel.release() else {
            return Self.close(origin, insteadOfTunnelFor: exchange)
        }
        guard let server = origin.release() else {
            client.close(on: connection.lane.loop)
            connection.lane.census.leave(connection.client)
            return Self.report(exchange, .completed)
        }
        Tunnel(exchange, client: client, server: server, watch: watch).begin(sent: sent, answered: early)
    }

    private init(_ exchange: Exchange, client: ReleasedSocket, server: ReleasedSocket, watch: TunnelWatch?) {
        self.watch = watch
        let policy = exchange.gate.policy
        if exchange.report.mode == .tunnel, policy.configuration.destinations.requiresSNIMatch,
            let decision = exchange.decision
        {
            self.helloWatch = HelloWatch(policy, tunnelTo: decision.authority)
        }
        self.exchange = exchange
        self.lane = exchange.connection.lane
        self.start = self.lane.loop.turnTime
        self.relay = SocketRelay(client: client, server: server, on: self.lane.loop, account: self.lane.memory)
        self.idle = LoopTimer { [weak self] in self?.checkIdle() }
    }

    private func begin(sent: ByteBuffer, answered: ByteBuffer) {
        self.lane.add(self)
        self.relay.inspect(.up, self.helloWatch != nil)
        self.relay.inspect(.down, self.watch != nil)
        if let idle { self.lane.loop.arm(idle, at: self.deadline) }
        self.relay.start(self, sent: sent, answered: answered)
    }

    private static func close(_ origin: SocketChannel, insteadOfTunnelFor exchange: Exchange) {
        origin.close0(error: ChannelError.eof, mode: .all, promise: nil)
        Self.report(exchange, .completed)
    }

    private static func report(_ exchange: Exchange, _ outcome: Outcome) {
        exchange.report.counters.tunnelClosed()
        exchange.report.close(exchange, outcome: outcome)
    }

    /// The bytes that have been relayed so far. On the lane's thread.
    var bytesRelayed: (up: Int, down: Int) { (self.relay.bytesWritten(.up), self.relay.bytesWritten(.down)) }

    // MARK: Looking at what passes

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
        self.relay.inspect(.down, false)
        return true
    }

    /// What the server may get of what the client sends; nil where that is nothing yet, or nothing any more.
    private func passed(_ bytes: ByteBuffer) -> ByteBuffer? {
        switch self.helloWatch?.look(at: bytes) {
        case .held: return nil
        case .passed(let bytes):
            if self.helloWatch?.isOver == true {
                self.helloWatch = nil
                self.relay.inspect(.up, false)
            }
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
        if !self.hasRelayed(.down) {
            // All that a TLS client is told of it: a fatal alert, access_denied (RFC 8446 §6).
            self.relay.tellClient(ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, 49]))
        }
        self.relay.close(dropping: .up)
    }

    private func breakOff(_ reason: String) {
        self.exchange.report.error = reason
        self.outcome = .failed
        self.abort()
    }

    // MARK: The end

    /// Breaks both connections.
    func abort() { self.relay.abort() }

    private func hasRelayed(_ direction: SocketRelay.Direction) -> Bool {
        self.relay.bytesWritten(direction) + self.relay.bytesInFlight(direction) > 0
    }

    /// Whether nothing has passed yet in a tunnel that was opened for its client to speak in. A connection that has switched
    /// protocols may well be silent: it was spoken on before.
    private var awaitsFirstBytes: Bool {
        let patience = self.exchange.gate.patience
        return self.exchange.report.mode == .tunnel && patience.head < patience.tunnel && !self.hasRelayed(.up)
            && !self.hasRelayed(.down)
    }

    private var deadline: NIODeadline {
        let patience = self.exchange.gate.patience
        if self.awaitsFirstBytes { return self.start + patience.head }
        // What is left is to be read by one who sends nothing more.
        return self.relay.lastActivity + (self.relay.hasReadAll ? patience.body : patience.tunnel)
    }

    private func checkIdle() {
        guard !self.hasEnded else { return self.abort() }
        guard self.deadline <= self.lane.loop.turnTime else {
            if let idle { self.lane.loop.arm(idle, at: self.deadline) }
            return
        }
        self.exchange.report.error =
            self.awaitsFirstBytes
            ? "nothing was sent in the tunnel within limits.header_timeout"
            : "the tunnel was idle for limits.tunnel_idle_timeout"
        self.relay.close()
    }
}

extension Tunnel: SocketRelayDelegate {
    func relay(
        _ relay: SocketRelay, read bytes: ByteBuffer, going direction: SocketRelay.Direction
    ) -> ByteBuffer? {
        switch direction {
        case .up: self.passed(bytes)
        case .down: self.passes(bytes) ? bytes : nil
        }
    }

    func relay(_ relay: SocketRelay, finishedReading direction: SocketRelay.Direction) {
        if direction == .up, self.helloWatch?.isHolding == true {
            return self.refuseHello("its ClientHello is cut off")
        }
        guard relay.hasReadAll, relay.bytesInFlight(.up) + relay.bytesInFlight(.down) > 0, let idle else { return }
        self.lane.loop.arm(idle, at: self.deadline)
    }

    func relayEnded(_ relay: SocketRelay) {
        self.hasEnded = true
        // What is still in flight is on its way out.
        self.exchange.report.bytesIn = relay.bytesWritten(.up) + relay.bytesInFlight(.up)
        self.exchange.report.bytesOut = relay.bytesWritten(.down) + relay.bytesInFlight(.down)
        Self.report(self.exchange, self.outcome)
        if let idle { self.lane.loop.arm(idle, at: self.lane.loop.turnTime + self.exchange.gate.patience.body) }
    }

    func relayClosed(_ relay: SocketRelay) {
        if let idle { self.lane.loop.disarm(idle) }
        self.idle = nil
        self.lane.census.leave(self.exchange.connection.client)
        self.lane.remove(self)
    }
}
