// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

// Tunnels to destinations that must prove themselves first (`connect: verify`).
extension Exchange {
    /// The connection for the tunnel is there: opens it, or has its other end prove itself first.
    ///
    /// A proof uses the connection up, so the tunnel gets another one to the same address. Not two at once: some servers
    /// take one after the other.
    func openTunnel(on connection: MadeConnection) {
        guard let decision, decision.trust != nil, let sentTo else { return self.relay(connection, watchedBy: nil) }
        if let question = self.proven { return self.relay(connection, watchedBy: TunnelWatch(question)) }
        guard let descriptor = connection.socket else {
            // It was for the handshake, which is over; the transfer's end comes next.
            return connection.close()
        }
        let socket = WaitingSocket(descriptor)
        guard let address = socket.peerAddress else {
            return self.refuse(Problem(.connectFailure, "the connection to \(decision.authority) was lost at once"))
        }
        let question = TunnelVerifier.Question(
            authority: decision.authority, address: address, evaluator: sentTo.session.evaluator)
        if let known = self.gate.tunnelProofs.answer(to: question) { return self.opens(known, on: socket, question) }
        let patience = self.rules?.request.connectTimeout ?? RequestRules().connectTimeout
        self.connection.lane.verifier.ask(
            question, over: socket, patience: patience, keepingIn: self.gate.tunnelProofs
        ) { answer in self.opens(answer, on: nil, question, patience) }
    }

    /// - Parameter socket: a connection to the destination; nil where there has to be another one.
    private func opens(
        _ answer: TunnelVerifier.Answer, on socket: WaitingSocket?, _ question: TunnelVerifier.Question,
        _ patience: Duration = .zero
    ) {
        // The client may have left in the meantime.
        guard case .none = self.answer else { return }
        switch answer {
        case .success(let verdict):
            self.report.note(verdict, assurance: .probed)
            if let socket { return self.relay(MadeConnection(socket: socket.take()), watchedBy: TunnelWatch(question)) }
            self.dial(question, patience)
        case .failure(let problem): self.refuseUntrusted(problem)
        }
    }

    /// Connects to the address that has proved itself; it was judged when it was dialled the first time. By a parent there
    /// is a new tunnel to the name instead.
    private func dial(_ question: TunnelVerifier.Question, _ patience: Duration) {
        guard self.parent == nil, let address = question.address else {
            self.proven = question
            return self.connectTunnel(to: question.authority)
        }
        let dialler = Dialler(address: address, timeLimit: patience, loop: self.connection.lane.loop)
        self.dialler = dialler
        dialler.start { result in
            self.dialler = nil
            switch result {
            case .success(let descriptor):
                self.relay(MadeConnection(socket: descriptor), watchedBy: TunnelWatch(question))
            case .failure(let failure): self.refuse(Problem(failure, at: question.authority))
            }
        }
    }

    // MARK: By an https parent

    /// Whether it is known what the destination would prove; then this has gone on. Otherwise it is asked.
    func isProvenAlready(to authority: Authority, _ trust: Gate.TrustSession) -> Bool {
        let question = TunnelVerifier.Question(
            authority: authority, address: nil, evaluator: trust.session.evaluator)
        guard let known = self.gate.tunnelProofs.answer(to: question) else {
            self.asked = question
            return false
        }
        self.opens(known, on: nil, question)
        return true
    }

    /// The handshake by which the destination was to prove itself is over.
    func proved(_ question: TunnelVerifier.Question, by verdict: Verdict?, _ error: SessionError?) {
        if let error {
            if error.code == .untrusted, error.verdict?.host == question.authority.host {
                self.gate.tunnelProofs.keep(.failure(Problem(error)), to: question)
            }
            return self.fail(with: error)
        }
        guard let verdict else {
            return self.refuse(Problem(nil, at: question.authority))
        }
        self.gate.tunnelProofs.keep(.success(verdict), to: question)
        self.opens(.success(verdict), on: nil, question)
    }

    private func relay(_ connection: MadeConnection, watchedBy watch: TunnelWatch?) {
        self.answer = .done
        self.report.status = 200
        Tunnel.open(for: self, to: connection.makeChannel(on: self.connection.lane.loop), watchedBy: watch) {
            $0.writeStaticString("HTTP/1.1 200 Connection Established\r\n\r\n")
        }
    }

    private func refuseUntrusted(_ problem: Problem) {
        if let kind = ViolationKind(rawValue: problem.name.rawValue) {
            self.report.violated(kind)
            if kind == .pinMismatch { self.report.counters.pinFailed() }
        }
        self.refuse(problem)
    }
}

/// A connected socket that nobody reads yet, and that is closed where nobody comes to.
final class WaitingSocket {
    private var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    /// Hands the socket over.
    func take() -> Int32 {
        defer { self.descriptor = -1 }
        return self.descriptor
    }

    /// The other end.
    var peerAddress: SocketAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutableBytes(of: &storage) { place in
            place.withMemoryRebound(to: sockaddr.self) { getpeername(self.descriptor, $0.baseAddress, &size) == 0 }
        }
        guard isKnown else { return nil }
        let family = Int32(storage.ss_family)
        return withUnsafeBytes(of: storage) { place in
            switch family {
            case AF_INET: SocketAddress(place.loadUnaligned(as: sockaddr_in.self))
            case AF_INET6: SocketAddress(place.loadUnaligned(as: sockaddr_in6.self))
            default: nil
            }
        }
    }
}
