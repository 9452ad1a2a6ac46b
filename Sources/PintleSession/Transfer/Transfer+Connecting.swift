// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleMessage
internal import PintleTrust

// Making a connection, and handing it over where nothing else was wanted.
extension Transfer {
    func installTrust(on sslContext: OpaquePointer) {
        // The context belongs to a connection that may outlive this transfer: it reports to a box, not to us.
        let box = VerdictBox()
        self.trust = box
        let questions = self.pool.handshake
        self.pool.evaluator.install(
            on: sslContext, host: self.errand.authority.host, report: { box.verdict = $0 },
            decide: questions.map { questions in { questions.decide(on: $0) } },
            identity: questions.map { questions in { questions.identity(for: $0) } })
        if self.errand.connectOnly { TLSConnection.allowPartialWrites(in: sslContext) }
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
            if let refusal = judge.refusal(dialling: peer, asked: self.errand.authority) {
                self.refusedAddress = refusal
                return CURL_SOCKET_BAD
            }
        }
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let asked = address.pointee
        let opened = socket(asked.family, asked.socktype | flags, asked.protocol)
        guard opened >= 0 else { return opened }
        self.pool.opened(opened)
        self.pool.serviceType.mark(opened, family: asked.family)
        return opened
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

    /// Whether the connection is more than its socket, so that libcurl has to stay in it.
    private var speaksTLS: Bool { self.errand.scheme == .https }

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
