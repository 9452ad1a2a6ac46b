// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import PintleTrust
import Testing

/// The hash functions of Digest as OpenSSL has them.
func digest(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) throws -> [UInt8] {
    switch algorithm {
    case .md5: try MessageDigest.md5.digest(of: bytes)
    case .sha256: try MessageDigest.sha256.digest(of: bytes)
    case .sha512_256: try MessageDigest.sha512_256.digest(of: bytes)
    }
}

/// The challenge that a field value makes.
func digestChallenge(_ value: String) throws -> DigestChallenge {
    let challenges = AuthenticationChallenge.challenges(in: ["WWW-Authenticate": value])
    return try #require(challenges.first.flatMap(DigestChallenge.init))
}

/// The parameters of an answer, which are written as those of a challenge.
func answerParameters(_ value: String) throws -> [String: String] {
    try #require(AuthenticationChallenge.challenges(in: ["WWW-Authenticate": value]).first).parameters
}

/// An origin that lets in who answers a Digest challenge with the response that Pintle would have given.
struct DigestOrigin {
    let origin: RawOrigin

    init(challenge value: String, credential: Credential) throws {
        self.origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                guard let answer = request["Authorization"] else {
                    try connection.send(Self.response("401 Unauthorized", "WWW-Authenticate: \(value)\r\n"))
                    continue
                }
                let isRight = try Self.isRight(answer, to: value, request, credential)
                try connection.send(Self.response(isRight ? "200 OK" : "403 Forbidden"))
            }
        }
    }

    /// True if each parameter of the answer is the one that Pintle computes.
    private static func isRight(
        _ answer: String, to challenge: String, _ request: Message, _ credential: Credential
    ) throws -> Bool {
        let line = request.head.startLine.split(separator: " ")
        let given = try answerParameters(answer)
        let description = DigestChallenge.Request(
            method: String(line[0]), target: String(line[1]), count: UInt32(given["nc"] ?? "1", radix: 16) ?? 0,
            clientNonce: given["cnonce"] ?? "")
        let own = try digestChallenge(challenge).authorization(of: credential, for: description, hash: digest)
        return try answerParameters(own) == given
    }

    private static func response(_ status: String, _ fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\(fields)\r\n"
    }
}
