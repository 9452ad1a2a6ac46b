// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import PintleMessage
internal import PintleTrust

// What went wrong with a proxy, or at it.
extension TransferFailure {
    /// The error that is the proxy's own doing; nil where it did its part.
    func error(of proxy: ProxyServer) -> SessionError? {
        if self.tunnelStatus >= 300 { return self.refusedTunnel(by: proxy) }
        if let verdict = self.proxyVerdict, let refusal = verdict.error {
            return SessionError(.untrusted, "the proxy \(refusal.message)", cause: refusal.cause, verdict: verdict)
        }
        guard !self.hasReachedOrigin, !self.metrics.reusedConnection else { return nil }
        switch self.result {
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM:
            return SessionError(
                .tlsFailure, "the TLS handshake with the proxy \(proxy.authority) failed", cause: self.words)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY,
            CURLE_UNSUPPORTED_PROTOCOL:
            if proxy.scheme == .https, self.proxyVerdict == nil {
                return SessionError(
                    .tlsFailure, "the TLS handshake with the proxy \(proxy.authority) failed", cause: self.words)
            }
            guard proxy.forwards, self.errand.scheme == .https || self.errand.connectOnly else { return nil }
            return SessionError(
                .connectFailure,
                "the proxy \(proxy.authority) gave no answer of HTTP to the wish for a tunnel to \(self.errand.authority)",
                cause: self.words)
        default: return nil
        }
    }

    private func refusedTunnel(by proxy: ProxyServer) -> SessionError {
        let hint = self.tunnelStatus == 407 ? "; \(Self.remedy(for: proxy))" : ""
        return SessionError(
            .connectFailure,
            "the proxy \(proxy.authority) answered \(self.tunnelStatus) to the tunnel to \(self.errand.authority)\(hint)",
            cause: self.words)
    }

    /// What is to be done where a proxy wants to know who asks.
    private static func remedy(for proxy: ProxyServer) -> String {
        proxy.credential == nil
            ? "give the proxy's credential in the configuration"
            : "it does not take the credential of the configuration"
    }

    // MARK: SOCKS

    /// A SOCKS proxy did not make the connection.
    var unmadeConnection: SessionError {
        guard let proxy else {
            return SessionError(.internalError, "the transfer to \(self.errand.authority) failed", cause: self.words)
        }
        let name = "the SOCKS proxy \(proxy.authority)"
        let origin = self.errand.authority
        switch CURLproxycode(rawValue: UInt32(truncatingIfNeeded: self.proxyError)) {
        case CURLPX_NO_AUTH, CURLPX_GSSAPI, CURLPX_GSSAPI_PERMSG, CURLPX_GSSAPI_PROTECTION, CURLPX_USER_REJECTED:
            return SessionError(.connectFailure, "\(name) wants to know who asks; \(Self.remedy(for: proxy))")
        case CURLPX_BAD_VERSION, CURLPX_UNKNOWN_MODE, CURLPX_BAD_ADDRESS_TYPE:
            return SessionError(.connectFailure, "the proxy \(proxy.authority) does not speak SOCKS 5")
        case CURLPX_REPLY_CONNECTION_REFUSED:
            return SessionError(.connectionRefused, "\(origin) refused the connection of \(name)")
        case CURLPX_REPLY_NOT_ALLOWED:
            return SessionError(.connectFailure, "\(name) does not allow a connection to \(origin)")
        case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
            return SessionError(.connectFailure, "\(name) cannot reach the host \(origin.host)")
        case CURLPX_REPLY_NETWORK_UNREACHABLE:
            return SessionError(.connectFailure, "\(name) has no route to \(origin)")
        case CURLPX_CLOSED, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK, CURLPX_RECV_ADDRESS:
            return SessionError(.connectFailure, "\(name) closed before it was connected to \(origin)")
        default:
            return SessionError(
                .connectFailure, "\(name) made no connection to \(origin)",
                cause: "libcurl's proxy error \(self.proxyError)")
        }
    }
}
