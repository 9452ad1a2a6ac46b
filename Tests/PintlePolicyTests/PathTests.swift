// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

struct PathTests {
    /// Found by fuzzing: a decoded path was decoded again for the comparison.
    @Test(arguments: [
        ("/%38+", "/8+", true), ("/%38+", "/%3%38+", false), ("/a*", "/%61b", true), ("/a*", "/%2561b", false),
        ("/v1/**", "/v1/x", true), ("/v1/**", "/v2/x", false),
    ])
    func `a pattern covers another where it matches what that one stands for`(
        wide: String, narrow: String, covers: Bool
    ) throws {
        #expect(try PathPattern(wide).covers(try PathPattern(narrow)) == covers)
    }

    @Test(arguments: [
        ("/v1/charges", "/v1/charges", true), ("/v1/charges", "/v1/charges?x=1", true),
        ("/v1/charges", "/v1/charges/", false), ("/v1/charges", "/v1/charge", false), ("/v1/*", "/v1/a", true),
        ("/v1/*", "/v1/", true), ("/v1/*", "/v1/a/b", false), ("/v1/*/c", "/v1/b/c", true),
        ("/v1/*/c", "/v1/b/b/c", false), ("/v1/**", "/v1/", true), ("/v1/**", "/v1/a/b", true),
        ("/v1/**", "/v1", false), ("/**", "/", true), ("**", "/a", true), ("/**/c", "/a/b/c", true),
        ("/**/c", "/c", false), ("/a/**/c/*", "/a/b/c/d/c/e", true), ("/a/**/c/*", "/a/b/c/d/e", false),
        ("/*.js", "/app.min.js", true), ("/*.js", "/lib/app.js", false), ("/a*b*c", "/aXbXbc", true),
        ("/a*b*c", "/aXbX", false), ("/v1/charges", "/%76%31/charges", true), ("/%76%31/*", "/v1/x", true),
        ("/a%2Fb", "/a%2Fb", true), ("/a/b", "/a%2Fb", false), ("/a*", "/a%2Fb", true), ("/v1/*", "/v1/%", true),
        ("/v1/*", "/v1/%2", true), ("/", "/", true), ("/", "/?a", true), ("/*", "/?a/b", true),
    ])
    func `a path pattern matches as its stars say`(pattern: String, path: String, expected: Bool) throws {
        #expect(try PathPattern(pattern).matches(path) == expected)
    }

    @Test(arguments: [
        ("v1", "a path pattern begins with /"), ("", "a path pattern begins with /"),
        ("/a?b", "a path pattern has no query or fragment: only the path is compared"),
        ("/a b", "a path pattern is printable ASCII without spaces: percent-encode the rest"),
        ("/***", "a star is single, *, or double, **"),
        ("/*" + String(repeating: "a", count: 127), "a path pattern has at most 127 characters from its first star on"),
    ])
    func `a malformed path pattern is refused with the reason`(text: String, reason: String) {
        #expect(throws: Malformed(reason)) { try PathPattern(text) }
    }

    @Test func `a hostile path meets a hostile pattern in bounded steps`() throws {
        // With backtracking this would practically never end.
        let pattern = try PathPattern("/" + String(repeating: "**a*a", count: 20) + "b")
        #expect(!pattern.matches("/" + String(repeating: "a", count: 16_000)))
        #expect(pattern.matches("/" + String(repeating: "a", count: 16_000) + "b"))
    }

    @Test(arguments: [
        ("https://api/v1/", "/charges?x=1", nil, "https://api:443/v1/charges?x=1"),
        ("https://api/v1", "/charges", nil, "https://api:443/v1/charges"),
        ("https://api", "/charges", nil, "https://api:443/charges"),
        ("https://api/", "/charges", nil, "https://api:443/charges"),
        ("https://api/v1/", "/", nil, "https://api:443/v1/"),
        ("https://api/v1/", "//x", nil, "https://api:443/v1//x"),
        ("https://api/v1/", "/a%2Fb", nil, "https://api:443/v1/a%2Fb"),
        ("HTTPS://API:8443/v1", "/a", nil, "https://api:8443/v1/a"),
        ("http://[::1]:81/x", "/a", nil, "http://[::1]:81/x/a"),
        ("https://api/v1/", "/pay/x", "/pay", "https://api:443/v1/x"),
        ("https://api/v1/", "/pay", "/pay", "https://api:443/v1/"),
        ("https://api/v1/", "/pay?a=1", "/pay", "https://api:443/v1/?a=1"),
        ("https://api/v1/", "/payment", "/pay", "https://api:443/v1/payment"),
        ("https://api", "/pay/x", "/pay", "https://api:443/x"), ("https://api", "/pay", "/pay", "https://api:443/"),
        ("https://api/v1/", "/x?u=/../y", nil, "https://api:443/v1/x?u=/../y"),
        ("https://api/v1/", "/...", nil, "https://api:443/v1/..."),
        ("https://api/v1/", "/.a/b..", nil, "https://api:443/v1/.a/b.."),
        ("https://api/v1/", "*", nil, "https://api:443*"),
    ])
    func `a path is joined to the base`(base: String, path: String, prefix: String?, expected: String) throws {
        let target = try Upstream(base).target(for: path, strippingPrefix: prefix)
        guard case .absolute(let scheme, let authority, let path) = target else {
            Issue.record("not an absolute target")
            return
        }
        #expect("\(scheme)://\(authority)\(path)" == expected)
    }

    @Test(arguments: [
        "/../x", "/..", "/a/../../x", "/./x", "/a/.", "/%2e%2e/x", "/%2E./x", "/a/.%2e", "/..%2fx", "/a%5c..%5cx",
        "/..\\x", "/pay/../x", "/../x?y",
    ])
    func `a path cannot climb above the base, in any encoding`(path: String) throws {
        let upstream = try Upstream("https://api/v1/")
        #expect(throws: Malformed("a path with . or .. segments is not sent to an upstream with a base URL")) {
            try upstream.target(for: path, strippingPrefix: "/pay")
        }
    }

    @Test(arguments: [
        ("ftp://x/", "an upstream is an absolute http:// or https:// URL"),
        ("api.example", "an upstream is an absolute http:// or https:// URL"),
        ("https://api/v1?x=1", "an upstream has no query; use request.parameters"),
        ("https://api/v1#x", "an upstream has no fragment"),
        (
            "https://u:p@api/",
            "an upstream has no user information; set the Authorization field from env: or file:"
        ),
        ("https:///v1", "the host or port is not valid"), ("https://api:0/", "the host or port is not valid"),
        ("https://api/../v1", "an upstream has no . or .. segments"),
        ("https://api/a b", "an upstream is printable ASCII without spaces or backslashes: percent-encode the rest"),
    ])
    func `a malformed upstream is refused with the reason`(text: String, reason: String) {
        #expect(throws: Malformed(reason)) { try Upstream(text) }
    }

    @Test(arguments: [
        ("http://example.com/v1", "http://example.com/v1/"), ("http://example.com", "http://example.com"),
        ("http://example.com/v1/", "http://example.com/v1/"),
    ])
    func `a base URL gets the trailing slash that its path lacks`(text: String, expected: String) throws {
        #expect(try Upstream(text).description == expected)
    }
}
