// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// Why a transfer got no socket for an address.
enum SocketRefusal {
    /// The judge of addresses refuses it, for this reason.
    case address(String)
    /// The system has none; its error.
    case system(Int32)
}

/// What is known of a transfer that libcurl gave up, and the one place where its codes become ours.
struct TransferFailure {
    let result: CURLcode
    let errand: Errand
    /// What an HTTP proxy answered to the wish for a tunnel; zero without an answer.
    let tunnelStatus: Int
    /// libcurl's number for what a SOCKS proxy answered.
    let proxyError: Int
    /// The interface that it has to leave by.
    let interface: String?
    let metrics: TransferMetrics
    let verdict: Verdict?
    /// Whether a TLS handshake with the origin has begun.
    let hasReachedOrigin: Bool
    /// On the proxy's chain.
    let proxyVerdict: Verdict?
    /// Why there was no socket for an address; nil where there was one.
    let socketRefusal: SocketRefusal?
    let systemError: Int32
    let headComplete: Bool

    var error: SessionError {
        let peer = self.errand.authority.description
        if let proxy, let error = self.error(of: proxy) { return error }
        if let verdict, let refusal = verdict.error {
            return SessionError(.untrusted, refusal.message, cause: refusal.cause, verdict: verdict)
        }
        switch self.result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return SessionError(.dnsFailure, "\(self.dialledHost) has no address", cause: self.words)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: return self.connectError
        case CURLE_PROXY: return self.unmadeConnection
        case CURLE_OPERATION_TIMEDOUT: return self.connectTimeout
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_PEER_FAILED_VERIFICATION,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED:
            return SessionError(.tlsFailure, "the TLS handshake with \(peer) failed", cause: self.words)
        case CURLE_PARTIAL_FILE:
            return SessionError(.truncated, "\(peer) closed before the response was complete", cause: self.words)
        case CURLE_GOT_NOTHING:
            return SessionError(.connectionBroken, "\(peer) closed without a response", cause: self.words)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            if self.systemError == 0, self.errand.scheme == .https, self.metrics.tls == 0 {
                return SessionError(.tlsFailure, "the TLS handshake with \(peer) failed", cause: self.words)
            }
            return SessionError(
                self.headComplete ? .truncated : .connectionBroken, "the connection to \(peer) broke", cause: self.words
            )
        case CURLE_SEND_FAIL_REWIND:
            return SessionError(
                .cannotRewind, "the connection to \(peer) broke, and the body cannot be sent twice", cause: self.words)
        case CURLE_HTTP2_STREAM:
            return SessionError(
                self.headComplete ? .truncated : .connectionBroken, "\(peer) ended the stream of HTTP/2",
                cause: self.words)
        case CURLE_HTTP2 where self.headComplete:
            return SessionError(.truncated, "the connection to \(peer) broke", cause: self.words)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_BAD_CONTENT_ENCODING:
            return SessionError(.malformedResponse, "the response of \(peer) is not HTTP", cause: self.words)
        case CURLE_URL_MALFORMAT:
            return SessionError(.cannotSend, "\(peer) is no host that can be dialled", cause: self.words)
        default:
            return SessionError(.internalError, "the transfer to \(peer) failed", cause: self.words)
        }
    }

    /// Whose address was looked for.
    private var dialledHost: String {
        self.proxy.map { "the proxy \($0.authority.host)" } ?? "the host \(self.errand.authority.host)"
    }

    /// To whom the connection was to be made.
    private var dialled: String {
        self.proxy.map { "the proxy \($0.authority)" } ?? self.errand.authority.description
    }

    /// The proxy that the transfer goes by.
    var proxy: ProxyServer? { self.errand.proxy?.server }

    private var connectTimeout: SessionError {
        let limit = self.errand.connectTimeout.inWords
        if self.metrics.nameLookup == 0 {
            return SessionError(.dnsFailure, "\(self.dialledHost) has no address within \(limit)", cause: self.words)
        }
        let way = self.proxy.map { " by the proxy \($0.authority)" } ?? ""
        return SessionError(
            .connectTimeout, "no connection to \(self.errand.authority)\(way) within \(limit)", cause: self.words)
    }

    private var connectError: SessionError {
        let peer = self.dialled
        if let interface, self.result == CURLE_INTERFACE_FAILED {
            return SessionError(
                .connectFailure,
                "no connection to \(peer) can leave by \(interface); name one of this machine's interfaces",
                cause: self.words)
        }
        switch self.socketRefusal {
        case .address(let reason):
            return SessionError(.addressDenied, "no address of \(peer) may be dialled: \(reason)")
        case .system(let code): return self.socketFailed(code)
        case nil: break
        }
        switch self.systemError {
        case ECONNREFUSED: return SessionError(.connectionRefused, "\(peer) refused the connection", cause: self.words)
        case ENETUNREACH, EHOSTUNREACH:
            return SessionError(.networkUnreachable, "there is no route to \(peer)", cause: self.words)
        default:
            let cause = self.systemError == 0 ? self.words : SystemError(self.systemError).description
            return SessionError(.connectFailure, "no connection to \(peer) could be made", cause: cause)
        }
    }

    private func socketFailed(_ code: Int32) -> SessionError {
        let cause = SystemError(code).description
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) else {
            return SessionError(.connectFailure, "no socket for \(self.dialled) can be made", cause: cause)
        }
        return SessionError(
            .exhausted, "nothing is left for a connection to \(self.dialled); raise the limit of open files",
            cause: cause)
    }

    /// libcurl's code in Pintle's words, where they say more than the message does.
    var words: String? {
        switch self.result {
        case CURLE_SSL_CIPHER: "no cipher suite is known to both"
        case CURLE_SSL_CERTPROBLEM: "the client certificate cannot be used"
        case CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_RECV_ERROR, CURLE_COULDNT_CONNECT:
            self.systemError == 0 || self.systemError == ECONNREFUSED
                ? nil : SystemError(self.systemError).description
        case CURLE_UNSUPPORTED_PROTOCOL: "its version of HTTP is not known"
        case CURLE_WEIRD_SERVER_REPLY: "it does not begin with a status line"
        case CURLE_HTTP2: "its frames break HTTP/2"
        case CURLE_OUT_OF_MEMORY: "out of memory"
        case CURLE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_INTERFACE_FAILED,
            CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED, CURLE_PARTIAL_FILE,
            CURLE_GOT_NOTHING, CURLE_HTTP2_STREAM, CURLE_BAD_CONTENT_ENCODING, CURLE_URL_MALFORMAT:
            nil
        default: "libcurl's code \(self.result.rawValue)"
        }
    }
}
