// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A demand for credentials (RFC 9110 §11).
public struct Challenge: Sendable, Equatable {
    /// How it can be answered, and for which realm. Of several offers this is the strongest that was not rejected.
    public let method: AuthenticationMethod
    /// Where it comes from.
    public let authority: Authority
    /// Whether a proxy asks (407), and not the origin (401).
    public let isProxy: Bool
    /// How often this task has sent credentials for this and was asked again.
    public let previousFailureCount: Int
}

/// What to do about a ``Challenge``.
public enum ChallengeAnswer: Sendable, Equatable {
    /// Make the request again with these.
    case use(Credential)
    /// Do as without the hook: the 401 or 407 is the task's response.
    case performDefault
    /// Fail the task as `cancelled`.
    case cancel
    /// Pass over this offer; the next one that the server made is a challenge of its own.
    case reject
}

/// What to do with a response whose head has arrived.
public enum ResponseDisposition: Sendable {
    /// Go on.
    case allow
    /// Fail the task as `cancelled`.
    case cancel
    /// Write the body to a file instead of memory.
    case becomeDownload(DownloadDestination)
}
