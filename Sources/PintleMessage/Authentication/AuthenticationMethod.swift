// SPDX-License-Identifier: Apache-2.0

/// The way to answer a challenge.
public enum AuthenticationMethod: Sendable, Equatable {
    /// HTTP Digest: the password itself is not sent.
    case digest(DigestChallenge)
    /// HTTP Basic: the password is sent as it is.
    case basic(realm: String?)
    /// Any other scheme, such as Bearer or Negotiate, and unknown forms of Digest: a password cannot answer it.
    case other(AuthenticationChallenge)

    /// Recognises a challenge.
    public init(_ challenge: AuthenticationChallenge) {
        if challenge.scheme == "basic", challenge.token68 == nil {
            self = .basic(realm: challenge.realm)
        } else if let digest = DigestChallenge(challenge) {
            self = .digest(digest)
        } else {
            self = .other(challenge)
        }
    }

    /// The strongest of `challenges` that a password can answer: Digest with a SHA-2 hash, then with MD5, then Basic. If
    /// several are equally strong, the server's first one.
    ///
    /// - Returns: nil if a password can answer none of them.
    public static func strongest(of challenges: [AuthenticationChallenge]) -> AuthenticationMethod? {
        Self.ranked(challenges).map(\.method).first(where: \.takesPassword)
    }

    /// Challenges in the order in which a client should consider them: first the schemes without a password, in the
    /// server's order, then those with a password, the strongest first.
    package static func ranked(
        _ challenges: [AuthenticationChallenge]
    ) -> [(offer: AuthenticationChallenge, method: AuthenticationMethod)] {
        let offers = challenges.map { (offer: $0, method: AuthenticationMethod($0)) }
        return (0...3).reversed().flatMap { strength in offers.filter { $0.method.strength == strength } }
    }

    /// The protection space within the origin; nil if the challenge names none.
    public var realm: String? {
        switch self {
        case .digest(let challenge): challenge.realm
        case .basic(let realm): realm
        case .other(let challenge): challenge.realm
        }
    }

    /// True if a user name and a password can answer the challenge.
    package var takesPassword: Bool { if case .other = self { false } else { true } }

    private var strength: Int {
        switch self {
        case .basic: 0
        case .digest(let challenge): challenge.algorithm == .md5 ? 1 : 2
        case .other: 3
        }
    }
}
