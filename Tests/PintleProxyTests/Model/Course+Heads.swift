// SPDX-License-Identifier: Apache-2.0

import PintleMessage

extension Course.Request {
    /// The request as the proxy gets it.
    ///
    /// - Parameters:
    ///   - token: tells it from the others of the course.
    ///   - folder: is the course's own, so that nothing is kept from the one before.
    func head(token: Int, folder: String) throws -> RequestHead {
        let place =
            self.kind == .connect
            ? "t\(token).test:443" : "http://\(self.path == 2 ? "b" : "a").test/\(folder)/\(self.path)"
        var lines = ["\(self.method) \(place)", "X-Token: \(token)"]
        if self.user > 0 { lines.append("Authorization: Bearer user\(self.user)") }
        if self.variant > 0 { lines.append("X-Variant: \(self.variant)") }
        if let password = self.password.credentials { lines.append("Proxy-Authorization: Basic \(password)") }
        switch self.kind {
        case .get, .head, .delete, .connect: break
        case .part: lines.append("Range: bytes=2-8")
        case .noCache: lines.append("Cache-Control: no-cache")
        case .conditional: lines.append("If-None-Match: \"1\"")
        case .post, .postExpecting: lines.append("Content-Length: \(self.size)")
        case .postChunked: lines.append("Transfer-Encoding: chunked")
        case .upgrade: lines += ["Connection: upgrade", "Upgrade: echo"]
        }
        if self.kind == .postExpecting { lines.append("Expect: 100-continue") }
        if self.hasBody { lines.append("Content-Type: application/x-www-form-urlencoded") }
        return try RequestHead(spelled: lines)
    }
}

extension Course.Request.Password {
    /// The user “ben” of ``ExchangeStage/files`` and a password, as Basic wants them (RFC 7617); nil for none.
    fileprivate var credentials: String? {
        switch self {
        case .none: nil
        case .right: "YmVuOm90aGVy"
        case .wrong: "YmVuOndyb25n"
        }
    }
}
