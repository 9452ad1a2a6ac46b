// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleProxy
internal import PintleSerialization

/// Decides about each request before an endpoint sees it: every user of a machine reaches loopback, and every page that a
/// browser shows can send requests there (contract §4).
struct AdminGate: Sendable {
    let credentials: AdminCredentials
    /// `admin_hosts`.
    let hosts: [String]
    /// The user id of this process.
    let user: UInt32

    struct Refusal: Error, Equatable {
        let status: UInt16
        let title: String
        let detail: String
        var fields: [(name: String, value: String)] = []
        /// Further members of the problem.
        var more: [(String, Parameter?)] = []

        static func == (left: Refusal, right: Refusal) -> Bool {
            (left.status, left.title, left.detail) == (right.status, right.title, right.detail)
        }
    }

    /// A request that may pass.
    struct Admitted {
        let endpoint: AdminEndpoint
        /// The last segment of a path that has many.
        let name: String
        /// The query, without its question mark.
        let query: String
        /// The name of the cookie for this browser.
        let cookieName: String
        /// False for a request without the token, which only ``AdminEndpoint/Access/open`` ones, and the page, answer.
        let isSignedIn: Bool
    }

    func judge(_ request: LocalRequest) throws(Refusal) -> Admitted {
        let head = request.head
        guard case .origin(let target) = head.target else {
            throw Refusal(
                status: 400, title: "Not a proxy",
                detail: "this is the admin endpoint of pintle; programs use the address of `listen` as their proxy")
        }
        let port = try self.checkHost(of: request)
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let found = AdminEndpoint.find(parts[0])
        try Self.checkOrigin(of: head, for: found?.endpoint)
        let isSignedIn = self.isSignedIn(request, port: port)
        guard let (endpoint, name) = found else {
            throw isSignedIn ? Self.nothing(at: parts[0]) : Self.unauthorized
        }
        let methods = endpoint.methods + (endpoint.methods.contains("GET") ? ["HEAD"] : [])
        guard methods.contains(head.method) else {
            let allowed = methods.joined(separator: ", ")
            throw Refusal(
                status: 405, title: "Other method", detail: "\(endpoint.rawValue) takes \(allowed)",
                fields: [("Allow", allowed)])
        }
        if endpoint.access == .secretPath, !self.credentials.isDevTools(name) {
            throw isSignedIn ? Self.nothing(at: parts[0]) : Self.unauthorized
        }
        try self.check(head, for: endpoint, isSignedIn)
        return Admitted(
            endpoint: endpoint, name: name, query: parts.count > 1 ? String(parts[1]) : "",
            cookieName: AdminCredentials.cookieName(port: port), isSignedIn: isSignedIn)
    }

    // MARK: Host

    /// Refuses foreign names: a page of `evil.example` can make that name resolve to this address, but the Host is then still
    /// `evil.example` (DNS rebinding).
    ///
    /// - Returns: the port by which the client addresses the endpoint.
    private func checkHost(of request: LocalRequest) throws(Refusal) -> UInt16 {
        // No page reaches a Unix socket, and clients write anything into the Host.
        if request.user != nil { return 0 }
        let values = request.head.fields.values(of: "Host")
        guard values.count == 1, let authority = Authority(values[0], defaultPort: 80) else {
            throw Refusal(status: 400, title: "No Host", detail: "the request has no Host, or one that is malformed")
        }
        let isLocal = authority.host == "localhost" || IPAddress(authority.host)?.isLoopback == true
        guard isLocal || self.hosts.contains(authority.host) else {
            throw Refusal(
                status: 421, title: "Another host",
                detail: "\(authority.host) is not a name of this endpoint; use 127.0.0.1, or add it to admin_hosts")
        }
        return authority.port
    }

    // MARK: Other sites

    /// Refuses requests that pages of other sites cause. Scripts and other programs send none of these fields.
    ///
    /// - Parameter endpoint: nil if there is none at the path.
    private static func checkOrigin(of head: RequestHead, for endpoint: AdminEndpoint?) throws(Refusal) {
        // No page has the origin of the developer tools, which are a part of the browser.
        let isForTools = endpoint?.access == .secretPath
        let own = isForTools ? "devtools://devtools" : "http://\(head.fields["Host"]?.lowercased() ?? "")"
        for origin in head.fields.values(of: "Origin") where origin.lowercased() != own {
            throw Refusal(
                status: 403, title: "Another origin",
                detail: "a page of \(origin) asks; only "
                    + (isForTools ? "a browser's developer tools may" : "pages of this endpoint may"))
        }
        switch head.fields["Sec-Fetch-Site"] {
        case nil, "none", "same-origin": break
        // A link on another page leads to this one. The browser withholds the cookie then.
        case _ where head.fields["Sec-Fetch-Mode"] == "navigate" && head.method == "GET": break
        case .some(let site):
            throw Refusal(
                status: 403, title: "Another site",
                detail: "a page of another site asks (Sec-Fetch-Site: \(site)); only pages of this endpoint may")
        }
    }

    // MARK: The token

    private func isSignedIn(_ request: LocalRequest, port: UInt16) -> Bool {
        if request.user == self.user { return true }
        let fields = request.head.fields
        if Self.bearer(of: fields).map(self.credentials.isToken) == true { return true }
        let name = AdminCredentials.cookieName(port: port)
        return fields.values(of: "Cookie").contains { line in
            line.split(separator: ";").contains { pair in
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { return false }
                return self.credentials.isCookie(parts[1])
            }
        }
    }

    private static func bearer(of fields: Fields) -> Substring? {
        guard let value = fields["Authorization"], value.lowercased().hasPrefix("bearer ") else { return nil }
        return value.dropFirst(7)
    }

    private func check(_ head: RequestHead, for endpoint: AdminEndpoint, _ isSignedIn: Bool) throws(Refusal) {
        switch endpoint.access {
        // The endpoint checks the signature, which is about the body.
        case .open, .signed, .secretPath: return
        case .reading:
            // The page has a form of its own for those who are not signed in.
            if !isSignedIn, endpoint != .page { throw Self.unauthorized }
        case .changing, .signingIn:
            if endpoint.access == .changing, !isSignedIn { throw Self.unauthorized }
            // Programs that send the token themselves are no browsers.
            if Self.bearer(of: head.fields) != nil || !head.fields.contains("Cookie") && endpoint.access == .changing {
                return
            }
            // Browsers leave Sec-Fetch-Site out if the endpoint has another name than localhost, and then an Origin says it.
            let site = head.fields["Sec-Fetch-Site"]
            guard site == "same-origin" || site == "none" || site == nil && head.fields.contains("Origin") else {
                throw Refusal(
                    status: 403, title: "Perhaps another site",
                    detail: "the browser does not say that a page of this endpoint asks (Sec-Fetch-Site)")
            }
        }
    }

    private static func nothing(at path: Substring) -> Refusal {
        Refusal(status: 404, title: "No such endpoint", detail: "there is nothing at \(path)")
    }

    private static var unauthorized: Refusal {
        Refusal(
            status: 401, title: "No token",
            detail: "send the token as `Authorization: Bearer TOKEN`, or open the link that `pintle status` prints",
            fields: [("WWW-Authenticate", "Bearer realm=\"pintle admin\"")])
    }
}
