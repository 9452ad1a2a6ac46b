// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// Makes one connection: dials it, makes the TLS handshake with an https proxy, asks for a tunnel, and makes the TLS handshake
/// with the origin under the session's policy. Used only on its loop's thread.
final class ConnectionAttempt {
    typealias Completion = (Result<EstablishedConnection, SessionError>, TransferMetrics) -> Void

    /// The other side of a handshake.
    private enum Peer { case proxy, origin }

    private enum State {
        case dialling(any RunningDial)
        case shakingHands(TLSConnection, with: Peer)
        /// The proxy is asked for a tunnel.
        case asking(ConnectExchange)
        case over
    }

    /// The CONNECT request for a tunnel, and the proxy's response.
    private struct ConnectExchange {
        /// The bytes of the request that are still to be sent.
        var unsent: ByteBuffer
        var reader: ResponseReader
        /// The beginning of a line of the response.
        var line: [UInt8] = []
    }

    private let request: TransferRequest
    private let proxy: ProxyLink?
    /// The protocols that are offered to an https origin by ALPN (RFC 7301), the preferred one first.
    private let protocols: [String]
    private unowned let pool: TransferPool  // The pool ends its attempts before it is released.
    private var state = State.over
    private var completion: Completion?
    /// Nil before the dial is over, and when the connection is made.
    private var socket: StreamSocket?
    /// The TLS connection to the proxy, once it is established.
    private var outer: TLSConnection?
    private let verdict = VerdictBox()
    private let proxyVerdict = VerdictBox()
    private var metrics = TransferMetrics()
    private let start: NIODeadline
    private var timer: LoopTimer?

    /// - Parameter request: the request that needs the connection; if it wants the connection itself, a forwarding proxy is
    ///   asked for a tunnel.
    init(for request: TransferRequest, by proxy: ProxyLink?, protocols: [String], in pool: TransferPool) {
        self.request = request
        self.proxy = proxy
        self.protocols = protocols
        self.pool = pool
        self.start = pool.loop.turnTime
    }

    private var loop: Loop { self.pool.loop }

    private var descriptor: Int32 {
        guard let socket else { preconditionFailure("BUG: a step is made without a socket") }
        return socket.descriptor
    }

    /// True if the proxy must be asked for a tunnel (RFC 9110 §9.3.6).
    private var needsTunnel: Bool {
        guard let server = self.proxy?.server, server.forwards else { return false }
        return self.request.scheme == .https || self.request.wantsConnection
    }

    /// Begins the attempt.
    ///
    /// - Parameters:
    ///   - time: the longest time for all steps together.
    ///   - completion: called once, unless the attempt is cancelled.
    func begin(within time: TimeAmount, _ completion: @escaping Completion) {
        self.completion = completion
        self.pool.attempts += 1
        // Why unowned holds: `finish` disarms the timer, and runs before an attempt is released.
        self.timer = LoopTimer { [unowned self] in self.timeIsOver() }
        if let timer { self.loop.arm(timer, at: self.start + time) }
        let target = DialTarget(
            authority: self.request.authority, proxy: self.proxy, client: self.request.client,
            rights: self.request.rights, serviceType: self.request.serviceType,
            interface: self.request.interface ?? self.pool.configuration.interface, timeLimit: time,
            lookupLimit: self.request.lookupTimeout, wholeLimit: self.request.connectTimeout)
        // Why unowned holds: `finish` cancels the dial.
        self.state = .dialling(self.pool.dialler.dial(target) { [unowned self] in self.dialled($0, $1) })
    }

    /// Cancels the attempt; its completion is not called.
    func cancel() {
        self.completion = nil
        self.finish()
    }

    // MARK: Steps

    private func dialled(_ result: Result<Int32, SessionError>, _ metrics: TransferMetrics) {
        self.state = .over
        self.metrics = metrics
        switch result {
        case .success(let descriptor): self.socket = StreamSocket(descriptor: descriptor)
        case .failure(let error): return self.fail(error)
        }
        if self.proxy?.server.scheme == .https { return self.shakeHands(with: .proxy) }
        self.goOnBehindProxy()
    }

    private func goOnBehindProxy() {
        guard self.needsTunnel, let proxy else { return self.goOnToOrigin() }
        var connect = ByteBuffer()
        connect.writeConnect(
            to: self.request.authority, by: proxy, fields: self.request.connectFields ?? proxy.connectFields)
        let reader = ResponseReader(limits: self.pool.configuration.responseHead)
        self.state = .asking(ConnectExchange(unsent: connect, reader: reader))
        self.advance()
    }

    private func goOnToOrigin() {
        if self.request.scheme == .https { self.shakeHands(with: .origin) } else { self.succeed(self.outer) }
    }

    private func shakeHands(with peer: Peer) {
        do throws(TrustError) {
            let connection =
                switch peer {
                case .proxy: try self.connectionToProxy()
                case .origin: try self.connectionToOrigin()
                }
            self.state = .shakingHands(connection, with: peer)
        } catch {
            return self.fail(
                SessionError(.tlsFailure, "the TLS handshake with \(self.name(of: peer)) failed", cause: error.message))
        }
        self.advance()
    }

    private func connectionToProxy() throws(TrustError) -> TLSConnection {
        guard let proxy else { preconditionFailure("BUG: hands are shaken with a proxy that is not there") }
        let box = self.proxyVerdict
        return try TLSConnection(
            to: proxy.server.authority.host, protocols: ["http/1.1"], under: proxy.evaluator,
            over: .socket(self.descriptor), resuming: nil, report: { box.verdict = $0 },
            identity: proxy.identity.map { identity in { _ in identity } })
    }

    private func connectionToOrigin() throws(TrustError) -> TLSConnection {
        let (box, delegate) = (self.verdict, self.pool.handshake)
        let known = self.pool.session(for: self.request.authority)
        box.verdict = known?.verdict
        return try TLSConnection(
            to: self.request.authority.host, protocols: self.protocols, under: self.pool.evaluator,
            over: self.outer.map { .stream($0) } ?? .socket(self.descriptor), resuming: known?.session,
            report: { box.verdict = $0 }, decide: delegate.map { delegate in { delegate.decide(on: $0) } },
            identity: delegate.map { delegate in { delegate.identity(for: $0) } })
    }

    /// Continues as far as the socket allows.
    private func advance() {
        switch self.state {
        case .shakingHands(let connection, let peer):
            let outcome = connection.shakeHands()
            // A hook may have ended the attempt.
            guard case .shakingHands = self.state else { return }
            switch outcome {
            case .end: self.established(connection, with: peer)
            case .wantsRead, .bytes: self.wait(for: .read)
            case .wantsWrite: self.wait(for: .write)
            case .wantsIdentity: preconditionFailure("BUG: a client waits for a server's identity")
            case .failed(let failure): self.handshakeFailed(failure, with: peer)
            }
        case .asking(let connect): self.ask(connect)
        case .dialling, .over: break
        }
    }

    private func established(_ connection: TLSConnection, with peer: Peer) {
        switch peer {
        case .proxy:
            self.outer = connection
            self.goOnBehindProxy()
        case .origin:
            self.metrics.tls = self.elapsed
            self.metrics.tlsVersion = connection.negotiated.map { "TLSv\($0.version.rawValue)" } ?? ""
            if !connection.isResumed, let verdict = self.verdict.verdict {
                self.pool.note(verdict, on: self.request.authority)
            }
            self.succeed(connection)
        }
    }

    private func handshakeFailed(_ failure: TLSFailure, with peer: Peer) {
        let verdict = (peer == .origin ? self.verdict : self.proxyVerdict).verdict
        if let verdict, let refusal = verdict.error {
            if peer == .origin { self.pool.note(verdict, on: self.request.authority) }
            let message = peer == .origin ? refusal.message : "the proxy \(refusal.message)"
            return self.fail(SessionError(.untrusted, message, cause: refusal.cause, verdict: verdict))
        }
        self.fail(
            SessionError(
                .tlsFailure, "the TLS handshake with \(self.name(of: peer)) failed", cause: failure.description))
    }

    // MARK: The tunnel by a proxy

    /// Sends the CONNECT, and reads the proxy's response line by line: bytes after its head are not the proxy's any more.
    private func ask(_ begun: ConnectExchange) {
        var connect = begun
        while connect.unsent.readableBytes > 0 {
            switch connect.unsent.withUnsafeReadableBytes({ self.send($0) }) {
            case .bytes(let count): connect.unsent.moveReaderIndex(forwardBy: count)
            case .wouldBlock(let readiness): return self.goOnAsking(connect, when: readiness)
            case .end, .failed: return self.proxyIsSilent()
            }
        }
        while true {
            switch self.takeLine(&connect.line) {
            case .bytes: break
            case .wouldBlock(let readiness): return self.goOnAsking(connect, when: readiness)
            case .end, .failed: return self.proxyIsSilent()
            }
            do throws(WireError) {
                if let head = try Self.head(&connect) {
                    if head.status / 100 == 2 { self.goOnToOrigin() } else { self.refused(head) }
                    return
                }
            } catch {
                return self.proxyIsSilent()
            }
        }
    }

    private func goOnAsking(_ connect: ConnectExchange, when readiness: Readiness) {
        self.state = .asking(connect)
        self.wait(for: readiness)
    }

    /// Parses a line of the response.
    ///
    /// - Returns: the final head when it is complete; nil before.
    private static func head(_ connect: inout ConnectExchange) throws(WireError) -> ResponseHead? {
        let line = connect.line
        connect.line = []
        var reader = connect.reader
        var result = Result<ResponseReader.Found, WireError>.success(.more)
        line.withUnsafeBytes { bytes in
            result = Result { () throws(WireError) in try reader.line(bytes, method: "CONNECT") }
        }
        connect.reader = reader
        guard case .head(let head, _) = try result.get() else { return nil }
        return head
    }

    private func send(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        if let outer { return StreamOutcome(outer.write(bytes)) }
        return .sending(bytes, to: self.descriptor)
    }

    /// Reads bytes up to the end of a line, and none after it.
    ///
    /// - Parameter line: the bytes of the line that were read before; the new ones are appended.
    /// - Returns: `bytes` when the line is complete.
    private func takeLine(_ line: inout [UInt8]) -> StreamOutcome {
        let limit = self.pool.configuration.responseHead.line + 2
        return withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { space in
            while line.count < limit {
                let outcome = self.receive(space, peeks: true)
                guard case .bytes(let count) = outcome else { return outcome }
                let end = space[..<count].firstIndex(of: UInt8(ascii: "\n"))
                let wanted = UnsafeMutableRawBufferPointer(rebasing: space[..<(end.map { $0 + 1 } ?? count)])
                guard case .bytes(let taken) = self.receive(wanted, peeks: false) else { return .end }
                line += wanted[..<taken]
                if end != nil { return .bytes(line.count) }
            }
            return .end
        }
    }

    private func receive(_ space: UnsafeMutableRawBufferPointer, peeks: Bool) -> StreamOutcome {
        if let outer { return StreamOutcome(peeks ? outer.peek(into: space) : outer.read(into: space)) }
        return .receiving(from: self.descriptor, into: space, peeking: peeks)
    }

    private func proxyIsSilent() {
        guard let proxy else { preconditionFailure("BUG: a proxy is asked that is not there") }
        self.fail(
            SessionError(
                .connectFailure,
                "the proxy \(proxy.server.authority) gave no answer of HTTP to the wish for a tunnel to "
                    + "\(self.request.authority)"))
    }

    private func refused(_ head: ResponseHead) {
        guard let proxy else { preconditionFailure("BUG: a proxy has answered that is not there") }
        let hint = head.status == 407 ? "; \(proxy.server.remedy(for: head.fields))" : ""
        let (name, origin) = (proxy.server.authority, self.request.authority)
        self.fail(
            SessionError(
                .connectFailure, "the proxy \(name) answered \(head.status) to the tunnel to \(origin)\(hint)"))
    }

    // MARK: The end

    private func succeed(_ tls: TLSConnection?) {
        let made = EstablishedConnection(
            descriptor: self.descriptor, tls: tls, isToOrigin: self.request.scheme == .https,
            proxyTLS: self.outer, verdict: self.verdict.verdict, proxyVerdict: self.proxyVerdict.verdict,
            address: self.metrics.address, tlsVersion: self.metrics.tlsVersion)
        self.socket?.unwatch(on: self.loop)
        self.socket = nil
        self.finish(.success(made))
    }

    private func fail(_ error: SessionError) { self.finish(.failure(error)) }

    private func timeIsOver() {
        if case .dialling(let dial) = self.state, dial.keepsTime, let timer {
            // The dial's own time limit began a moment later.
            return self.loop.arm(timer, at: .now() + .milliseconds(100))
        }
        self.fail(.connectTimeout(self.request.authority, by: self.proxy?.server, within: self.request.connectTimeout))
    }

    private func finish(_ outcome: Result<EstablishedConnection, SessionError>? = nil) {
        let (state, completion) = (self.state, self.completion)
        self.state = .over
        self.completion = nil
        // An attempt has a timer from its beginning to its end.
        if let timer {
            self.loop.disarm(timer)
            self.pool.attempts -= 1
        }
        self.timer = nil
        if case .dialling(let dial) = state { dial.cancel() }
        self.socket?.close(on: self.loop)
        self.socket = nil
        if let outcome { completion?(outcome, self.metrics) }
    }

    private func name(of peer: Peer) -> String {
        guard peer == .proxy, let proxy else { return self.request.authority.description }
        return "the proxy \(proxy.server.authority)"
    }

    private var elapsed: Duration { .nanoseconds((NIODeadline.now() - self.start).nanoseconds) }

    private func wait(for readiness: Readiness) {
        self.socket?.watch(for: readiness, by: self, on: self.loop)
    }
}

extension ConnectionAttempt: DescriptorWatcher {
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) { self.advance() }
}

extension ByteBuffer {
    fileprivate mutating func writeConnect(to authority: Authority, by proxy: ProxyLink, fields: Fields) {
        self.writeString("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n")
        if let authorization = proxy.server.authorization {
            self.writeString("Proxy-Authorization: \(authorization)\r\n")
        }
        fields.forEachRun { self.writeBytes($0) }
        self.writeStaticString("\r\n")
    }
}
