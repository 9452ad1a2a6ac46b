// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@Suite struct RedirectionTests {
    private static let fields: Fields = [
        "Host": "a.example", "Accept": "*/*", "Authorization": "Basic eA==", "Cookie": "c=d",
        "Proxy-Authorization": "Basic eQ==", "Content-Type": "text/plain", "Content-Encoding": "gzip",
        "Content-Language": "de", "Content-Location": "/x", "Content-Length": "3", "content-md5": "z",
        "Transfer-Encoding": "chunked", "Trailer": "T", "Expect": "100-continue", "X-Own": "1",
    ]
    private static let contentNames = [
        "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Length", "Content-MD5",
        "Transfer-Encoding", "Trailer", "Expect",
    ]
    private static let originNames = ["Host", "Authorization", "Cookie", "Proxy-Authorization"]

    private func proposal(
        _ status: UInt16, _ method: String, from url: String = "https://a.example/p/q?r",
        to locations: String..., hasBody: Bool = true
    ) throws -> Redirection? {
        var fields = Fields()
        for location in locations { fields.append("Location", location) }
        return try Redirection.proposed(
            by: ResponseHead(status: status, fields: fields), to: method, HTTPURL(url), fields: Self.fields,
            hasBody: hasBody)
    }

    @Test(arguments: [
        (UInt16(301), "POST", "GET", false), (301, "GET", "GET", true), (301, "PUT", "PUT", true),
        (301, "HEAD", "HEAD", true), (301, "post", "post", true), (302, "POST", "GET", false),
        (302, "DELETE", "DELETE", true), (303, "POST", "GET", false), (303, "PUT", "GET", false),
        (303, "HEAD", "HEAD", false), (303, "GET", "GET", false), (307, "POST", "POST", true),
        (307, "PATCH", "PATCH", true), (308, "POST", "POST", true), (308, "GET", "GET", true),
    ])
    func `method and body follow the status`(status: UInt16, method: String, next: String, keepsBody: Bool) throws {
        let proposal = try #require(try self.proposal(status, method, to: "/new"))
        #expect(proposal.method == next)
        #expect(proposal.keepsBody == keepsBody)
        #expect(proposal.url.description == "https://a.example/new")
        for name in Self.contentNames { #expect(proposal.fields.contains(name) == keepsBody, "\(name)") }
        #expect(proposal.fields["Accept"] == "*/*")
        #expect(proposal.fields["X-Own"] == "1")
        #expect(try self.proposal(status, method, to: "/new", hasBody: false)?.keepsBody == false)
    }

    @Test(arguments: [
        ("https://a.example/p", "/new", true), ("https://a.example/p", "https://A.example:443/", true),
        ("https://a.example/p", "https://b.example/", false), ("https://a.example/p", "//a.example:8443/", false),
        ("https://a.example/p", "http://a.example/", false), ("http://a.example/p", "https://a.example/", false),
        ("https://a.example/p", "https://sub.a.example/", false),
    ])
    func `credentials stay within the origin`(url: String, location: String, isSame: Bool) throws {
        let proposal = try #require(try self.proposal(307, "POST", from: url, to: location))
        for name in Self.originNames { #expect(proposal.fields.contains(name) == isSame, "\(name)") }
        #expect(proposal.keepsBody)
        #expect(proposal.fields["Content-Type"] == "text/plain")
        #expect(proposal.fields["X-Own"] == "1")
    }

    @Test(arguments: [
        ("x", "https://a.example/p/x"), ("?y", "https://a.example/p/q?y"), ("../../..//z/.", "https://a.example//z/"),
        ("#here", "https://a.example/p/q?r"), ("/b#c", "https://a.example/b"),
        ("http://b.example", "http://b.example/"), ("/ü", "https://a.example/%C3%BC"),
    ])
    func `the Location is resolved against the request's URL`(location: String, url: String) throws {
        #expect(try self.proposal(302, "GET", to: location)?.url.description == url)
    }

    @Test(arguments: [UInt16(200), 201, 300, 304, 305, 306, 309, 399, 401, 100])
    func `other statuses are no redirects`(status: UInt16) throws {
        #expect(try self.proposal(status, "GET", to: "/new") == nil)
        #expect(try self.proposal(status, "GET", to: "nonsense://\\") == nil)
    }

    @Test func `a redirect that does not say where to is none`() throws {
        #expect(try self.proposal(302, "GET") == nil)
        #expect(try self.proposal(302, "GET", to: "") == nil)
    }

    @Test(arguments: [
        ("ftp://a.example/", HTTPURLError.Code.unknownScheme), ("javascript:alert(1)", .unknownScheme),
        ("https://me:secret@a.example/", .userInformation), ("https://", .invalidHost), ("http:/x", .invalidHost),
        ("https://a.example:x/", .invalidPort), ("/a b", .illegalCharacter), ("\\\\b.example\\", .illegalCharacter),
    ])
    func `a Location that is no usable URL is refused with the reason`(
        location: String, code: HTTPURLError.Code
    ) throws {
        let error = try #require(throws: RedirectionError.self) { try self.proposal(302, "GET", to: location) }
        #expect(error.code == .invalidLocation)
        #expect(error.cause?.code == code)
        #expect(!error.description.contains("secret"))
    }

    @Test func `a refusal of a Location reads as one sentence`() throws {
        let error = try #require(throws: RedirectionError.self) { try self.proposal(302, "GET", to: "ftp://x/") }
        #expect(
            error.description
                == "the Location of the redirect cannot be followed: the URL's scheme is neither http nor https; begin "
                + "it with https:// or http:// (at byte 0)")
    }

    @Test func `a Location that is not UTF-8 is refused`() throws {
        var fields = Fields()
        let name = Array("Location".utf8)
        let value: [UInt8] = Array("/caf".utf8) + [0xE9]
        name.withUnsafeBytes { name in value.withUnsafeBytes { fields.append(name: name, value: $0) } }
        let error = try #require(throws: RedirectionError.self) {
            try Redirection.proposed(
                by: ResponseHead(status: 302, fields: fields), to: "GET", HTTPURL("http://a/"), fields: [:],
                hasBody: false)
        }
        #expect(error == RedirectionError(.invalidLocation, "the Location of the redirect is not UTF-8", cause: nil))
    }

    @Test func `several Locations must be the same`() throws {
        let error = try #require(throws: RedirectionError.self) { try self.proposal(302, "GET", to: "/a", "/b") }
        #expect(error.code == .ambiguousLocation)
        #expect(try self.proposal(302, "GET", to: "/a", "/a")?.url.path == "/a")
        #expect(throws: RedirectionError.self) { try self.proposal(302, "GET", to: "", "/b") }
    }
}
