// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTrust
import Testing

@testable import PintleMessage

/// Parsing of Set-Cookie fields (RFC 6265 §5.2, §5.3). The jar's tests cover their effect over the wire.
@Suite struct CookieReadingTests {
    private static let now: Int64 = 1_800_000_000

    private func cookie(_ line: String, from url: String = "https://a.example/one/two?q=/three/") throws -> Cookie? {
        Cookie(line, from: try HTTPURL(url), at: Self.now, isShared: PublicSuffixes.isShared)
    }

    @Test(arguments: [
        ("a=1", "a", "1"), (" a = 1 ", "a", "1"), ("a=", "a", ""), ("=1", "", "1"), ("1", "", "1"),
        ("a=b=c", "a", "b=c"), ("a=\"b c\"", "a", "\"b c\""),
    ])
    func `name and value are what stands around the first sign of equality`(
        line: String, name: String, value: String
    ) throws {
        let read = try #require(try self.cookie(line))
        #expect(read.name == name && read.value == value)
    }

    @Test(arguments: ["", "=", ";", "a=\u{1}", "a=\u{7F}", "a=" + String(repeating: "x", count: 4096)])
    func `what is no cookie is left out`(line: String) throws {
        #expect(try self.cookie(line) == nil)
    }

    @Test(arguments: [
        ("a=1", "/one"), ("a=1; Path=/x", "/x"), ("a=1; path=x", "/one"), ("a=1; Path", "/one"),
        ("a=1; Path=/x; Path=/y", "/y"),
    ])
    func `the path is the attribute's or the folder's`(line: String, path: String) throws {
        #expect(try self.cookie(line)?.path == path)
    }

    @Test(arguments: [
        ("a=1", "a.example", true), ("a=1; Domain=a.example", "a.example", false),
        ("a=1; Domain=.A.Example", "a.example", false), ("a=1; Domain=", "a.example", true),
    ])
    func `a domain lets in the names below it`(line: String, domain: String, isHostOnly: Bool) throws {
        let read = try #require(try self.cookie(line))
        #expect(read.domain == domain && read.isHostOnly == isHostOnly)
    }

    @Test(arguments: ["b.example", "sub.a.example", "example", "xa.example"])
    func `a domain that is not the host's is refused`(domain: String) throws {
        #expect(try self.cookie("a=1; Domain=\(domain)") == nil)
    }

    @Test(.enabled(if: PublicSuffixes.areKnown), arguments: [("co.uk", "x.co.uk"), ("github.io", "me.github.io")])
    func `no cookie is for all whom a registry or a company gives names to`(domain: String, host: String) throws {
        #expect(try self.cookie("a=1; Domain=\(domain)", from: "https://\(host)/") == nil)
    }

    @Test func `an address has no names below it`() throws {
        let read = try #require(try self.cookie("a=1; Domain=192.0.2.1", from: "https://192.0.2.1/"))
        #expect(read.isHostOnly && read.domain == "192.0.2.1")
    }

    @Test func `what is said to be secure is taken in secret only`() throws {
        #expect(try self.cookie("a=1; Secure", from: "http://a.example/") == nil)
        #expect(try self.cookie("a=1; Secure", from: "http://localhost/") != nil)
        let read = try #require(try self.cookie("a=1; Secure; Path=/"))
        let (secret, open) = (try HTTPURL("https://a.example/"), try HTTPURL("http://a.example/"))
        #expect(read.belongs(to: secret) && !read.belongs(to: open))
    }

    @Test(arguments: [
        ("a=1; Max-Age=10", 1_800_000_010), ("a=1; Max-Age=0", 0), ("a=1; Max-Age=-5", 0),
        ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=10", 1_800_000_010),
        ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT", 1_445_412_480),
        ("a=1; Expires=Wednesday, 21-Oct-15 07:28:00 GMT", 1_445_412_480),
        ("a=1; Expires=Wed Oct 21 07:28:00 2015", 1_445_412_480),
        ("a=1; Max-Age=99999999999999999999", Int64.max),
    ])
    func `the end is Max-Age's, or that of a date in any of its forms`(line: String, end: Int64) throws {
        #expect(try self.cookie(line)?.expires == end)
    }

    @Test(arguments: [
        "a=1", "a=1; Expires=never", "a=1; Expires=31 Feb 2027 00:00:00", "a=1; Expires=21 Oct 2015",
        "a=1; Expires=21 Oct 1600 07:28:00", "a=1; Expires=21 Oct 2015 24:00:00", "a=1; Max-Age=1x", "a=1; Max-Age=",
    ])
    func `what is no date ends with the session`(line: String) throws {
        let read = try #require(try self.cookie(line))
        #expect(read.expires == nil)
    }

    @Test(arguments: [
        ("/one", "/one", true), ("/one", "/one/", true), ("/one", "/one/two?x", true), ("/one", "/oneself", false),
        ("/one/", "/one/two", true), ("/one/", "/one", false), ("/", "/anything", true),
    ])
    func `a path holds for what is below it`(path: String, asked: String, belongs: Bool) throws {
        let read = try #require(try self.cookie("a=1; Path=\(path)"))
        let url = try HTTPURL("https://a.example\(asked)")
        #expect(read.belongs(to: url) == belongs)
    }

    @Test func `a jar has room for so many of one host and so many in all`() throws {
        var store = CookieStore()
        func take(_ line: String, from url: HTTPURL) throws {
            let cookie = try #require(try self.cookie(line, from: url.description))
            store.keep(cookie, isSecret: true, at: Self.now)
        }
        let (one, other) = (try HTTPURL("https://a.example/"), try HTTPURL("https://h0.example/"))
        for number in 0..<200 { try take("c\(number)=1", from: one) }
        let sent = try #require(Cookie.header(store.cookies(for: one, at: Self.now)))
        #expect(sent.split(separator: "; ").count == 150 && sent.hasPrefix("c50=1; "))
        for number in 0..<3000 {
            try take("c=1", from: try HTTPURL("https://h\(number).example/"))
        }
        #expect(store.cookies(for: one, at: Self.now).isEmpty)
        #expect(Cookie.header(store.cookies(for: other, at: Self.now)) == "c=1")
    }

    @Test(arguments: [
        ("a=1; SameSite=Strict", Cookie.SameSite?.some(.strict), false), ("a=1; samesite=LAX; HttpOnly", .lax, true),
        ("a=1; SameSite=None; httponly=x", Cookie.SameSite.none, true), ("a=1; SameSite=Other", nil, false),
    ])
    func `SameSite and HttpOnly are kept`(line: String, sameSite: Cookie.SameSite?, isHTTPOnly: Bool) throws {
        let read = try #require(try self.cookie(line))
        #expect(read.sameSite == sameSite && read.isHTTPOnly == isHTTPOnly)
    }

    @Test(arguments: [
        "__Secure-a=1", "__secure-a=1; Path=/", "__Host-a=1; Secure", "__Host-a=1; Secure; Path=/; Domain=a.example",
        "__Host-a=1; Secure; Path=/; Domain", "__Host-a=1; Path=/", "=__Host-a=1; Secure; Path=/", "__Secure-a; Secure",
    ])
    func `a cookie that is not what its name says is refused`(line: String) throws {
        #expect(try self.cookie(line) == nil)
    }

    @Test func `a cookie that is what its name says is taken`() throws {
        #expect(try self.cookie("__Secure-a=1; Secure; Domain=a.example")?.isHostOnly == false)
        #expect(try self.cookie("__Host-a=1; Secure; Path=/")?.isHostOnly == true)
    }

    @Test func `an attribute of over 1,024 bytes is as good as none`() throws {
        let long = String(repeating: "x", count: 1024)
        #expect(try self.cookie("a=1; Path=/\(long)")?.path == "/one")
        #expect(try self.cookie("a=1; Path=/\(long.dropLast())")?.path == "/\(long.dropLast())")
        #expect(try self.cookie("a=1; Domain=\(long).example")?.isHostOnly == true)
    }

    @Test func `names and attributes of combining marks take no time`() throws {
        let marks = String(repeating: "\u{0301}\u{0323}", count: 1000)
        var store = CookieStore()
        let (url, start) = (try HTTPURL("https://a.example/"), ContinuousClock.now)
        for number in 0..<300 {
            let line = "\(marks)\(number)=1; \(marks)=\(marks); Path=/\(marks.prefix(1000))"
            let cookie = try #require(try self.cookie(line))
            store.keep(cookie, isSecret: false, at: Self.now)
            _ = store.cookies(for: url, at: Self.now)
        }
        #expect(start.duration(to: .now) < .seconds(60))
    }

    @Test(arguments: [
        ("n=m", "v", "a.example", "/", CookieError.invalidName), ("n ", "v", "a.example", "/", .invalidName),
        ("n\r\nX: y", "v", "a.example", "/", .invalidName), ("n", "v\t", "a.example", "/", .invalidValue),
        ("n", "v; m=w", "a.example", "/", .invalidValue), ("", "", "a.example", "/", .invalidValue),
        ("", "n=v", "a.example", "/", .invalidValue),
        ("n", String(repeating: "v", count: 4096), "a.example", "/", .tooLong),
        ("n", "v", "", "/", .invalidDomain), ("n", "v", "a b", "/", .invalidDomain),
        ("n", "v", "ä.example", "/", .invalidDomain), ("n", "v", "a.example:80", "/", .invalidDomain),
        ("n", "v", "a.example", "x", .invalidPath), ("n", "v", "a.example", "/;x", .invalidPath),
        ("n", "v", "a.example", "/" + String(repeating: "x", count: 1024), .invalidPath),
        ("__Host-n", "v", "a.example", "/", .brokenPrefix),
    ])
    func `what no server could set is no cookie`(
        name: String, value: String, domain: String, path: String, error: CookieError
    ) throws {
        #expect(throws: error) { try Cookie(name: name, value: value, domain: domain, path: path) }
        #expect(error.description.count > 20)
    }

    @Test func `a cookie is made for a host in any spelling, and never shows its value`() throws {
        let cookie = try Cookie(name: "n", value: "secret", domain: ".A.Example", isHostOnly: false)
        #expect(cookie.domain == "a.example" && "\(cookie)" == "n of .a.example/")
        #expect(
            !String(reflecting: cookie).contains("secret")
                && !"\(Mirror(reflecting: cookie).children)".contains("secret"))
        #expect(try Cookie(name: "n", value: "v", domain: "0:0::1", isHostOnly: false).domain == "::1")
        #expect(try Cookie(name: "n", value: "v", domain: "127.1", isHostOnly: false).isHostOnly)
    }
}
