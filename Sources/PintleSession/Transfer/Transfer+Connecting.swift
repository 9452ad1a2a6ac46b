// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleMessage
internal import PintleTrust

// Called by libcurl while it connects.
extension Transfer {
    /// Has a new TLS connection judged: the origin's by the session's policy, that of an https proxy by the proxy's own.
    func installTrust(on sslContext: OpaquePointer) {
        // The context belongs to a connection that may outlive this transfer: it reports to a box, not to us.
        let box = VerdictBox()
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
        if opened < 0 { self.socketRefusal = .system(errno) }
        guard opened >= 0 else { return CURL_SOCKET_BAD }
        self.pool.opened(opened)
        self.pool.serviceType.mark(opened, family: asked.family)
        return opened
    }

    private func refusal(of peer: SocketAddress, by judge: any AddressJudge) -> String? {
        let host = self.errand.authority
        guard self.errand.proxy != nil else { return judge.refusal(dialling: peer, asked: host) }
        return judge.refusal(diallingProxy: peer, asked: host)
    }
}

/// Holds the verdict of one handshake for the transfer that began it.
final class VerdictBox: @unchecked Sendable {
    // Why @unchecked holds: a handshake and its transfer run on one loop's thread.
    var verdict: Verdict?
}
