// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A connection that was captured on its way: its client believes that it is connected with its destination.
///
/// It is treated as a CONNECT to that destination, and its first bytes decide the rest. A ClientHello is judged, and relayed,
/// verified or intercepted, as in a tunnel. If the destination is an address whose name is not known, the ClientHello has the
/// name, and the connection is made to the addresses of that name, whichever one the client has connected to. Requests in clear are
/// judged one by one. All else is opaque, and an ``OpaqueTunnel``, which also serves clients that wait for their server to speak.
/// Requests that cannot be read, such as those of HTTP/2 without TLS, are opaque by a rule that lets every protocol through.
final class CapturedConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private enum State {
        /// The first bytes are not known.
        case undecided
        /// The CONNECT of a client that speaks TLS is being served.
        case connecting(Exchange)
        /// The client reads why it was refused.
        case refused
        case over
    }

    let worker: Worker
    let channel: SocketChannel
    let client: Client?
    let clientProcess: ClientProcess?
    let owner = ConnectionOwner()
    /// The destination; the server that a ClientHello names in place of an address.
    private(set) var authority: Authority
    let active: ActiveConfiguration
    var whenRecognized: ((OpeningProtocol) -> Void)?
    private let refusal: Problem?
    /// True if the names that clients look up are not known, so that a ClientHello may name the server of an address.
    private let takesName: Bool
    private var state = State.undecided
    /// The bytes that the client has sent.
    private var early = ByteBuffer()
    private var hasEndedInput = false
    private var status: UInt16 = 0
    private var timer: LoopTimer?

    /// The most bytes that are held before it is known where they go.
    private static let mostEarly = 64 * 1024
    /// The longest time for which a refused client may read its alert.
    private static let lingering = TimeAmount.seconds(2)
    /// The fatal alerts access_denied and internal_error (RFC 8446 §6).
    private static let (denied, failed) = ([21, 3, 3, 0, 2, 2, 49] as [UInt8], [21, 3, 3, 0, 2, 2, 80] as [UInt8])

    /// Serves an accepted connection, which was counted in.
    ///
    /// - Parameters:
    ///   - channel: has not begun to read.
    ///   - refusal: the problem for which the client is refused; nil if it is served.
    ///   - takesName: true if a ClientHello may name the server of an address.
    static func serve(
        _ channel: SocketChannel, to authority: Authority, of client: Client?, in process: ClientProcess?,
        on worker: Worker, refusal: Problem?, takesName: Bool
    ) throws {
        let connection = CapturedConnection(
            channel, to: authority, of: client, in: process, on: worker, refusal, takesName: takesName)
        try channel.pipeline.syncOperations.addHandler(connection)
        channel.start()
    }

    private init(
        _ channel: SocketChannel, to authority: Authority, of client: Client?, in process: ClientProcess?,
        on worker: Worker, _ refusal: Problem?, takesName: Bool
    ) {
        (self.channel, self.authority, self.worker) = (channel, authority, worker)
        (self.client, self.clientProcess) = (client, process)
        self.active = worker.active
        self.takesName = takesName && IPAddress(authority.host) != nil
        self.refusal = refusal ?? worker.active.refusal(of: client)
        self.timer = LoopTimer { [weak self] in self?.timedOut() }
    }

    // MARK: The channel's events

    func channelActive(context: ChannelHandlerContext) {
        self.channel.allowsHalfClosure = true
        self.worker.add(self)
        // A refused client is heard for a moment, so that the refusal is in its language.
        self.expect(within: self.refusal == nil ? self.active.patience.head : Silence.inTunnel)
        if self.refusal == nil { OpaqueTunnel.watch(self) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.state {
        case .undecided, .connecting: break
        case .refused, .over: return
        }
        var bytes = self.unwrapInboundIn(data)
        self.early.writeBuffer(&bytes)
        if self.early.readableBytes >= Self.mostEarly { self.channel.setAutoRead(false) }
        self.decide()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        self.hasEndedInput = true
        switch self.state {
        // A client that has said nothing needs no answer; one that has ended within its first line is answered.
        case .undecided: if self.early.readableBytes == 0 { self.channel.close(promise: nil) } else { self.decide() }
        case .refused: self.channel.close(promise: nil)
        case .connecting, .over: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let state = self.state
        self.leave()
        if case .connecting(let exchange) = state { exchange.clientLeft() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: The first bytes

    private func decide() {
        // It is decided already.
        guard case .undecided = self.state, !self.isJudgedAsOpaque else { return }
        let known = OpeningProtocol(of: self.early.readableBytesView, takesAnyProtocol: self.takesAnyProtocol)
        // More bytes are needed, unless there are none.
        let rest: OpeningProtocol = self.takesAnyProtocol ? .other : .http
        guard let language = known ?? (self.hasEndedInput ? rest : nil) else { return }
        if language == .tls, self.takesName, self.refusal == nil, !self.readServerName() { return }
        let tell = self.whenRecognized
        if language == .other { self.isJudgedAsOpaque = true } else { self.whenRecognized = nil }
        tell?(language)
        switch language {
        case .tls:
            self.speaksTLS = true
            self.connect(self.refusal)
        case .http:
            if self.speaksHTTP2 { self.connect(self.refusal ?? self.refusalOfHTTP2) } else { self.serveRequests() }
        case .other:
            // The connection that is being made has a time limit of its own.
            self.disarm()
            if let refusal { self.connect(refusal) }
        }
    }

    /// True if a rule lets every protocol through to the destination.
    private lazy var takesAnyProtocol = self.active.policy.takesAnyProtocol(to: self.authority, of: self.identity)

    /// True if the client speaks HTTP/2 without TLS: nothing else has this method (RFC 9113 §3.4).
    private var speaksHTTP2: Bool { self.early.readableBytesView.starts(with: "PRI ".utf8) }

    /// The problem with a client that speaks HTTP/2 without TLS; that with its destination, if there is one.
    private var refusalOfHTTP2: Problem {
        if case .refuse(let problem) = self.request.plan(by: self.active.policy, of: self.identity).step {
            return problem
        }
        return Problem(
            .destinationDenied,
            "its client speaks HTTP/2 without TLS, so that its requests cannot be read: destinations.allow with "
                + "\"tcp://\(self.authority)\" lets every protocol through")
    }

    /// Reads the name in a ClientHello, and makes it the destination.
    ///
    /// - Returns: false if more bytes are needed. The head's time limit applies to them.
    private func readServerName() -> Bool {
        var reader = ClientHelloReader()
        switch reader.read(Array(buffer: self.early)) {
        case .undecided: return self.hasEndedInput || self.early.readableBytes >= Self.mostEarly
        case .hello(let name):
            if let name, let named = Authority(name, defaultPort: self.authority.port), !named.host.isEmpty,
                IPAddress(named.host) == nil, named.port == self.authority.port
            {
                self.authority = named
                self.request = ReceivedRequest(
                    RequestHead(method: "CONNECT", target: .authority(named), minorVersion: 1), .none, isCaptured: true)
            }
            return true
        // The tunnel's own inspection refuses a malformed one.
        case .malformed, .otherProtocol, .nothingNew: return true
        }
    }

    /// True once the ``OpaqueTunnel`` has the connection.
    private var isJudgedAsOpaque = false
    private var speaksTLS = false

    /// The CONNECT that the client would have sent.
    private(set) lazy var request = ReceivedRequest(
        RequestHead(method: "CONNECT", target: .authority(self.authority), minorVersion: 1), .none, isCaptured: true)

    /// - Parameter refusal: the problem for which the client is refused; nil if it is judged.
    private func connect(_ refusal: Problem?) {
        let exchange = Exchange(self.request, from: self, of: self.client, on: self.worker)
        self.state = .connecting(exchange)
        self.disarm()
        if let refusal { exchange.refuse(refusal) } else { exchange.begin() }
    }

    /// Continues with the client's requests, each of which is judged by itself.
    private func serveRequests() {
        let requests = ClientConnection(
            worker: self.worker, channel: self.channel, tls: nil, client: self.client, process: self.clientProcess,
            refusal: self.refusal, inside: CapturedRequests(to: self.authority))
        let early = self.handOver()
        self.channel.setAutoRead(true)
        let pipeline = self.channel.pipeline.syncOperations
        do {
            try pipeline.addHandler(requests)
        } catch {
            preconditionFailure("BUG: an open channel takes no handler: \(error)")
        }
        pipeline.fireChannelActive()
        pipeline.fireChannelRead(NIOAny(early))
        if self.hasEndedInput { pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    }

    // MARK: The end

    /// Leaves the pipeline to another handler, or the socket to another owner.
    ///
    /// - Returns: the bytes that the client has sent.
    private func handOver() -> ByteBuffer {
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        defer { self.early = ByteBuffer() }
        self.leave(isClientLeaving: false)
        return self.early
    }

    /// - Parameter isClientLeaving: false if the client continues elsewhere.
    private func leave(isClientLeaving: Bool = true) {
        if case .over = self.state { return }
        self.state = .over
        self.disarm()
        self.timer = nil
        self.owner.end()
        if isClientLeaving { self.worker.limiter.leave(self.client) }
        self.worker.remove(self)
    }

    private func expect(within time: TimeAmount) {
        if let timer { self.worker.loop.arm(timer, at: self.worker.loop.turnTime + time) }
    }

    private func disarm() { if let timer { self.worker.loop.disarm(timer) } }

    private func timedOut() {
        guard case .undecided = self.state, !self.isJudgedAsOpaque else { return self.channel.reset() }
        let reason = "nothing was sent on the captured connection in time (limits.header_timeout)"
        self.connect(self.refusal ?? Problem(.requestTimeout, reason))
    }
}

extension CapturedConnection: UndecidedTunnel {
    var identity: ProxyIdentity { ProxyIdentity() }
    var allowed: AllowedDestination? { nil }
    var isCaptured: Bool { true }
    var hasBegun: Bool { self.early.readableBytes > 0 }

    func waits(forAnswer isWaiting: Bool) {
        // A connection that is being made has a time limit of its own.
        guard case .undecided = self.state, !self.isJudgedAsOpaque else { return }
        if isWaiting { self.disarm() } else { self.expect(within: self.active.patience.head) }
    }

    func leave(to terms: TunnelTerms) {
        self.state = .over
        self.disarm()
        self.timer = nil
        self.owner.end()
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        Tunnel.open(terms, to: self.channel, of: self.client, on: self.worker, sent: self.early)
        // After the tunnel has begun, so that a draining worker is not empty in between.
        self.worker.remove(self)
    }

    func abort() { self.channel.reset() }
}

extension CapturedConnection: ServedConnection {
    func drain() { if case .undecided = self.state, !self.hasBegun { self.channel.close(promise: nil) } }

    func closeIfIdle(since end: NIODeadline) {}

    var running: [any ExchangeProgress] {
        if case .connecting(let exchange) = self.state { [exchange.progress] } else { [] }
    }
}

/// The answer to the CONNECT that the client did not send: nothing if it is allowed, else an alert.
extension CapturedConnection: ClientStream {
    var isWritable: Bool { true }
    var takesPipes: Bool { false }

    func send(interim head: ResponseHead) {}
    func send(_ head: ResponseHead, length: UInt64?) { self.status = head.status }
    func send(_ bytes: UnsafeRawBufferPointer) -> Int { 0 }
    func send(_ piped: PipedBytes) -> Int { preconditionFailure("BUG: a client of TLS is given a pipe") }
    func resumeBody() {}

    func finish(trailers: Fields) {
        // The client has left.
        guard case .connecting = self.state else { return }
        self.state = .refused
        // Only TLS has a word for it.
        guard self.speaksTLS else { return self.channel.reset() }
        let alert = self.status == 403 ? Self.denied : Self.failed
        self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(bytes: alert)), promise: nil)
        // A close with unread input would reset the connection, and the alert with it.
        self.channel.close0(error: ChannelError.eof, mode: .output, promise: nil)
        self.channel.setAutoRead(true)
        if self.hasEndedInput { self.channel.close(promise: nil) } else { self.expect(within: Self.lingering) }
    }

    func cut() { self.channel.reset() }

    func relay(_ terms: TunnelTerms) { self.leave(to: terms) }

    func open(_ tunnel: InterceptedTunnel) {
        guard let socket = self.channel.release() else { return self.leave() }
        let early = self.handOver()
        let transport = TLSTransport(
            tunnel.interception.context, descriptor: socket.descriptor, inside: nil, behind: early
        ) { tunnel.choose($0) }
        let channel = SocketChannel(
            adopting: socket, loop: self.worker.loop, remoteAddress: self.channel.remoteAddress, transport: transport)
        tunnel.serve(over: channel, transport, of: self.client)
    }
}
