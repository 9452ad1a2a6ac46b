// SPDX-License-Identifier: Apache-2.0

/// The way in which a challenge wants to be answered.
public enum AuthenticationMethod: Sendable, Equatable {
    /// HTTP Digest: the password itself is not sent.
    case digest(DigestChallenge)
    /// HTTP Basic: the password is sent as it is.
    case basic(realm: String?)
    /// Any other scheme, such as Bearer or Negotiate, and forms of Digest that are not known: no password answers it.
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

    /// The strongest of `challenges` that a password can answer: Digest with a SHA-2 hash, then with MD5, then Basic. Among
    /// equals the server's order decides.
    ///
    /// - Returns: nil where a password answers none.
    public static func strongest(of challenges: [AuthenticationChallenge]) -> AuthenticationMethod? {
        Self.ranked(challenges).map(\.method).first(where: \.takesPassword)
    }

    /// Challenges in the order in which they are to be considered: schemes without a password as the server has them, then
    /// those with one, the strongest first.
    package static func ranked(
        _ challenges: [AuthenticationChallenge]
    ) -> [(offer: AuthenticationChallenge, method: AuthenticationMethod)] {
        let offers = challenges.map { (offer: $0, method: AuthenticationMethod($0)) }
        return (0...3).reversed().flatMap { strength in offers.filter { $0.method.strength == strength } }
    }

    /// The protection space within the origin; nil where the challenge names none.
    public var realm: String? {
        switch self {
        case .digest(let challenge): challenge.realm
        case .basic(let realm): realm
        case .other(let challenge): challenge.realm
        }
    }

    /// True where a user name and a password answer it.
    package var takesPassword: Bool { if case .other = self { false } else { true } }

    private var strength: Int {
        switch self {
        case .basic: 0
        case .digest(let challenge): challenge.algorithm == .md5 ? 1 : 2
        case .other: 3
        }
    }
}
