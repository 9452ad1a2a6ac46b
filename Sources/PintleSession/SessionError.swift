// SPDX-License-Identifier: Apache-2.0

public import PintleTrust

/// Why a transfer did not end well.
public struct SessionError: Error, Sendable {
    /// The kinds of failure; each maps to one problem of the proxy and one exit code of the commands.
    public enum Code: String, Sendable, CaseIterable {
        /// The host has no address, or the resolver did not answer.
        case dnsFailure
        /// No address accepted a connection.
        case connectFailure
        /// An address refused the connection (RST).
        case connectionRefused
        /// No connection, TLS included, within the connect time-out.
        case connectTimeout
        /// No byte moved for longer than the time-out.
        case timeout
        /// There is no route to the destination.
        case networkUnreachable
        /// Every address of the host is one that may not be dialled.
        case addressDenied
        /// The TLS handshake failed for another reason than the certificate.
        case tlsFailure
        /// The chain does not satisfy the security policy.
        case untrusted
        /// The peer's bytes are not HTTP, or break the protocol that was switched to.
        case malformedResponse
        /// The peer closed before the response was complete.
        case truncated
        /// The connection broke while sending or waiting.
        case connectionBroken
        /// The request cannot be sent as it is, or a message not at all, because its ``WebSocket`` is closed.
        case cannotSend
        /// The connection broke, and what was sent of the body cannot be had again for another one.
        case cannotRewind
        /// The body, or a message, is longer than its reader takes.
        case tooLarge
        /// The transfer was cancelled.
        case cancelled
        /// The process or the system has no descriptor or memory left for another connection.
        case exhausted
        /// A limit of this program's own was reached: all connections to the host were in use for too long, or too many
        /// names are being looked up.
        case overloaded
        /// libcurl cannot be used, or the system has no thread left.
        case internalError

        // What only tasks know.

        /// A URL is not an absolute http or https URL.
        case invalidURL
        /// The method, a field or a setting of a request may not be what it is.
        case invalidRequest
        /// The roots of a security policy cannot be loaded; `underlying` is the `TrustError`.
        case invalidPolicy
        /// The request would go in clear text although the session's policy pins.
        case cleartext
        /// The file or stream of a request's body cannot be read.
        case unreadableSource
        /// A download cannot be written to where it belongs.
        case cannotWrite
        /// A redirect leads nowhere, or there were too many.
        case badRedirect
        /// A hook refused or failed; `underlying` is what it threw.
        case hookFailed
        /// The cache has no response, and only the cache was to be asked.
        case cacheMiss
        /// The content codings of the body cannot be undone: they are broken, cut off, or followed by something else.
        case undecodable
        /// The response breaks its contract; `underlying` is a ``RejectedResponse``.
        case rejected
        /// The session takes no more tasks.
        case invalidated
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, to whom, and what to do, in one sentence.
    public let message: String
    /// The cause in the words of the system, of OpenSSL or of the peer, where there is one.
    public let cause: String?
    /// The verdict on the peer's chain, for `untrusted`.
    public let verdict: Verdict?
    /// The error behind this one, where there is one: of a hook, a stream, a sink or a contract.
    public let underlying: (any Error)?

    /// Makes an error, as tests do, and whatever answers in place of a session; `verdict` is that of an untrusted peer.
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

    static let cancelled = SessionError(.cancelled, "the task was cancelled")

    /// `error` as it is, or behind one of `code`.
    static func wrapping(_ error: any Error, as code: Code, _ message: String) -> SessionError {
        if let error = error as? SessionError { return error }
        return SessionError(code, "\(message): \(error)", underlying: error)
    }
}

extension SessionError {
    /// True where another attempt may do better: for what the network, or the server, was not able to do.
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
