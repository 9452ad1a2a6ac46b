// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import PintleTrust

/// An origin that lets in who answers its Digest challenge, by the formula of RFC 7616 §3.4.1 written out.
struct DigestGate: Sendable {
    let algorithm: DigestAlgorithm
    let user: String
    let password: String
    private let nonce = "7ypf/xlj9XXwfDPEoM4URrv"

    var challenge: String {
        "WWW-Authenticate: Digest realm=\"vault\", qop=\"auth\", algorithm=\(self.algorithm.rawValue), "
            + "nonce=\"\(self.nonce)\", opaque=\"FQhe/qaU925kfnzjCev0\""
    }

    /// Returns true if the request has an answer to the challenge, and it is right.
    func admits(_ request: Message) throws -> Bool {
        guard let value = request["Authorization"] else { return false }
        let challenges = AuthenticationChallenge.challenges(in: ["WWW-Authenticate": value])
        guard let given = challenges.first, given.scheme == "digest" else { return false }
        let parameters = given.parameters
        guard parameters["uri"] == request.target, parameters["nonce"] == self.nonce,
            parameters["opaque"] == "FQhe/qaU925kfnzjCev0", let client = parameters["cnonce"], client.count >= 16
        else { return false }
        let secret = try self.hash("\(self.user):vault:\(self.password)")
        let message = try self.hash("\(request.method):\(request.target)")
        let expected = try self.hash("\(secret):\(self.nonce):\(parameters["nc"] ?? ""):\(client):auth:\(message)")
        return parameters["response"] == expected && parameters["username"] == self.user
    }

    private func hash(_ text: String) throws -> String {
        let function: MessageDigest = self.algorithm == .md5 ? .md5 : .sha256
        return try function.digest(of: Array(text.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}
