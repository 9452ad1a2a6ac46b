// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@Suite struct ResolutionTests {
    /// RFC 3986 §5.4.1 and §5.4.2, the fragments gone.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"),
        ("g#s/../x", "http://a/b/c/g"),
    ])
    func `the examples of RFC 3986 are resolved as it says`(reference: String, url: String) throws {
        #expect(try HTTPURL("http://a/b/c/d;p?q").resolving(reference).description == url)
    }

    @Test(arguments: [
        ("g:h", HTTPURLError.Code.unknownScheme, 0), ("http:g", .invalidHost, 5), ("//me@b/", .userInformation, 4),
        ("//", .invalidHost, 2), ("/a b", .illegalCharacter, 2), ("//b:0", .invalidPort, 4),
        ("mailto:a@b", .unknownScheme, 0), ("data:,x", .unknownScheme, 0),
    ])
    func `a reference to nowhere is refused`(reference: String, code: HTTPURLError.Code, offset: Int) throws {
        let base = try HTTPURL("http://a/b/c/d;p?q")
        let error = try #require(throws: HTTPURLError.self) { try base.resolving(reference) }
        #expect(error.code == code)
        #expect(error.offset == offset)
    }

    @Test(arguments: [
        ("http://a", "g", "http://a/g"), ("http://a?q", "?y", "http://a/?y"), ("http://a/b/", "", "http://a/b/"),
        ("http://a/b?c/d", "g", "http://a/g"), ("https://a:8443/b", "//c/d", "https://c/d"),
        ("https://a/b", "HTTP://C/x/../y/.", "http://c/y/"), ("http://a/b", "//c", "http://c/"),
        ("http://a/b", "?", "http://a/b?"), ("http://a/b/c", "..//d", "http://a//d"),
        ("http://a/b/c", "%2e%2e/d", "http://a/b/%2e%2e/d"), ("http://a/b/c", "üd", "http://a/b/%C3%BCd"),
        ("http://a/x", "1:2", "http://a/1:2"), ("http://a/x", "./b:c", "http://a/b:c"),
    ])
    func `other references are resolved by the same rule`(base: String, reference: String, url: String) throws {
        #expect(try HTTPURL(base).resolving(reference).description == url)
    }

    @Test(arguments: ["http://example.com/v1", "http://example.com/v1/"])
    func `HSM-01 HSM-03 a base has a slash at its end`(base: String) throws {
        #expect(try HTTPURL(base).asBase().description == "http://example.com/v1/")
    }

    @Test func `HSM-01 the slash of a base stands before its query`() throws {
        #expect(try HTTPURL("http://example.com/v1?a=/").asBase().description == "http://example.com/v1/?a=/")
    }

    @Test func `HSM-02 a base without a path stays at the root`() throws {
        let url = try HTTPURL("http://example.com")
        #expect(url.asBase() == url)
        #expect(url.asBase().path == "/")
    }

    @Test(arguments: [
        ("foo", "http://example.com/v1/foo"), ("foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("/foo", "http://example.com/foo"), ("/foo/", "http://example.com/foo/"),
        ("http://example2.com/", "http://example2.com/"),
    ])
    func `HSM-04 references are resolved against the base`(reference: String, url: String) throws {
        #expect(try HTTPURL("http://example.com/v1").asBase().resolving(reference).description == url)
        #expect(try HTTPURL("http://example.com/v1/").resolving(reference).description == url)
    }

    @Test func `HSM-05 a slash at the end of a reference stays`() throws {
        let base = try HTTPURL("http://example.com/v1").asBase()
        #expect(try base.resolving("foo/").description == "http://example.com/v1/foo/")
    }

    @Test func `whatever is resolved can be sent and read again`() throws {
        var random = SeededGenerator(seed: 3986)
        let pieces = [
            "/", "/", ".", "..", "?", "#", ":", "@", "a", "%", "%2F", "é", "[", "]", "//", "http:", "\\", " ", "8",
        ]
        let base = try HTTPURL("http://a/b/c/d;p?q")
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...8, using: &random)
            let reference = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            guard let url = try? base.resolving(reference) else { continue }
            #expect(try HTTPURL(url.description) == url, "\(reference)")
            #expect(try url.resolving(url.description) == url, "\(reference)")
            #expect(url.path.hasPrefix("/") && url.path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(reference)")
            #expect(!url.path.contains("#") && !url.authority.host.contains("@"), "\(reference)")
        }
    }

    @Test func `HSM-06 without a base only an absolute URL will do`() {
        #expect(throws: HTTPURLError(.relative, "the URL has no scheme; begin it with https:// or http://", offset: 0))
        {
            try HTTPURL("foo")
        }
    }
}
