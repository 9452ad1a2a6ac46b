// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleMessage
internal import PintleSystem
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

    /// libcurl has a connection, and sends the request over it next.
    ///
    /// It does so again, up to five times, where kept connections turn out to be closed. Once more is enough, and then over
    /// a connection of its own.
    func isStarting(from port: UInt16) {
        // libcurl 7.88 counts how often a handle began again for as long as the handle is there, and then gives up.
        if self.attempts > 0 { self.isReusable = false }
        self.easy.avoidKeptConnections()
        if !self.isOnHTTP2, self.pool.spoilsConnection(of: self, from: port) {
            self.isReusable = false
        } else {
            self.attempts += 1
        }
    }

    /// Whether the connection that libcurl has is one of HTTP/2, on which frames come at any time.
    private var isOnHTTP2: Bool {
        guard self.errand.scheme == .https else { return self.speaksHTTP2InClear }
        return self.easy.tlsConnection().map { TLSConnection.speaksHTTP2($0) } ?? false
    }

    /// Whether the request may be begun another time.
    private var mayStart: Bool {
        if self.attempts == 0 { return true }
        return self.attempts == 1 && self.errand.isRepeatable
    }

    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard self.mayStart else {
            self.isReusable = false
            self.error = SessionError(
                .connectionBroken, "\(self.errand.authority) closed without a response",
                cause: "the request is not sent again")
            return CURL_SOCKET_BAD
        }
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

    /// What comes behind a response would be taken for the next one's beginning.
    func checkExcess() {
        guard !self.response.hasExcess else { return self.giveUpConnection() }
        guard self.speaksTLS, self.responseVersion != "2", let ssl = self.easy.tlsConnection() else { return }
        // libcurl asks for no more than is left of the body, and does not look at the rest of the record.
        if TLSConnection.hasUnread(ssl) { self.giveUpConnection() }
    }

    private func giveUpConnection() {
        self.easy.giveUpConnection()
        self.isReusable = false
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
            cause: SystemError.last.description)
    }
}

/// Holds the verdict of one handshake for the transfer that began it.
final class VerdictBox: @unchecked Sendable {
    // Why @unchecked holds: a handshake and its transfer run on one loop's thread.
    var verdict: Verdict?
}
