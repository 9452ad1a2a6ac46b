// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A CONNECT tunnel, or a connection that has switched protocols: a relay between the client and the origin.
///
/// Each direction ends by itself: a client that has sent everything still gets its response. The bytes pass through here only
/// while they need to be inspected.
final class Tunnel: ServedTunnel {
    private let worker: Worker
    private let active: ActiveConfiguration
    /// The client of the tunnel; nil if the system does not identify it.
    private let peer: Client?
    private let report: ExchangeReport
    private let relay: SocketRelay
    /// The bytes of the response head that were not sent when the tunnel began.
    private let unsentHead: Int
    /// Inspects the server's bytes; nil when done or not needed.
    private var watch: ServerCertificateInspector?
    /// Inspects the ClientHello; nil when done or not needed.
    private var helloInspector: ClientHelloInspector?
    /// Changes the origin's bytes; nil if they pass as they are.
    private let filter: (any HandedOverFilter)?
    /// Keeps the messages of a WebSocket; nil if none are kept.
    private var messages: MessageWatch?
    private var outcome = Outcome.completed
    private var idle: LoopTimer?
    private let start: NIODeadline
    /// True if no more bytes are read for the relay.
    private var hasEnded = false
    /// True if the client's connection is only for the tunnel, and is counted out with it.
    private let ownsConnection: Bool

    /// Begins to relay. Takes over both connections; the client's channel releases its socket.
    ///
    /// - Parameters:
    ///   - channel: the client's channel, to which the response was written.
    ///   - sent: the bytes that the client has sent already.
    static func open(
        _ terms: TunnelTerms, to channel: SocketChannel, of peer: Client?, on worker: Worker, sent: ByteBuffer
    ) {
        // The channel may have noticed, when the response was written, that the client has left; it is counted out then.
        guard let client = channel.release() else { return Self.giveUp(terms) }
        terms.report.counters.tunnelOpened()
        let tunnel = Tunnel(terms, client: client, of: peer, on: worker, ownsConnection: true)
        tunnel.begin(sent: sent, answered: terms.early)
    }

    /// Begins to relay between the origin and a stream of a client, to which the response was written.
    static func open(_ terms: TunnelTerms, over stream: any RelayStream, of peer: Client?, on worker: Worker) -> Tunnel
    {
        terms.report.counters.tunnelOpened()
        let tunnel = Tunnel(terms, client: DetachedSocket(stream), of: peer, on: worker, ownsConnection: false)
        tunnel.begin(sent: ByteBuffer(), answered: terms.early)
        return tunnel
    }

    /// Closes the origin's connection, because the client has left.
    static func giveUp(_ terms: TunnelTerms) {
        let report = terms.report
        for keeper in report.messageKeepers { keeper.end() }
        terms.origin.close(on: report.worker.loop)
        report.counters.tunnelOpened()
        report.counters.tunnelClosed()
        report.close(.completed, in: terms.active)
    }

    private init(
        _ terms: TunnelTerms, client: DetachedSocket, of peer: Client?, on worker: Worker, ownsConnection: Bool
    ) {
        self.ownsConnection = ownsConnection
        (self.watch, self.filter) = (terms.watch, terms.filter)
        let policy = terms.active.policy
        if let authority = terms.authority, policy.configuration.destinations.requiresSNIMatch {
            self.helloInspector = ClientHelloInspector(policy, tunnelTo: authority, of: terms.report.identity)
        }
        self.messages = terms.head.flatMap { MessageWatch($0, terms.report.messageKeepers) }
        self.worker = worker
        self.active = terms.active
        self.peer = peer
        self.report = terms.report
        self.start = worker.loop.turnTime
        self.relay = SocketRelay(
            client: client, server: terms.origin, on: worker.loop, account: worker.memory)
        self.unsentHead = self.relay.bytesInFlight(.down)
        // unowned: the relay keeps its tunnel until it is closed, which disarms the timer.
        self.idle = LoopTimer { [unowned self] in self.checkIdle() }
    }

    private func begin(sent: ByteBuffer, answered: ByteBuffer) {
        self.worker.add(self)
        self.relay.inspect(.up, self.helloInspector != nil || self.messages != nil)
        self.relay.inspect(.down, self.watch != nil || self.filter != nil || self.messages != nil)
        if let idle { self.worker.loop.arm(idle, at: self.deadline) }
        self.relay.start(self, sent: sent, answered: answered)
    }

    var running: any ExchangeProgress {
        self.countBytes()
        return self.report
    }

    private func countBytes() {
        self.report.bytesIn = self.relay.bytesWritten(.up)
        self.report.bytesOut = max(0, self.relay.bytesWritten(.down) - self.unsentHead)
    }

    // MARK: Inspection

    /// True if the client may get these bytes of the server; false for a certificate that the policy refuses.
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

    /// Returns the bytes of the client that the server may get now; nil if there are none.
    private func passed(_ bytes: ByteBuffer) -> ByteBuffer? {
        switch self.helloInspector?.look(at: bytes) {
        case .held: return nil
        case .passed(let bytes):
            self.noteHello()
            return bytes
        case .reported(let bytes, let reason):
            self.report.note(hello: reason, isReported: true)
            self.noteHello()
            self.stopWatchingHello()
            return bytes
        case .refused(let reason):
            self.refuseHello(reason)
            return nil
        case nil: return bytes
        }
    }

    /// Keeps the messages in bytes that pass. A protocol that was switched to has no other inspection.
    private func pass(
        _ bytes: ByteBuffer, _ direction: SocketRelay.Direction, _ messages: MessageWatch
    ) -> ByteBuffer {
        messages.take(bytes, direction)
        if messages.isOver {
            self.relay.inspect(.up, false)
            self.relay.inspect(.down, self.filter != nil)
        }
        return bytes
    }

    /// Returns the origin's bytes as the client gets them; nil if there are none now.
    private func filtered(_ bytes: ByteBuffer) -> ByteBuffer? {
        guard let filter else { return bytes }
        do throws(HandedOverRefusal) {
            let passed = try filter.take(bytes)
            return passed.readableBytes > 0 ? passed : nil
        } catch {
            self.breakOff("the connection is broken off: \(error)")
            return nil
        }
    }

    private func noteHello() {
        if self.helloInspector?.hasNamelessHello == true { self.report.hasNamelessHello = true }
        if self.helloInspector?.isOver == true { self.stopWatchingHello() }
    }

    private func stopWatchingHello() {
        self.helloInspector = nil
        self.relay.inspect(.up, false)
    }

    private func refuseHello(_ reason: String) {
        self.report.note(hello: reason, isReported: false)
        self.outcome = .failed
        if !self.hasRelayed(.down) {
            // A TLS client can only be told by a fatal alert: access_denied (RFC 8446 §6).
            self.relay.tellClient(ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, 49]))
        }
        self.relay.close(dropping: .up)
    }

    private func breakOff(_ reason: String) {
        self.report.error = reason
        self.outcome = .failed
        self.abort()
    }

    // MARK: The end

    /// Resets both connections.
    func abort() { self.relay.abort() }

    private func hasRelayed(_ direction: SocketRelay.Direction) -> Bool {
        let head = direction == .down ? self.unsentHead : 0
        return self.relay.bytesWritten(direction) + self.relay.bytesInFlight(direction) > head
    }

    /// True if no bytes have passed yet in a tunnel opened by CONNECT. A connection that has switched protocols may be silent,
    /// because it was used before.
    private var awaitsFirstBytes: Bool {
        let patience = self.active.patience
        return self.report.mode == .tunnel && patience.head < patience.tunnel && !self.hasRelayed(.up)
            && !self.hasRelayed(.down)
    }

    private var deadline: NIODeadline {
        let patience = self.active.patience
        if self.awaitsFirstBytes { return self.start + patience.head }
        // The remaining bytes wait for a recipient that sends nothing more.
        return self.relay.lastActivity + (self.relay.hasReadAll ? patience.body : patience.tunnel)
    }

    private func checkIdle() {
        guard !self.hasEnded else { return self.abort() }
        guard self.deadline <= self.worker.loop.turnTime else {
            if let idle { self.worker.loop.arm(idle, at: self.deadline) }
            return
        }
        self.report.error =
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
        guard let bytes = direction == .down ? self.filtered(bytes) : bytes else { return nil }
        if let messages { return self.pass(bytes, direction, messages) }
        return switch direction {
        case .up: self.passed(bytes)
        case .down: self.passes(bytes) ? bytes : nil
        }
    }

    func relay(_ relay: SocketRelay, finishedReading direction: SocketRelay.Direction) {
        if direction == .up, self.helloInspector?.isHolding == true {
            return self.refuseHello("its ClientHello is cut off")
        }
        // One side still sends, or nothing waits to be sent.
        guard relay.hasReadAll, relay.bytesInFlight(.up) + relay.bytesInFlight(.down) > 0, let idle else { return }
        self.worker.loop.arm(idle, at: self.deadline)
    }

    func relayEnded(_ relay: SocketRelay) {
        self.hasEnded = true
        if let idle { self.worker.loop.arm(idle, at: self.worker.loop.turnTime + self.active.patience.body) }
    }

    func relayClosed(_ relay: SocketRelay) {
        if let idle { self.worker.loop.disarm(idle) }
        self.idle = nil
        // The bytes in flight at the end are written by now, or never will be.
        self.countBytes()
        self.messages?.end()
        // A comparison takes its time, on another thread.
        self.report.compareMessages { self.close() }
    }

    private func close() {
        self.report.counters.tunnelClosed()
        self.report.close(self.outcome, in: self.active)
        if self.ownsConnection { self.worker.limiter.leave(self.peer) }
        self.worker.remove(self)
    }
}
