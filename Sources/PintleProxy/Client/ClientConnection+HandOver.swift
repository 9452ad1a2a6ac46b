// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleTrust

/// Hands the client's socket over, to another protocol.
extension ClientConnection {
    func relay(_ terms: TunnelTerms) {
        self.write { output in
            if let head = terms.head {
                output.writeInterim(head)
            } else {
                output.writeStaticString("HTTP/1.1 200 Connection Established\r\n\r\n")
            }
        }
        self.flush()
        self.leave(to: terms)
    }

    /// Hands the socket over to a tunnel, after the client was answered.
    func leave(to terms: TunnelTerms) {
        let sent = self.requests.handOver()
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        Tunnel.open(terms, to: self.channel, of: self.client, on: self.worker, sent: sent)
        // After the tunnel has begun, so that a draining worker is not empty in between.
        self.leave(isClientLeaving: false)
    }

    /// Hands the connection over, because the client has chosen HTTP/2. `bytes` are all that it has sent.
    func leave(to tls: TLSTransport, _ bytes: ByteBuffer) {
        _ = self.requests.handOver()
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        let caller = HTTP2ClientConnection.Caller(
            client: self.client, process: self.clientProcess, refusal: self.refusal, enclosure: self.enclosure, tls)
        HTTP2ClientConnection.begin(on: self.channel, for: caller, on: self.worker, with: bytes)
        self.leave(isClientLeaving: false)
    }

    func open(_ tunnel: InterceptedTunnel) {
        self.write { $0.writeStaticString("HTTP/1.1 200 Connection Established\r\n\r\n") }
        // No bytes are left to be sent if the client has left.
        guard self.requests.enterTunnel(), let output = self.output.take() else { return }
        self.expectNext()
        let written = self.worker.loop.makePromise(of: Void.self)
        let both = NIOLoopBound((self, tunnel), eventLoop: self.worker.loop)
        written.futureResult.whenSuccess { both.value.0.enter(both.value.1) }
        self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(output), promise: written)
        self.worker.giveBack(output)
    }

    /// Hands the socket over to the connection inside of the tunnel, when the last byte of this one has been sent.
    private func enter(_ tunnel: InterceptedTunnel) {
        // A client that was too slow has been reset.
        guard case .entering = self.requests.phase, let socket = self.channel.release() else { return }
        // Copied, because the receive buffer belongs to the event loop.
        let early = ByteBuffer(bytes: self.requests.handOver().readableBytesView)
        let transport = TLSTransport(
            tunnel.interception.context, descriptor: socket.descriptor, inside: self.tls, behind: early
        ) { tunnel.choose($0) }
        let channel = SocketChannel(
            adopting: socket, loop: self.worker.loop, remoteAddress: self.channel.remoteAddress, transport: transport)
        // Not counted out: it is the same client. Removed first, so that the old pipeline gets no further events.
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        tunnel.serve(over: channel, transport, of: self.client)
        self.leave(isClientLeaving: false)
    }
}
