// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// Serves the client of an intercepted tunnel, or of a captured connection, that uses neither TLS nor HTTP, or that waits for its
/// server to speak first, as clients of SMTP, FTP and MySQL do. Pintle cannot inspect such a tunnel: the policy for tunnels
/// that are not intercepted decides if it is relayed or refused.
///
/// A client that is silent for a moment may only be slow. So Pintle connects to the server, and the first to speak decides: a
/// handshake is intercepted however late it comes, and a silent client's tunnel becomes opaque only if the server speaks.
/// Otherwise a client could evade interception by waiting.
final class OpaqueTunnel: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private enum State {
        /// The tunnel is not known to be opaque yet, and there is no connection.
        case waiting
        /// A connection to the server is being made.
        case connecting(any OriginStream)
        /// The server may speak.
        case listening(SocketChannel)
        case over
    }

    private let tunnel: any UndecidedTunnel
    private lazy var plan = RequestPlan(
        self.tunnel.request.head, .none, by: self.active.policy, of: self.tunnel.identity,
        tunnel: TunnelKind(isOpaque: true, isCaptured: self.tunnel.isCaptured))
    private var state = State.waiting
    /// The record of the tunnel; nil until the tunnel is known to be opaque.
    private var report: ExchangeReport?
    private var metrics = TransferMetrics()
    private var parentVerdict: Verdict?
    private var silence: LoopTimer?
    /// The wait for an answer about the destination.
    private var pendingAnswer: PendingAnswer?

    private var active: ActiveConfiguration { self.tunnel.active }
    private var worker: Worker { self.tunnel.worker }

    /// Watches the first bytes of a tunnel's client. The tunnel keeps this object until they are known, or the connection
    /// ends.
    static func watch(_ tunnel: any UndecidedTunnel) {
        let watch = OpaqueTunnel(tunnel)
        tunnel.whenRecognized = { watch.clientSpeaks($0) }
        tunnel.channel.closeFuture.assumeIsolated().whenComplete { [weak watch] _ in watch?.clientLeft() }
        if let silence = watch.silence {
            watch.worker.loop.arm(silence, at: watch.worker.loop.turnTime + Silence.inTunnel)
        }
    }

    private init(_ tunnel: any UndecidedTunnel) {
        self.tunnel = tunnel
        self.silence = LoopTimer { [weak self] in self?.clientIsSilent() }
    }

    // MARK: The client

    private func clientIsSilent() {
        // The client has spoken.
        guard case .waiting = self.state, !self.tunnel.hasBegun else { return }
        // A CONNECT has judged the destination; a client that was captured did not ask for it.
        guard self.tunnel.isCaptured else { return self.connect() }
        switch self.tunnel.request.plan(by: self.active.policy, of: self.tunnel.identity).step {
        case .refuse, .ask: self.judge("its client waits for the server to speak first") { $0.connect() }
        case .respond, .answer, .collect, .send, .tunnel: self.connect()
        }
    }

    /// Called within a read of the client's transport.
    private func clientSpeaks(_ language: OpeningProtocol) {
        guard language == .other else { return self.end() }
        LoopBound(self, loop: self.worker.loop).run { $0.beginOpaquely() }
    }

    /// Continues with a client whose first bytes wait in the transport.
    private func beginOpaquely() {
        if case .over = self.state { return }
        // A tunnel that was judged before goes its way, and a refused one has ended.
        guard self.report == nil else { return }
        self.judge("its client speaks neither TLS nor HTTP") { tunnel in
            switch tunnel.state {
            case .waiting: tunnel.connect()
            case .listening(let channel): tunnel.relay(channel, answered: ByteBuffer())
            // `originHandedOver` continues when the connection is made.
            case .connecting, .over: break
            }
        }
    }

    private func clientLeft() {
        if case .over = self.state { return }
        self.report?.error = "the client closed the connection"
        self.report?.close(.cancelled, in: self.active)
        self.end()
    }

    // MARK: The server

    private func connect() {
        guard let decision = self.plan.decision else { preconditionFailure("BUG: nothing says where a tunnel goes") }
        let head = self.tunnel.request.head
        let fields = self.active.parent(of: decision) == nil ? Fields() : Forwarding.path(of: head, to: self.active.via)
        var request = TunnelOpening.request(.http, to: self.tunnel.authority, by: decision, fields)
        request.way = self.active.way(decision.way)
        (request.client, request.owner) = (self.tunnel.client?.forTransfers, self.tunnel.owner)
        request.limitsWaiting = true
        self.state = .connecting(self.worker.connect(request, in: self.active.session(for: nil).session, for: self))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The tunnel has ended, and the server is not heard any more.
        guard case .listening(let channel) = self.state else { return }
        // Copied, because the receive buffer belongs to the event loop.
        let words = ByteBuffer(bytes: self.unwrapInboundIn(data).readableBytesView)
        self.judge("its client waits for the server to speak first") { $0.relay(channel, answered: words) }
    }

    /// The server has closed without speaking; the client may still speak.
    func channelInactive(context: ChannelHandlerContext) {
        if case .listening = self.state { self.state = .waiting }
    }

    // MARK: The decision

    /// Applies the policy for tunnels that are not intercepted. A refused tunnel ends.
    ///
    /// - Parameter proceed: called once the tunnel is allowed: now, or, before there is a connection, after an answer.
    private func judge(_ reason: String, then proceed: @escaping (OpaqueTunnel) -> Void) {
        let report = ExchangeReport(
            self.tunnel.request, of: self.tunnel.client, in: self.tunnel.clientProcess, on: self.worker)
        // That a client was captured is told here for the first time.
        (report.identity, report.continuesTunnel) = (self.tunnel.identity, !self.tunnel.isCaptured)
        report.isOpaque = true
        report.note(self.plan, in: self.active)
        self.report = report
        if let problem = self.objection(report) ?? report.holdTunnel(within: self.active.limits) {
            return self.refuse(problem, reason, report)
        }
        guard case .ask = self.plan.step else {
            report.status = 200
            return proceed(self)
        }
        self.pendingAnswer = self.worker.ask(
            about: self.plan, for: self.tunnel.request.head, of: self.tunnel.clientProcess, as: report.id.sequence,
            self.tunnel.allowed
        ) { answer in
            // The client has left, or has spoken.
            if case .over = self.state { return }
            self.pendingAnswer = nil
            self.tunnel.waits(forAnswer: false)
            switch answer {
            case .failure(let problem): self.refuse(problem, reason, report)
            case .success(let allowed):
                self.plan = self.plan.granted(by: allowed.rule)
                (report.rule, report.status) = (allowed.rule, 200)
                proceed(self)
            }
        }
        if self.pendingAnswer != nil { self.tunnel.waits(forAnswer: true) }
    }

    private func refuse(_ problem: Problem, _ reason: String, _ report: ExchangeReport) {
        let cause = self.tunnel.isCaptured ? "cannot be read" : "cannot be intercepted"
        self.fail(Problem(problem.name, "\(reason), so that it \(cause): \(problem.detail)"), report)
    }

    private func objection(_ report: ExchangeReport) -> Problem? {
        if case .refuse(let problem) = self.plan.step { return problem }
        guard let trust = self.plan.decision?.trust else { return nil }
        let rule = trust.index == nil ? "tunnels.verify" : trust.reason
        report.rule = DecidingRule(rule)
        return Problem(
            .destinationDenied,
            "\(self.tunnel.authority) must prove itself in a TLS handshake, by \(rule); connect: tunnel on a route for it relays "
                + "what is no TLS")
    }

    private func fail(_ problem: Problem, _ report: ExchangeReport) {
        report.note(problem)
        report.close(.failed, in: self.active)
        self.end()
        self.tunnel.abort()
    }

    private func relay(_ channel: SocketChannel, answered: ByteBuffer) {
        self.state = .waiting
        guard let socket = channel.release() else { preconditionFailure("BUG: a channel that listens is closed") }
        self.relay(socket, answered: answered)
    }

    private func relay(_ socket: DetachedSocket, answered: ByteBuffer) {
        guard let report else { preconditionFailure("BUG: a tunnel is relayed before it is judged") }
        report.note(self.metrics)
        report.note(parent: self.parentVerdict)
        self.end()
        self.tunnel.leave(
            to: TunnelTerms(
                origin: socket, head: nil, early: answered, filter: nil, watch: nil,
                authority: self.tunnel.authority, report: report, active: self.active))
    }

    /// Releases the client, and closes the server's connection unless it was handed over.
    private func end() {
        let state = self.state
        self.state = .over
        if let silence { self.worker.loop.disarm(silence) }
        (self.silence, self.pendingAnswer) = (nil, nil)
        self.tunnel.whenRecognized = nil
        switch state {
        case .connecting(let origin): origin.cancel()
        case .listening(let channel): channel.close(promise: nil)
        case .waiting, .over: break
        }
    }
}

extension OpaqueTunnel: TransferDelegate {
    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        guard case .connecting(let origin) = self.state else {
            preconditionFailure("BUG: a connection comes that no tunnel asked for")
        }
        (self.metrics, self.parentVerdict) = (metrics, origin.proxyVerdict)
        self.state = .waiting
        if self.report != nil { return self.relay(handoff.connection.release(), answered: ByteBuffer()) }
        let channel = handoff.connection.makeChannel(on: self.worker.loop)
        self.state = .listening(channel)
        do {
            try channel.pipeline.syncOperations.addHandler(self)
        } catch {
            preconditionFailure("BUG: a new channel takes no handler: \(error)")
        }
        channel.start()
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.metrics = metrics
        self.state = .waiting
        guard let error else { self.trap() }
        // The client may still speak, and be answered inside of its tunnel.
        guard let report else { return }
        let problem = self.active.problem(error, asking: self.plan.decision)
        report.note(metrics)
        report.note(error, as: problem.name)
        self.fail(problem, report)
    }

    func originSent(interim head: ResponseHead) { self.trap() }
    func originAnswered(_ head: ResponseHead, length: UInt64?) { self.trap() }
    func originSent(_ bytes: UnsafeRawBufferPointer) { self.trap() }
    func originSent(_ piped: PipedBytes) { self.trap() }
    func originSent(trailers fields: Fields) { self.trap() }
    func originTookBody(_ count: Int) { self.trap() }

    private func trap() -> Never { preconditionFailure("BUG: a bare connection was asked for, and a response comes") }
}
