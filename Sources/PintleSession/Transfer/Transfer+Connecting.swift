// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleMessage
internal import PintleTrust

// Making a connection, and handing it over where nothing else was wanted.
extension Transfer {
    /// Has a new TLS connection judged: the origin's by the session's policy, that of an https proxy by the proxy's own.
    func installTrust(on sslContext: OpaquePointer) {
        // The context belongs to a connection that may outlive this transfer: it reports to a box, not to us.
        let box = VerdictBox()
        if self.errand.connectOnly { TLSConnection.allowPartialWrites(in: sslContext) }
        if let proxy = self.errand.proxy, TLSConnection.isLimited(sslContext) {
            self.proxyTrust = box
            let identity = proxy.identity
            return proxy.evaluator.install(
                on: sslContext, host: proxy.server.authority.host, report: { box.verdict = $0 },
                identity: identity.map { identity in { _ in identity } })
        }
        self.trust = box
        let questions = self.pool.handshake
        self.pool.evaluator.install(
            on: sslContext, host: self.errand.authority.host, report: { box.verdict = $0 },
            decide: questions.map { questions in { questions.decide(on: $0) } },
            identity: questions.map { questions in { questions.identity(for: $0) } })
    }

    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if let judge = self.pool.judge {
            guard let peer = SocketAddress(dialled: address) else { return CURL_SOCKET_BAD }
            if let refusal = self.refusal(of: peer, by: judge) {
                self.socketRefusal = .address(refusal)
                return CURL_SOCKET_BAD
            }
        }
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let asked = address.pointee
        let opened = socket(asked.family, asked.socktype | flags, asked.protocol)
        guard opened >= 0 else {
            self.socketRefusal = .system(errno)
            return CURL_SOCKET_BAD
        }
        self.pool.opened(opened)
        self.pool.serviceType.mark(opened, family: asked.family)
        return opened
    }

    private func refusal(of peer: SocketAddress, by judge: any AddressJudge) -> String? {
        let host = self.errand.authority
        guard self.errand.proxy != nil else { return judge.refusal(dialling: peer, asked: host) }
        return judge.refusal(diallingProxy: peer, asked: host)
    }

    /// Gives the connection that was made to its owner.
    func handOver() {
        guard let socket = self.easy.activeSocket() else { return self.connectionLost() }
        guard !self.speaksTLS else { return self.keepConnection(socket) }
        // libcurl closes its descriptor when the handle goes; the duplicate is the same connection.
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return self.connectionLost() }
        if let delegate { delegate.transfer(self, connected: .socket(descriptor)) } else { close(descriptor) }
    }

    /// Whether the connection, or the way to it, is more than its socket, so that libcurl has to stay in it.
    private var speaksTLS: Bool { self.errand.scheme == .https || self.errand.proxy?.server.scheme == .https }

    private func keepConnection(_ socket: Int32) {
        self.isKept = true
        self.pool.letGo(socket)
        let stream = ConnectionStream(self, descriptor: socket)
        self.pool.keep(stream, of: self)
        self.delegate?.transfer(self, connected: .stream(stream))
    }

    private func connectionLost() {
        self.error = SessionError(
            .connectionBroken, "the connection to \(self.errand.authority) was lost at once",
            cause: String(cString: strerror(errno)))
    }
}

/// Holds the verdict of one handshake for the transfer that began it.
final class VerdictBox: @unchecked Sendable {
    // Why @unchecked holds: a handshake and its transfer run on one loop's thread.
    var verdict: Verdict?
}
