// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A demand for credentials (RFC 9110 §11).
public struct Challenge: Sendable, Equatable {
    /// The scheme and realm. If the server offers several schemes, each becomes a challenge of its own as long as those
    /// before it are rejected: first the schemes without a password, in the server's order, then Digest and Basic.
    public let method: AuthenticationMethod
    /// The server's own words: the scheme's name in lower case, and its parameters or its token.
    public let offer: AuthenticationChallenge
    /// The server that asks.
    public let authority: Authority
    /// True if a proxy asks (407), false if the origin does (401).
    public let isProxy: Bool
    /// The number of times that this task has answered this scheme and was asked again; Digest and Basic count as one.
    public let previousFailureCount: Int

    /// The scheme's name in lower case, such as `bearer`.
    public var scheme: String { self.offer.scheme }
    /// The protection space within the origin (RFC 9110 §11.5); nil if the challenge names none.
    public var realm: String? { self.offer.realm }
}

/// The answer to a ``Challenge``.
///
/// Neither its text nor its mirror shows a secret.
public enum ChallengeAnswer: Sendable, Equatable {
    /// Repeat the request with a name and a password. A scheme without passwords is passed over.
    case use(Credential)
    /// Repeat the request with a bearer token (RFC 6750), whatever the scheme is.
    case bearer(String)
    /// Repeat the request with this value of Authorization, or of Proxy-Authorization: for any scheme, such as
    /// `Hawk id="1", mac="…"`. Redirects to the same origin keep it.
    case authorization(String)
    /// Repeat the request with a Kerberos ticket of this process's user (RFC 4559), for the service `HTTP` of the host
    /// that asks. A scheme other than Negotiate is passed over. This needs MIT's libgssapi_krb5, and a ticket, as kinit
    /// gets it; without either the task fails as ``SessionError/Code/cannotSend``.
    ///
    /// The server learns the user's identity: answer only servers that may know it. NTLM, which Negotiate may also
    /// mean, is not supported.
    case negotiate
    /// Do as without the hook: pass over schemes without passwords, and send the configuration's name and password
    /// once. Without them the 401 or 407 is the task's response.
    case performDefault
    /// Fail the task as `cancelled`.
    case cancel
    /// Pass over this offer; the server's next one becomes a challenge of its own.
    case reject
}

extension ChallengeAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The case, without its value.
    public var description: String {
        switch self {
        case .use(let credential): "use \(credential)"
        case .bearer: "a bearer token"
        case .authorization: "an authorization"
        case .negotiate: "negotiate"
        case .performDefault: "perform default"
        case .cancel: "cancel"
        case .reject: "reject"
        }
    }

    /// The case, without its value.
    public var debugDescription: String { self.description }

    /// The case, without its value.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [self.description]) }
}

/// The treatment of a response whose head has arrived.
public enum ResponseDisposition: Sendable {
    /// Continue.
    case allow
    /// Fail the task as `cancelled`.
    case cancel
    /// Write the body to a file instead of memory.
    case becomeDownload(DownloadDestination)
}
