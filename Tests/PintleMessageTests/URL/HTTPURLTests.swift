// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@Suite struct HTTPURLTests {
    @Test(arguments: [
        ("http://example.com/a/b?c=d", "http://example.com/a/b?c=d"),
        ("HTTPS://EXAMPLE.Com/A", "https://example.com/A"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com?x=1", "https://example.com/?x=1"),
        ("https://example.com#top", "https://example.com/"),
        ("https://example.com/a#top?x/y#z", "https://example.com/a"),
        ("https://example.com/a?b?c=/d", "https://example.com/a?b?c=/d"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:/", "https://example.com/"),
        ("https://example.com:8443", "https://example.com:8443/"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://[::1]", "http://[::1]/"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/"),
        ("http://example.com./", "http://example.com/"),
        ("http://example.com/a/./b/../c//d", "http://example.com/a/./b/../c//d"),
        ("http://example.com/?", "http://example.com/?"),
        ("http://example.com/@:;=+$,!*'()&~", "http://example.com/@:;=+$,!*'()&~"),
    ])
    func `a URL is read and written in normal form`(text: String, normal: String) throws {
        let url = try HTTPURL(text)
        #expect(url.description == normal)
        #expect(try HTTPURL(normal) == url)
    }

    @Test func `a URL has a scheme, an authority and a path with its query`() throws {
        let url = try HTTPURL("https://[::1]:8443/a?b#c")
        #expect(url.scheme == .https)
        #expect(url.authority == Authority(host: "::1", port: 8443))
        #expect(url.path == "/a?b")
        #expect(url.isSecure)
        #expect(try !HTTPURL("http://a/").isSecure)
    }

    @Test(arguments: [
        ("/café?ü=ß", "/caf%C3%A9?%C3%BC=%C3%9F"),
        ("/\"<>^`{|}", "/%22%3C%3E%5E%60%7B%7C%7D"),
        ("/a?\"<>^`{|}", "/a?%22%3C%3E%5E%60%7B%7C%7D"),
        ("/a?b[c]=d", "/a?b%5Bc%5D=d"),
        ("/%C3%A9%2f%20", "/%C3%A9%2f%20"),
        ("/100%?50%&%4", "/100%?50%&%4"),
        ("/%zz\u{1F600}", "/%zz%F0%9F%98%80"),
    ])
    func `what a path may not have is encoded once and an escape never again`(text: String, path: String) throws {
        #expect(try HTTPURL("http://a\(text)").path == path)
        #expect(try HTTPURL("http://a\(path)").path == path)
    }

    @Test(arguments: [
        ("", HTTPURLError.Code.relative, 0),
        ("/path", .relative, 0),
        ("//example.com/", .relative, 0),
        ("127.0.0.1:80/", .relative, 0),
        ("ftp://example.com/", .unknownScheme, 0),
        ("localhost:8080/", .unknownScheme, 0),
        ("javascript:alert(1)", .unknownScheme, 0),
        ("file:///etc/passwd", .unknownScheme, 0),
        ("httpss://a/", .unknownScheme, 0),
        ("http:/example.com", .invalidHost, 5),
        ("http:example.com", .invalidHost, 5),
        ("https://", .invalidHost, 8),
        ("https:///path", .invalidHost, 8),
        ("https://:443/", .invalidHost, 8),
        ("https://a%62c/", .invalidHost, 8),
        ("https://a,b/", .invalidHost, 8),
        ("https://[::1/", .invalidHost, 8),
        ("https://[::1]x:1/", .invalidHost, 8),
        ("https://[v1.x]/", .invalidHost, 8),
        ("https://::1/", .invalidHost, 8),
        ("https://bücher.example/", .invalidHost, 9),
        ("https://a:0/", .invalidPort, 10),
        ("https://a:65536/", .invalidPort, 10),
        ("https://a:x/", .invalidPort, 10),
        ("https://a:-1/", .invalidPort, 10),
        ("https://a:99999999999999999999/", .invalidPort, 10),
        ("https://[::1]:x/", .invalidPort, 14),
        ("https://me@a/", .userInformation, 10),
        ("https://me:secret@a/", .userInformation, 17),
        ("https://@a/", .userInformation, 8),
        ("http://a b/", .illegalCharacter, 8),
        (" http://a/", .illegalCharacter, 0),
        ("http://a/ ", .illegalCharacter, 9),
        ("http://a/\r\nX: y", .illegalCharacter, 9),
        ("http://a/\nb", .illegalCharacter, 9),
        ("http://a/\u{0}", .illegalCharacter, 9),
        ("http://a/?\t", .illegalCharacter, 10),
        ("http://a/\u{7F}", .illegalCharacter, 9),
        ("http://a\\b/", .illegalCharacter, 8),
        ("http:\\\\a/", .illegalCharacter, 5),
        ("http://a/#\n", .illegalCharacter, 10),
    ])
    func `a text that is no usable URL is refused with its place`(
        text: String, code: HTTPURLError.Code, offset: Int
    ) throws {
        let error = try #require(throws: HTTPURLError.self) { try HTTPURL(text) }
        #expect(error.code == code)
        #expect(error.offset == offset)
    }

    @Test func `a refusal says what to do and never repeats a secret`() throws {
        let secret = try #require(throws: HTTPURLError.self) { try HTTPURL("https://me:hunter2@example.com/") }
        #expect(
            secret.description
                == "the URL has user information before its host; give the credential by itself (at byte 18)")
        let name = try #require(throws: HTTPURLError.self) { try HTTPURL("https://bücher.example/") }
        #expect(
            name.description
                == "the host is not ASCII; write its A-label, as in xn--bcher-kva.example (at byte 9)")
    }

    @Test(arguments: [
        ("http://a/x", "http://A:80/y", true), ("http://a/", "https://a/", false), ("http://a/", "http://b/", false),
        ("http://a/", "http://a:81/", false), ("http://a:443/", "https://a:443/", false),
    ])
    func `an origin is scheme, host and port`(left: String, right: String, isSame: Bool) throws {
        #expect(try HTTPURL(left).isSameOrigin(as: HTTPURL(right)) == isSame)
    }

    @Test(arguments: [
        ("/a/report.pdf?x=/y", "report.pdf"), ("/caf%C3%A9%20.txt", "café .txt"), ("/.profile", ".profile"),
        ("/a/...", "..."), ("/a/", nil), ("/", nil), ("", nil), ("/a/..", nil), ("/a/.", nil), ("/%2e%2E", nil),
        ("/a%2Fb", nil), ("/..%2f..%2fetc", nil), ("/a%00b", nil), ("/a%0Ab", nil), ("/a%C2%85b", nil),
        ("/%FF", nil), ("/100%", nil), ("/\(String(repeating: "x", count: 256))", nil),
        ("/\(String(repeating: "x", count: 255))", String(repeating: "x", count: 255)),
    ])
    func `the name for a saved file cannot leave its folder`(path: String, name: String?) throws {
        #expect(try HTTPURL("http://a\(path)").fileName == name)
    }
}
