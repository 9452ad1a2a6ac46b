// SPDX-License-Identifier: Apache-2.0

/// One way to authenticate that a server offers (RFC 9110 §11.3).
public struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme's name in lower case, such as `basic`.
    public let scheme: String
    /// The values of the parameters without quoting, by names in lower case.
    public let parameters: [String: String]
    /// The text that schemes such as Negotiate have instead of parameters.
    public let token68: String?

    /// Makes a challenge. Names must be in lower case.
    public init(scheme: String, parameters: [String: String] = [:], token68: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.token68 = token68
    }

    /// The protection space within the origin (RFC 9110 §11.5); nil if the challenge names none.
    public var realm: String? { self.parameters["realm"] }

    /// The challenges of a response, in the order in which the server wrote them; at most 32.
    ///
    /// A challenge that the grammar does not allow, or that gives a parameter twice, is left out. So is the rest of its
    /// field line, because its meaning is uncertain then.
    ///
    /// - Parameter isProxy: true for the challenges of a proxy (Proxy-Authenticate, with 407), false for those of the
    ///   origin (WWW-Authenticate).
    public static func challenges(in fields: Fields, isProxy: Bool = false) -> [AuthenticationChallenge] {
        let name = isProxy ? FieldName.proxyAuthenticate.spelling : "WWW-Authenticate"
        var challenges: [AuthenticationChallenge] = []
        for value in fields.values(of: name) {
            var reader = ChallengeReader(value)
            while challenges.count < 32, let challenge = reader.next() { challenges.append(challenge) }
        }
        return challenges
    }

    /// The schemes that a proxy asks for, as in `digest, negotiate`; nil if it takes Basic, or asks for nothing.
    ///
    /// - Parameter fields: those of the proxy's 407.
    package static func schemesInsteadOfBasic(in fields: Fields) -> String? {
        let schemes = self.challenges(in: fields, isProxy: true).map(\.scheme)
        guard !schemes.isEmpty, !schemes.contains("basic") else { return nil }
        // The proxy may name anything; a few names of the usual length are enough for a sentence.
        return schemes.prefix(4).map { String($0.prefix(32)) }.joined(separator: ", ")
    }
}
