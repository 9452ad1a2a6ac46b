// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A demand for credentials (RFC 9110 §11).
public struct Challenge: Sendable, Equatable {
    /// How it can be answered, and for which realm. Of several offers each is a challenge of its own, while those before
    /// it are rejected: first the schemes that take no password, as the server has them, then Digest and Basic.
    public let method: AuthenticationMethod
    /// What the server wrote: the scheme's name in lower case, its parameters or its token.
    public let offer: AuthenticationChallenge
    /// Where it comes from.
    public let authority: Authority
    /// Whether a proxy asks (407), and not the origin (401).
    public let isProxy: Bool
    /// How often this task has answered this scheme and was asked again; Digest and Basic count as one.
    public let previousFailureCount: Int

    /// The scheme's name in lower case, such as `bearer`.
    public var scheme: String { self.offer.scheme }
    /// The protection space within the origin (RFC 9110 §11.5); nil where the challenge names none.
    public var realm: String? { self.offer.realm }
}

/// What to do about a ``Challenge``.
///
/// Neither text nor mirror of it shows a secret.
public enum ChallengeAnswer: Sendable, Equatable {
    /// Make the request again with a name and a password. A scheme that takes none is passed over.
    case use(Credential)
    /// Make the request again with a bearer token (RFC 6750), whatever the scheme is.
    case bearer(String)
    /// Make the request again with this value of Authorization, or of Proxy-Authorization: for any scheme, such as
    /// `Hawk id="1", mac="…"`. Redirects to the same origin carry it on.
    case authorization(String)
    /// Make the request again with a Kerberos ticket of this process's user (RFC 4559), for the service `HTTP` of the
    /// host that asks. A scheme other than Negotiate is passed over. It takes MIT's libgssapi_krb5, and a ticket, which
    /// kinit gets; without either the task fails as ``SessionError/Code/cannotSend``.
    ///
    /// The server learns who the user is: answer only servers that are to know. NTLM, which Negotiate may also stand
    /// for, is not spoken.
    case negotiate
    /// Do as without the hook: a scheme that takes no password is passed over, a name and a password of the
    /// configuration are sent once. Without them the 401 or 407 is the task's response.
    case performDefault
    /// Fail the task as `cancelled`.
    case cancel
    /// Pass over this offer; the next one that the server made is a challenge of its own.
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

/// What to do with a response whose head has arrived.
public enum ResponseDisposition: Sendable {
    /// Go on.
    case allow
    /// Fail the task as `cancelled`.
    case cancel
    /// Write the body to a file instead of memory.
    case becomeDownload(DownloadDestination)
}
