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
        /// What the peer sent is not HTTP.
        case malformedResponse
        /// The peer closed before the response was complete.
        case truncated
        /// The connection broke while sending or waiting.
        case connectionBroken
        /// The request cannot be sent as it is, such as a body that would have to be sent twice.
        case cannotSend
        /// The body is longer than its reader takes.
        case tooLarge
        /// The transfer was cancelled.
        case cancelled
        /// The session was closed, or libcurl refused a setting: a defect of ours.
        case internalError
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, to whom, and what to do, in one sentence.
    public let message: String
    /// libcurl's own words, where it said something.
    public let cause: String?
    /// The verdict on the peer's chain, for `untrusted`.
    public let verdict: Verdict?

    init(_ code: Code, _ message: String, cause: String? = nil, verdict: Verdict? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        self.verdict = verdict
    }
}
