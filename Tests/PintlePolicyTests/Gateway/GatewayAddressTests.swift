// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import Testing

@testable import PintlePolicy

/// `rewrite_upstream`: addresses of the upstream in responses to clients of the gateway, and the gateway's in requests.
struct GatewayAddressTests {
    private func addresses(
        _ upstream: String, prefix: String = "", host: String = "localhost", asked path: String = "/"
    ) throws -> GatewayAddresses {
        let upstream = try Upstream(upstream)
        let sent = try upstream.path(for: path, strippingPrefix: prefix)
        return GatewayAddresses(
            upstream: upstream, prefix: prefix, gateway: try #require(Authority(host, defaultPort: 80)),
            asked: (path, sent))
    }

    @Test(
        arguments: [
            ("http://up.test/", "", "http://up.test/a?b=c#d", "/a?b=c#d"),
            ("http://up.test/", "", "http://up.test", "/"),
            ("http://up.test", "", "http://UP.test:80/a", "/a"),
            ("http://up.test/", "", "//up.test/a", "/a"),
            ("http://up.test/", "", "/a", nil),
            ("http://up.test/", "", "a/b", nil),
            ("http://up.test/", "", "?page=2", nil),
            ("http://up.test/", "", "https://up.test/a", nil),
            ("http://up.test/", "", "http://up.test:8080/a", nil),
            ("http://up.test/", "", "http://other.test/a", nil),
            ("http://up.test/", "", "http://u:p@up.test/a", nil),
            ("http://up.test/", "", "mailto:a@up.test", nil),
            ("http://up.test/", "/pay", "http://up.test/a", "/pay/a"),
            ("http://up.test/", "/pay", "/a", "/pay/a"),
            ("http://up.test/", "/pay", "/", "/pay/"),
            ("http://up.test/v1", "", "/v1/a", "/a"),
            ("http://up.test/v1", "", "/v2/a", nil),
            ("http://up.test/v1", "", "http://up.test/v2/a", nil),
            ("http://up.test/v1", "/pay", "http://up.test/v1/a", "/pay/a"),
            ("http://up.test/v1", "/pay", "http://up.test/v1", "/pay"),
            ("http://up.test/v1", "", "http://up.test/v1", "/"),
            ("http://up.test/v1", "/pay", "http://up.test/v1?b=c#d", "/pay?b=c#d"),
            ("http://up.test/v1", "/pay", "/v1?b=/", "/pay?b=/"),
            ("http://up.test/v1", "", "/v1?b=c", "/?b=c"),
            ("http://up.test/v1", "/pay", "/v11?b=c", nil),
            // Clients resolve dot segments before they ask.
            ("http://up.test/v1", "/pay", "http://up.test/v1/../x", nil),
            ("http://up.test/v1", "/pay", "/v1/%2E%2e/x?a=/../", nil),
            ("http://up.test/v1", "/pay", "/v1/..", nil),
            ("http://up.test/v1", "/pay", "/v1/.", "/pay/"),
            ("http://up.test/v1", "/pay", "/v1/a/../b?c=../d#e", "/pay/b?c=../d#e"),
            ("http://up.test/v1", "/pay", "http://up.test/x/../v1/./a", "/pay/a"),
            ("http://up.test/", "/pay", "/../a", "/pay/a"),
            ("http://up.test/", "", "http://up.test/x/..//evil.test", "/.//evil.test"),
            // The client must not be sent to another host.
            ("http://up.test/", "", "http://up.test//evil.test/a", "/.//evil.test/a"),
            ("http://up.test/v1", "", "/v1//evil.test", "/.//evil.test"),
            ("http://up.test/", "/pay", "http://up.test//a", "/pay//a"),
            ("http://up.test/v1", "", "/v1/\\evil.test", "/./\\evil.test"),
        ] as [(String, String, String, String?)])
    func `a location below the upstream becomes a path of the gateway`(
        upstream: String, prefix: String, reference: String, mapped: String?
    ) throws {
        #expect(try self.addresses(upstream, prefix: prefix).location(reference) == mapped)
    }

    @Test(
        arguments: [
            // A client that asks below the prefix resolves these to the same request.
            ("http://up.test/v1", "/pay", "/pay/a/b", "c", nil),
            ("http://up.test/v1", "/pay", "/pay/a/b", "../c?d=../e", nil),
            ("http://up.test/v1", "/pay", "/pay/a/b?c=/d", "./", nil),
            ("http://up.test/v1", "/pay", "/pay/a/b", "?page=2", nil),
            ("http://up.test/v1", "/pay", "/pay/a/b", "#c", nil),
            ("http://up.test/v1", "/pay", "/pay/a/b", "", nil),
            ("http://up.test/", "", "/a", "../../b", nil),
            // It leads out of the base.
            ("http://up.test/v1", "/pay", "/pay/a", "../c", nil),
            ("http://up.test/v1", "/pay", "/pay/a", "../v2/c", nil),
            // The upstream climbs above the base and comes back.
            ("http://up.test/v1", "/pay", "/pay/a", "../v1/c?d#e", "/pay/c?d#e"),
            ("http://up.test/v1", "/pay", "/pay/a/b", "../../v1/./c", "/pay/c"),
            ("http://up.test/v1", "", "/a/b", "../../v1/c", "/c"),
            ("http://up.test/", "/pay", "/pay/a", "../../c", "/pay/c"),
            ("http://up.test/", "/pay", "/pay/a", "..", "/pay/"),
            ("http://up.test/", "/pay", "/pay/a", "..//evil.test", "/pay//evil.test"),
            ("http://up.test/v1", "", "/a", "../v1//evil.test", "/.//evil.test"),
            // The upstream has got a slash that the client did not write.
            ("http://up.test/v1", "/pay", "/pay", "c", "/pay/c"),
            ("http://up.test/v1", "/pay", "/pay?a=/b/", "c?d=/e", "/pay/c?d=/e"),
            ("http://up.test/v1", "/pay", "/pay", "?d", "/pay/?d"),
            // Only some clients read a backslash as a slash.
            ("http://up.test/v1", "/pay", "/pay", "..\\c", nil),
            ("http://up.test/v1", "/pay", "/pay", "mailto:a@up.test", nil),
            ("http://up.test/v1", "/pay", "/pay", "./a:b", "/pay/a:b"),
        ] as [(String, String, String, String, String?)])
    func `a relative location is resolved as the upstream means it`(
        upstream: String, prefix: String, path: String, reference: String, mapped: String?
    ) throws {
        #expect(try self.addresses(upstream, prefix: prefix, asked: path).location(reference) == mapped)
    }

    @Test(
        arguments: [
            ("http://up.test/", "", "localhost", "a=b; Domain=up.test; Path=/x; Secure", "a=b; Path=/x; Secure"),
            ("http://up.test/", "", "localhost", "a=b; domain=.UP.test;HttpOnly", "a=b;HttpOnly"),
            ("http://app.up.test/", "", "localhost", "a=b; Domain=up.test", "a=b"),
            ("http://app.up.test/", "", "gate.up.test", "a=b; Domain=up.test", "a=b; Domain=up.test"),
            ("http://up.test/", "", "localhost", "a=b; Domain=other.test", "a=b; Domain=other.test"),
            ("http://up.test/", "", "localhost", "a=Domain=up.test", "a=Domain=up.test"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=/v1/x", "a=b; Path=/pay/x"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; path=/v1", "a=b; Path=/pay"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=/; Secure", "a=b; Path=/pay; Secure"),
            ("http://up.test/v1", "", "localhost", "a=b; Path=/v1/", "a=b; Path=/"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=/v1/", "a=b; Path=/pay"),
            // Clients compare paths byte by byte.
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=/v1/x/", "a=b; Path=/pay/x/"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=/v1//x", "a=b; Path=/pay//x"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=/v1/../x", "a=b; Path=/pay/../x"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=//v1/x", "a=b; Path=//v1/x"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=/x/../v1", "a=b; Path=/x/../v1"),
            ("http://up.test/", "/pay", "localhost", "a=b; Path=/x/", "a=b; Path=/pay/x/"),
            ("http://up.test/", "/pay", "localhost", "a=b; Path=/", "a=b; Path=/pay"),
            ("http://up.test/v1", "", "localhost", "a=b; Path=/v2", "a=b; Path=/v2"),
            ("http://up.test/v1", "", "localhost", "a=b; Path=/v11", "a=b; Path=/v11"),
            ("http://up.test/v1", "/pay", "localhost", "a=b; Path=x", "a=b; Path=x"),
            ("http://up.test/v1", "/pay", "localhost", "a=b", "a=b"),
            ("http://up.test/", "/pay", "localhost", "__Host-a=b; Path=/; Secure", "__Host-a=b; Path=/; Secure"),
            ("http://up.test/", "", "localhost", "", ""),
        ])
    func `a cookie of the upstream becomes the gateway's`(
        upstream: String, prefix: String, host: String, line: String, mapped: String
    ) throws {
        #expect(try self.addresses(upstream, prefix: prefix, host: host).cookie(line) == mapped)
    }

    private func forwarded(_ request: [String], _ fields: Fields, by more: String = "") throws -> Fields {
        let policy = try policy(
            "routes: [{name: a, match: {hosts: [localhost]}, upstream: \"http://up.test/v1\", strip_prefix: /pay\(more)}]"
        )
        let plan = RequestPlan(try RequestHead(spelled: request), .none, by: policy)
        let head = ResponseHead(status: 302, fields: fields)
        return head.forwarded(
            by: plan.responseRewriter, via: nil, version: "1.1", marks: [], others: []
        ).fields
    }

    @Test func `the fields of a response are mapped, each line by itself`() throws {
        let fields = try self.forwarded(
            ["GET /pay/x", "Host: localhost:3128"],
            [
                "Date": "D", "Location": "http://up.test/v1/in", "Content-Location": "/v1/x",
                "Set-Cookie": "a=b; Path=/v1",
                "Set-Cookie": "c=d",
            ])
        #expect(
            fields
                == [
                    "Date": "D", "Location": "/pay/in", "Content-Location": "/pay/x", "Set-Cookie": "a=b; Path=/pay",
                    "Set-Cookie": "c=d",
                ])
    }

    @Test func `a request without the prefix gets locations without it`() throws {
        #expect(try self.forwarded(["GET /x", "Host: localhost"], ["Location": "/v1/in"])["Location"] == "/in")
    }

    @Test
    func `clients that name the destination themselves, and those of a route that says so, get fields as they are`()
        throws
    {
        let fields: Fields = ["Location": "http://up.test/v1/in"]
        #expect(try self.forwarded(["GET http://localhost/pay/x"], fields)["Location"] == "http://up.test/v1/in")
        let kept = try self.forwarded(["GET /pay/x", "Host: localhost"], fields, by: ", rewrite_upstream: off")
        #expect(kept["Location"] == "http://up.test/v1/in")
    }

    // MARK: Requests

    @Test(
        arguments: [
            ("http://up.test/", "", "localhost:3128", "http://localhost:3128/b", "http://up.test/b"),
            ("https://up.test/", "", "localhost:3128", "http://LOCALHOST:3128/b%20c", "https://up.test/b%20c"),
            ("http://up.test:81/", "", "localhost", "http://localhost:80/b", "http://up.test:81/b"),
            ("http://[::1]:81/", "", "localhost", "http://localhost/b", "http://[::1]:81/b"),
            // TLS ends before the gateway, or at it.
            ("http://up.test/", "", "localhost", "https://localhost/b", "http://up.test/b"),
            ("http://up.test/", "", "localhost:443", "https://localhost/b", "http://up.test/b"),
            ("http://up.test/", "", "localhost:8443", "https://localhost:8443/b", "http://up.test/b"),
            ("http://up.test/v1", "/pay", "localhost", "http://localhost/pay/b", "http://up.test/v1/b"),
            ("http://up.test/v1", "/pay", "localhost", "/pay/b", "/v1/b"),
            ("http://up.test/v1", "", "localhost", "/b", "/v1/b"),
            ("http://up.test/", "", "localhost", "/b", nil),
            // Another route's, another server's, or unclear.
            ("http://up.test/v1", "/pay", "localhost", "http://localhost/b", nil),
            ("http://up.test/v1", "/pay", "localhost", "/payment/b", nil),
            ("http://up.test/", "", "localhost:3128", "http://localhost/b", nil),
            ("http://up.test/", "", "localhost", "http://localhost:3128/b", nil),
            ("http://up.test/", "", "localhost", "http://up.test/b", nil),
            ("http://up.test/", "", "localhost", "http://u:p@localhost/b", nil),
            ("http://up.test/v1", "", "localhost", "http://localhost/../b", nil),
            ("http://up.test/v1", "", "localhost", "//other.test/b", nil),
            ("http://up.test/v1", "", "localhost", "b", nil),
            ("http://up.test/v1", "", "localhost", "", nil),
        ] as [(String, String, String, String, String?)])
    func `a destination at the gateway becomes one at the upstream`(
        upstream: String, prefix: String, host: String, reference: String, mapped: String?
    ) throws {
        #expect(try self.addresses(upstream, prefix: prefix, host: host).destination(reference) == mapped)
    }

    @Test(
        arguments: [
            (
                "<http://localhost/pay/b(1)> (<urn:uuid:1> [\"a)<b\"]) (Not <DAV:no-lock>)</pay/c>(<urn:uuid:2>)",
                "<http://up.test/v1/b(1)> (<urn:uuid:1> [\"a)<b\"]) (Not <DAV:no-lock>)</v1/c>(<urn:uuid:2>)"
            ),
            ("(<http://localhost/pay/token>)", nil), ("<http://other.test/pay/b> (<urn:uuid:1>)", nil),
            ("<http://localhost/pay/b", nil), ("([\"a)", nil), ("", nil),
            ("<http://localhost/pay/\u{E4}> ([\"a\"])", nil),
        ] as [(String, String?)])
    func `resources of conditions become the upstream's, tokens and entity tags stay`(text: String, mapped: String?)
        throws
    {
        #expect(try self.addresses("http://up.test/v1", prefix: "/pay").conditions(text) == mapped)
    }

    private func sent(_ request: [String], by more: String = "") throws -> Fields {
        let policy = try policy(
            "routes: [{name: a, match: {hosts: [localhost]}, upstream: \"http://up.test/v1\", strip_prefix: /pay\(more)}]"
        )
        let head = try RequestHead(spelled: request)
        return try RequestPlan(head, .none, by: policy).request(from: head, .streamed, of: .local).transfer.fields
    }

    @Test func `a move is sent with the upstream's names for its destination and locks`() throws {
        let fields = [
            "Host: localhost:3128", "Destination: http://localhost:3128/pay/b",
            "If: <http://localhost:3128/pay/a> (<urn:uuid:1>)",
        ]
        let sent = try self.sent(["MOVE /pay/a"] + fields)
        #expect(sent["Destination"] == "http://up.test/v1/b")
        #expect(sent["If"] == "<http://up.test/v1/a> (<urn:uuid:1>)")
        let kept = try self.sent(["MOVE /pay/a"] + fields, by: ", rewrite_upstream: off")
        #expect(kept["Destination"] == "http://localhost:3128/pay/b")
        #expect(kept["If"] == "<http://localhost:3128/pay/a> (<urn:uuid:1>)")
    }

    @Test func `a client of the proxy names the host that the route replaces`() throws {
        let fields = ["Host: localhost", "Destination: http://localhost/pay/b"]
        #expect(try self.sent(["MOVE http://localhost/pay/a"] + fields)["Destination"] == "http://up.test/v1/b")
        let other = ["Host: localhost", "Destination: http://localhost:81/pay/b"]
        #expect(
            try self.sent(["MOVE http://localhost/pay/a"] + other)["Destination"] == "http://localhost:81/pay/b")
    }

    @Test func `rules for the fields of responses come last`() throws {
        let fields = try self.forwarded(
            ["GET /pay/x", "Host: localhost"], ["Location": "http://up.test/v1/in"],
            by: ", response: {headers: {set: {Location: \"/home\"}}}")
        #expect(fields["Location"] == "/home")
    }
}
