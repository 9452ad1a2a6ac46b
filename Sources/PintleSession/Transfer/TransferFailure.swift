// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import PintleMessage
internal import PintleTrust

/// What is known of a transfer that libcurl gave up, and the one place where its codes become ours.
struct TransferFailure {
    let result: CURLcode
    let errand: Errand
    let metrics: TransferMetrics
    let verdict: Verdict?
    let refusedAddress: String?
    let systemError: Int32
    let headComplete: Bool

    var error: SessionError {
        let peer = self.errand.authority.description
        if let verdict, let refusal = verdict.error {
            return SessionError(.untrusted, refusal.message, cause: self.words, verdict: verdict)
        }
        switch self.result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return SessionError(
                .dnsFailure, "the host \(self.errand.authority.host) has no address", cause: self.words)
        case CURLE_COULDNT_CONNECT: return self.connectError(peer)
        case CURLE_OPERATION_TIMEDOUT:
            let limit = self.errand.connectTimeout.inWords
            if self.metrics.nameLookup == 0 {
                return SessionError(
                    .dnsFailure, "no address of \(self.errand.authority.host) within \(limit)", cause: self.words)
            }
            return SessionError(.connectTimeout, "no connection to \(peer) within \(limit)", cause: self.words)
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
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_BAD_CONTENT_ENCODING, CURLE_OUT_OF_MEMORY:
            return SessionError(.malformedResponse, "the response of \(peer) is not HTTP", cause: self.words)
        case CURLE_URL_MALFORMAT:
            return SessionError(.cannotSend, "libcurl does not take \(peer) as a host", cause: self.words)
        default:
            return SessionError(.internalError, "the transfer to \(peer) failed", cause: self.words)
        }
    }

    private func connectError(_ peer: String) -> SessionError {
        if let refusedAddress {
            return SessionError(.addressDenied, "no address of \(peer) may be dialled: \(refusedAddress)")
        }
        switch self.systemError {
        case ECONNREFUSED: return SessionError(.connectionRefused, "\(peer) refused the connection", cause: self.words)
        case ENETUNREACH, EHOSTUNREACH:
            return SessionError(.networkUnreachable, "there is no route to \(peer)", cause: self.words)
        default:
            let cause = self.systemError == 0 ? self.words : String(cString: strerror(self.systemError))
            return SessionError(.connectFailure, "no connection to \(peer) could be made", cause: cause)
        }
    }

    private var words: String { String(cString: curl_easy_strerror(self.result)) }
}
