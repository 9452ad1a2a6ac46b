// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleProxy
import Testing

@testable import PintleAdmin

/// The gate before every endpoint (contract §4).
struct AdminGateTests {
    private let gate = AdminGate(credentials: AdminCredentials(), hosts: ["build.example"], user: 1000)

    /// A path of each endpoint, with the secret of one that has a secret.
    private func path(_ endpoint: AdminEndpoint) -> String {
        endpoint.rawValue.replacing(
            "*", with: endpoint.access == .secretPath ? self.gate.credentials.devTools : "name")
    }

    private func request(
        _ endpoint: AdminEndpoint, method: String? = nil, host: String? = "127.0.0.1:3129", token: Bool = false,
        cookie: Bool = false, path: String? = nil, _ fields: [(String, String)] = [], user: UInt32? = nil
    ) -> LocalRequest {
        var head = RequestHead(
            method: method ?? endpoint.methods[0], target: .origin(path: path ?? self.path(endpoint)))
        if let host { head.fields.append("Host", host) }
        if token { head.fields.append("Authorization", "Bearer \(self.gate.credentials.token)") }
        if cookie { head.fields.append("Cookie", "a=b; pintle-3129=\(self.gate.credentials.cookie)") }
        for (name, value) in fields { head.fields.append(name, value) }
        return LocalRequest(head, user: user)
    }

    private func status(_ request: LocalRequest) -> UInt16? {
        do throws(AdminGate.Refusal) {
            _ = try self.gate.judge(request)
            return nil
        } catch {
            #expect(!error.detail.isEmpty)
            return error.status
        }
    }

    // MARK: The token

    @Test(arguments: AdminEndpoint.allCases)
    func `without the token only what is open to everybody answers`(endpoint: AdminEndpoint) {
        let expected: UInt16? =
            switch endpoint.access {
            case .open, .secretPath, .signed: nil
            // Readers without a token get a form, with which they offer one.
            case .reading: endpoint == .page ? nil : 401
            case .changing: 401
            case .signingIn: 403
            }
        #expect(self.status(self.request(endpoint)) == expected)
        #expect(self.status(self.request(endpoint, token: true)) == nil)
    }

    @Test(arguments: AdminEndpoint.allCases)
    func `a wrong token, and that of another endpoint, are none`(endpoint: AdminEndpoint) {
        guard endpoint.access == .reading || endpoint.access == .changing, endpoint != .page else { return }
        let other = AdminCredentials()
        for value in ["Bearer", "Bearer ", "Bearer x", "Basic \(other.token)", "Bearer \(other.token)"] {
            #expect(self.status(self.request(endpoint, [("Authorization", value)])) == 401)
        }
        let wrong = [
            "pintle-3129=", "pintle-3129=x", "pintle-3129=\(other.cookie)",
            "pintle-3130=\(self.gate.credentials.cookie)",
            "x-pintle-3129=\(self.gate.credentials.cookie)", "pintle-3129=\(self.gate.credentials.token)",
        ]
        for cookie in wrong {
            let request = self.request(endpoint, [("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")])
            #expect(self.status(request) == 401, "\(cookie)")
        }
    }

    @Test(arguments: AdminEndpoint.allCases)
    func `the user of the process needs no token over a Unix socket, and others do`(endpoint: AdminEndpoint) {
        guard endpoint.access == .reading || endpoint.access == .changing, endpoint != .page else { return }
        #expect(self.status(self.request(endpoint, host: "anything", user: 1000)) == nil)
        #expect(self.status(self.request(endpoint, host: "anything", user: 1001)) == 401)
    }

    @Test func `the page knows if its reader is signed in`() throws {
        #expect(try self.gate.judge(self.request(.page)).isSignedIn == false)
        #expect(try self.gate.judge(self.request(.page, cookie: true)).isSignedIn)
        #expect(try self.gate.judge(self.request(.page, token: true)).isSignedIn)
    }

    @Test func `without its secret the path of the developer tools is unknown`() {
        let secrets = self.gate.credentials
        for name in [
            "x", String(secrets.devTools.dropLast()), secrets.token, secrets.cookie, AdminCredentials().devTools,
        ] {
            let path = "/devtools/page/\(name)"
            #expect(self.status(self.request(.devTools, path: path)) == 401, "\(name)")
            #expect(self.status(self.request(.devTools, cookie: true, path: path)) == 404, "\(name)")
            #expect(self.status(self.request(.devTools, token: true, path: path)) == 404, "\(name)")
        }
        // The secret opens nothing else.
        let bearer = [("Authorization", "Bearer \(secrets.devTools)")]
        #expect(self.status(self.request(.activity, bearer)) == 401)
        #expect(self.status(self.request(.devToolsTargets, bearer)) == 401)
    }

    @Test func `the targets of the developer tools have an older name, too`() {
        #expect(self.status(self.request(.devToolsTargets, path: "/json")) == 401)
        #expect(self.status(self.request(.devToolsTargets, token: true, path: "/json")) == nil)
        #expect(AdminEndpoint.find("/json")?.endpoint == .devToolsTargets)
    }

    // MARK: Hosts and origins

    @Test func `a browser's developer tools may connect, and no page, not even the endpoint's own`() {
        #expect(self.status(self.request(.devTools, [("Origin", "devtools://devtools")])) == nil)
        let origins = [
            "http://127.0.0.1:3129", "http://localhost:9222", "https://evil.example", "null", "", "devtools://other",
            "devtools://devtools.evil.example", "chrome-extension://a", "file://",
        ]
        for origin in origins {
            #expect(self.status(self.request(.devTools, cookie: true, [("Origin", origin)])) == 403, "\(origin)")
        }
        let two = [("Origin", "devtools://devtools"), ("Origin", "http://evil.example")]
        #expect(self.status(self.request(.devTools, two)) == 403)
        #expect(self.status(self.request(.devTools, host: "evil.example", [("Origin", "devtools://devtools")])) == 421)
        // The origin of the tools is of no use elsewhere.
        for endpoint in AdminEndpoint.allCases where endpoint != .devTools {
            let request = self.request(endpoint, token: true, [("Origin", "devtools://devtools")])
            #expect(self.status(request) == 403, "\(endpoint)")
        }
    }

    @Test(arguments: AdminEndpoint.allCases)
    func `a name that may be anybody's is refused, also with the token`(endpoint: AdminEndpoint) {
        for host in [
            "evil.example", "evil.example:3129", "127.0.0.1.evil.example:3129", "10.0.0.1:3129", "0.0.0.0:3129",
        ] {
            #expect(self.status(self.request(endpoint, host: host, token: true)) == 421, "\(host)")
        }
        for host in [nil, "", "a b"] as [String?] {
            #expect(self.status(self.request(endpoint, host: host, token: true)) == 400)
        }
        for host in ["localhost:3129", "LOCALHOST", "[::1]:3129", "127.8.9.10:3129", "Build.example:3129"] {
            #expect(self.status(self.request(endpoint, host: host, token: true)) == nil, "\(host)")
        }
    }

    @Test(arguments: AdminEndpoint.allCases)
    func `what a page of another site asks for is refused, also with the cookie`(endpoint: AdminEndpoint) {
        for origin in ["http://evil.example", "null", "http://127.0.0.1:3130", "https://127.0.0.1:3129"] {
            let request = self.request(endpoint, cookie: true, [("Origin", origin), ("Sec-Fetch-Site", "same-origin")])
            #expect(self.status(request) == 403, "\(origin)")
        }
        for site in ["cross-site", "same-site", "SAME-ORIGIN", "new"] {
            #expect(self.status(self.request(endpoint, cookie: true, [("Sec-Fetch-Site", site)])) == 403, "\(site)")
        }
    }

    @Test func `a link on another page leads to the page`() {
        let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
        #expect(self.status(self.request(.page, link)) == nil)
        #expect(self.status(self.request(.purge, cookie: true, link)) == 403)
    }

    @Test(arguments: AdminEndpoint.allCases)
    func `changes need a browser's word that a page of this endpoint asks`(endpoint: AdminEndpoint) {
        guard endpoint.access == .changing || endpoint.access == .signingIn else { return }
        #expect(self.status(self.request(endpoint, cookie: true)) == 403)
        for field in [
            ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "none"), ("Origin", "http://127.0.0.1:3129"),
        ] {
            #expect(self.status(self.request(endpoint, cookie: true, [field])) == nil, "\(field)")
        }
        // Programs have no cookie.
        #expect(self.status(self.request(endpoint, token: true)) == nil)
    }

    // MARK: Requests

    @Test(arguments: AdminEndpoint.allCases)
    func `an endpoint takes its methods alone`(endpoint: AdminEndpoint) {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"] {
            let takes = endpoint.methods.contains(method) || method == "HEAD" && endpoint.methods.contains("GET")
            #expect(
                self.status(self.request(endpoint, method: method, token: true)) == (takes ? nil : 405), "\(method)")
        }
    }

    @Test func `it is no proxy`() throws {
        let targets: [RequestTarget] = [
            .absolute(scheme: .http, authority: try #require(Authority("127.0.0.1:3129", defaultPort: 80)), path: "/"),
            .authority(try #require(Authority("127.0.0.1:3129", defaultPort: 80))), .asterisk,
        ]
        for target in targets {
            var head = RequestHead(method: "GET", target: target)
            head.fields.append("Host", "127.0.0.1:3129")
            head.fields.append("Authorization", "Bearer \(self.gate.credentials.token)")
            #expect(self.status(LocalRequest(head)) == 400)
        }
    }

    @Test func `those without the token do not learn which paths there are`() {
        for path in [
            "/x", "/api", "/api/", "/api/exchanges/", "/api/exchanges/a/b", "/assets/../x", "//healthz", "/HEALTHZ",
        ] {
            var head = RequestHead(method: "GET", target: .origin(path: path))
            head.fields.append("Host", "localhost")
            #expect(self.status(LocalRequest(head)) == 401, "\(path)")
            head.fields.append("Authorization", "Bearer \(self.gate.credentials.token)")
            #expect(self.status(LocalRequest(head)) == 404, "\(path)")
        }
    }

    @Test func `a token that differs in any place is wrong`() {
        let credentials = AdminCredentials()
        #expect(credentials.isToken(credentials.token) && credentials.isCookie(credentials.cookie))
        #expect(!credentials.isToken(credentials.cookie) && !credentials.isCookie(credentials.token))
        let right = Array(credentials.token.utf8)
        for place in right.indices {
            for byte in UInt8(ascii: "-")...UInt8(ascii: "z") where byte != right[place] {
                var wrong = right
                wrong[place] = byte
                #expect(!credentials.isToken(String(decoding: wrong, as: UTF8.self)))
            }
        }
        for _ in 0..<20_000 where credentials.isToken(AdminCredentials().token) {
            Issue.record("a foreign token passed")
        }
    }

    @Test func `tokens are long, differ, and have no characters that a link must escape`() {
        let all = (0..<20).flatMap { _ in [AdminCredentials()].flatMap { [$0.token, $0.cookie, $0.devTools] } }
        #expect(Set(all).count == all.count)
        #expect(
            all.allSatisfy { $0.utf8.count == 43 && $0.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) } })
    }
}
