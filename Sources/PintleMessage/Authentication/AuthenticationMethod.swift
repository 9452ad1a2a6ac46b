// SPDX-License-Identifier: Apache-2.0

/// A challenge that a user name and a password can answer.
public enum AuthenticationMethod: Sendable, Equatable {
    /// HTTP Digest: the password itself is not sent.
    case digest(DigestChallenge)
    /// HTTP Basic: the password is sent as it is.
    case basic(realm: String?)

    /// The strongest of `challenges` that can be answered: Digest with a SHA-2 hash, then with MD5, then Basic. Among
    /// equals the server's order decides.
    ///
    /// - Returns: nil where none can be answered.
    public static func strongest(of challenges: [AuthenticationChallenge]) -> AuthenticationMethod? {
        let methods = challenges.compactMap(AuthenticationMethod.init)
        return methods.map(\.strength).max().flatMap { best in methods.first { $0.strength == best } }
    }

    /// The protection space within the origin; nil where the challenge names none.
    public var realm: String? {
        switch self {
        case .digest(let challenge): challenge.realm
        case .basic(let realm): realm
        }
    }

    private init?(_ challenge: AuthenticationChallenge) {
        if challenge.scheme == "basic", challenge.token68 == nil {
            self = .basic(realm: challenge.realm)
        } else if let digest = DigestChallenge(challenge) {
            self = .digest(digest)
        } else {
            return nil
        }
    }

    private var strength: Int {
        switch self {
        case .basic: 0
        case .digest(let challenge): challenge.algorithm == .md5 ? 1 : 2
        }
    }
}
