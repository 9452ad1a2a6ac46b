// SPDX-License-Identifier: Apache-2.0

public import PintleTrust

/// The reason why a transfer failed.
public struct SessionError: Error, Sendable {
    /// The kinds of failure; each maps to one problem of the proxy and one exit code of the commands.
    public enum Code: String, Sendable, CaseIterable {
        /// The host has no address, or the resolver did not answer.
        case dnsFailure
        /// No address accepted a connection.
        case connectFailure
        /// An address refused the connection (RST).
        case connectionRefused
        /// No connection, TLS included, was made within the connect time-out.
        case connectTimeout
        /// No byte moved for longer than the time-out.
        case timeout
        /// There is no route to the destination.
        case networkUnreachable
        /// None of the host's addresses may be dialled.
        case addressDenied
        /// The TLS handshake failed for a reason other than the certificate.
        case tlsFailure
        /// The chain does not satisfy the security policy.
        case untrusted
        /// The peer's bytes are not HTTP, or violate the protocol to which the connection was switched.
        case malformedResponse
        /// The peer closed before the response was complete.
        case truncated
        /// The connection broke while sending or waiting.
        case connectionBroken
        /// The request cannot be sent as it is; or no message can be sent, because its ``WebSocket`` is closed.
        case cannotSend
        /// The connection broke, and the part of the body that was sent cannot be read again for another connection.
        case cannotRewind
        /// The body, or a message, is longer than its reader accepts.
        case tooLarge
        /// The transfer was cancelled.
        case cancelled
        /// The process or the system has no descriptor or memory left for another connection.
        case exhausted
        /// A limit of this program was reached: all connections to the host were busy for too long, or too many names
        /// are being looked up.
        case overloaded
        /// libcurl cannot be used, or the system has no thread left.
        case internalError

        // Errors of tasks only.

        /// A URL is not an absolute http or https URL.
        case invalidURL
        /// The method, a field or a setting of a request is not allowed.
        case invalidRequest
        /// The roots of a security policy cannot be loaded; `underlying` is the `TrustError`.
        case invalidPolicy
        /// The request would go in plaintext although the session's policy pins certificates.
        case cleartext
        /// The file or stream of a request's body cannot be read.
        case unreadableSource
        /// A download cannot be written to its destination.
        case cannotWrite
        /// A redirect leads nowhere, or there were too many.
        case badRedirect
        /// A hook refused or failed; `underlying` is its error.
        case hookFailed
        /// The cache has no response, and the request may use only the cache.
        case cacheMiss
        /// The content codings of the body cannot be decoded: they are broken, cut off, or followed by other bytes.
        case undecodable
        /// The response breaks its contract; `underlying` is a ``RejectedResponse``.
        case rejected
        /// The session takes no more tasks.
        case invalidated
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence: what happened, to which host, file or message, and what to do.
    public let message: String
    /// The cause in the words of the system, of OpenSSL or of the peer, if known.
    public let cause: String?
    /// The verdict on the peer's chain, for `untrusted`.
    public let verdict: Verdict?
    /// The error that caused this one, if any: of a hook, a stream, a sink, a contract or a rule.
    public let underlying: (any Error)?

    /// Makes an error, for tests and for stand-ins of a session; `verdict` is that of an untrusted peer.
    public init(
        _ code: Code, _ message: String, cause: String? = nil, verdict: Verdict? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.verdict = verdict
        self.underlying = underlying
    }

    package static let cancelled = SessionError(.cancelled, "the task was cancelled")

    /// Returns `error` if it is a ``SessionError``; otherwise wraps it in one of `code`.
    package static func wrapping(_ error: any Error, as code: Code, _ message: String) -> SessionError {
        if let error = error as? SessionError { return error }
        return SessionError(code, "\(message): \(error)", underlying: error)
    }
}

extension SessionError {
    /// True if another attempt may succeed: the network or the server failed.
    public var isTransient: Bool {
        switch self.code {
        case .dnsFailure, .connectFailure, .connectionRefused, .connectTimeout, .timeout, .networkUnreachable,
            .tlsFailure, .malformedResponse, .truncated, .connectionBroken, .exhausted, .overloaded:
            true
        case .addressDenied, .untrusted, .cannotSend, .cannotRewind, .tooLarge, .cancelled, .internalError,
            .invalidURL, .invalidRequest, .invalidPolicy, .cleartext, .unreadableSource, .cannotWrite, .badRedirect,
            .hookFailed, .cacheMiss, .undecodable, .rejected, .invalidated:
            false
        }
    }
}

extension SessionError: CustomStringConvertible {
    /// The message, then the cause in parentheses.
    public var description: String { self.cause.map { "\(self.message) (\($0))" } ?? self.message }
}
