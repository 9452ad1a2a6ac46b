// SPDX-License-Identifier: Apache-2.0

/// The hash functions of HTTP Digest (RFC 7616 §6.1).
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// Broken as a hash, but still offered by most servers.
    case md5 = "MD5"
    /// SHA-2 with 256 bits.
    case sha256 = "SHA-256"
    /// SHA-2 with 512 bits, cut to 256.
    case sha512_256 = "SHA-512-256"
}

/// A challenge of HTTP Digest that can be answered, and its answers (RFC 7616).
public struct DigestChallenge: Sendable, Equatable {
    /// The protection space; part of what is hashed.
    public let realm: String
    /// A value that the server chose for its challenge; part of what is hashed.
    public let nonce: String
    /// A text that the client sends back unchanged; nil if there is none.
    public let opaque: String?
    /// The hash function; MD5 if the challenge names none.
    public let algorithm: DigestAlgorithm
    /// True if the hash of the password includes both nonces: the `-sess` variants.
    public let isSession: Bool
    /// True if requests are counted and carry a nonce of the client (`qop=auth`); false for the form of RFC 2069.
    public let isCounted: Bool
    /// True if the credential was rejected only because the nonce was too old: it may be tried again with this one.
    public let isStale: Bool
    /// True if the user name is sent as a hash.
    public let hashesUser: Bool

    /// True if the challenge names the algorithm; the answer names it, too, then.
    private let namesAlgorithm: Bool
    /// True if a user name beyond ASCII may be sent in the encoded form of RFC 8187, which older servers do not know.
    private let isUnicode: Bool

    /// Recognises a challenge.
    ///
    /// - Returns: nil for other schemes, for a challenge without realm or nonce or with an unknown algorithm, for
    ///   `auth-int` as the only quality of protection, and for a `-sess` algorithm without quality of protection, which no
    ///   RFC defines.
    public init?(_ challenge: AuthenticationChallenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = challenge.realm, let nonce = parameters["nonce"] else {
            return nil
        }
        let name = (parameters["algorithm"] ?? DigestAlgorithm.md5.rawValue).uppercased()
        self.isSession = name.hasSuffix("-SESS")
        guard let algorithm = DigestAlgorithm(rawValue: self.isSession ? String(name.dropLast(5)) : name) else {
            return nil
        }
        let qualities = parameters["qop"]?.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        self.isCounted = qualities?.contains("auth") ?? false
        guard self.isCounted || (qualities == nil && !self.isSession) else { return nil }
        self.realm = realm
        self.nonce = nonce
        self.opaque = parameters["opaque"]
        self.algorithm = algorithm
        self.isStale = parameters["stale"]?.lowercased() == "true"
        self.hashesUser = parameters["userhash"]?.lowercased() == "true"
        self.namesAlgorithm = parameters["algorithm"] != nil
        self.isUnicode = parameters["charset"]?.lowercased() == "utf-8"
    }

    /// The parts of a request that an answer depends on.
    public struct Request: Sendable, Equatable {
        /// The request's method.
        public var method: String
        /// The request target as in the request line.
        public var target: String
        /// The number of requests sent with this nonce, including this one; from 1.
        public var count: UInt32
        /// The client's nonce, new for each nonce of the server and hard to guess. Not used in the form of RFC 2069.
        public var clientNonce: String

        /// Makes a description of a request.
        public init(method: String, target: String, count: UInt32, clientNonce: String) {
            self.method = method
            self.target = target
            self.count = count
            self.clientNonce = clientNonce
        }
    }

    /// The value of Authorization, or Proxy-Authorization, that answers the challenge for one request.
    ///
    /// - Parameter hash: computes a digest: 16 bytes for MD5, 32 for the others.
    /// - Throws: the error of `hash`.
    public func authorization<Failure: Error>(
        of credential: Credential, for request: Request,
        hash: (DigestAlgorithm, [UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> String {
        func digest(_ parts: String...) throws(Failure) -> String {
            Self.hexadecimal(try hash(self.algorithm, Array(parts.joined(separator: ":").utf8)))
        }
        let count = Self.hexadecimal(withUnsafeBytes(of: request.count.bigEndian, Array.init))
        var secret = try digest(credential.user, self.realm, credential.password)
        if self.isSession { secret = try digest(secret, self.nonce, request.clientNonce) }
        let subject = try digest(request.method, request.target)
        let response =
            self.isCounted
            ? try digest(secret, self.nonce, count, request.clientNonce, "auth", subject)
            : try digest(secret, self.nonce, subject)

        var answer = [
            self.hashesUser
                ? Self.quoted("username", try digest(credential.user, self.realm)) : self.userName(credential.user),
            Self.quoted("realm", self.realm), Self.quoted("nonce", self.nonce), Self.quoted("uri", request.target),
            Self.quoted("response", response),
        ]
        if self.namesAlgorithm { answer.append("algorithm=\(self.algorithm.rawValue)\(self.isSession ? "-sess" : "")") }
        if self.isCounted { answer += ["qop=auth", "nc=\(count)", Self.quoted("cnonce", request.clientNonce)] }
        if let opaque = self.opaque { answer.append(Self.quoted("opaque", opaque)) }
        if self.hashesUser { answer.append("userhash=true") }
        return "Digest \(answer.joined(separator: ", "))"
    }

    private func userName(_ user: String) -> String {
        guard self.isUnicode, !user.utf8.allSatisfy({ $0 < 0x80 }) else { return Self.quoted("username", user) }
        var bytes: [UInt8] = []
        for byte in user.utf8 {
            if ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 {
                bytes.append(byte)
            } else {
                PercentEscaping.escape(byte: byte, into: &bytes)
            }
        }
        return "username*=UTF-8''\(String(decoding: bytes, as: UTF8.self))"
    }

    private static func quoted(_ name: String, _ value: String) -> String {
        "\(name)=\(FieldSyntax.quoted(value.utf8))"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
