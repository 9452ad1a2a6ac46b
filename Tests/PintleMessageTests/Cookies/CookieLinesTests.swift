// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTrust
import Testing

/// The lines of `cookies.txt`. Real programs read and write them in the tests of the jar.
@Suite struct CookieLinesTests {
    private func read(_ text: String, passingOver isSkipping: Bool = false) throws -> [Cookie] {
        var cookies: [Cookie] = []
        try CookieLines.read(
            Array(text.utf8), isShared: PublicSuffixes.isShared, passesOver: { _ in isSkipping },
            keep: { cookies.append($0) })
        return cookies
    }

    private func problem(_ text: String) -> CookieLines.Malformed? {
        do {
            _ = try self.read(text)
            return nil
        } catch {
            return error as? CookieLines.Malformed
        }
    }

    @Test func `what is written is read as it was`() throws {
        let cookies = try [
            Cookie(name: "a", value: "1", domain: "a.example"),
            Cookie(name: "b", value: "", domain: ".a.example", path: "/x", expires: 1_900_000_000, isHostOnly: false),
            Cookie(name: "c", value: "x=\"y z\"", domain: "::1", isSecure: true, isHTTPOnly: true),
            Cookie(name: "#d", value: "ü", domain: "192.0.2.1", expires: .max),
            Cookie(name: "__Host-e", value: "5", domain: "a.example", isSecure: true),
        ]
        let text = CookieLines.text(of: cookies)
        #expect(try self.read(text) == cookies)
        #expect(text.hasPrefix("# Netscape HTTP Cookie File\n"))
        #expect(text.contains("\n.a.example\tTRUE\t/x\tFALSE\t1900000000\tb\t\n"))
        #expect(text.contains("\n#HttpOnly_::1\tFALSE\t/\tTRUE\t0\tc\tx=\"y z\"\n"))
    }

    @Test func `what has no form there is left out`() throws {
        let url = try HTTPURL("https://a.example/")
        let lines = ["only a value", "tab=1\t2", "kept=1; SameSite=Lax"]
        let cookies = lines.compactMap { Cookie($0, from: url, at: 0, isShared: { _ in false }) }
        let read = try self.read(CookieLines.text(of: cookies))
        #expect(cookies.count == 3 && read.map(\.name) == ["kept"] && read.map(\.sameSite) == [nil])
    }

    @Test(arguments: [
        "a.example\tFALSE\t/\tFALSE\t0\tn\tv", "  a.example\tfalse\t/\tFalse\t0\tn\tv\r",
        ".a.example\tFALSE\t/\tFALSE\t\tn\tv",
        "a.example:8080\tFALSE\t/\tFALSE\t0\tn\tv", "# comment\n\n \t\na.example\tFALSE\t/\tFALSE\t0\tn\tv\n# end",
        "A.Example.\tFALSE\t/\tFALSE\t00\tn\tv",
    ])
    func `what curl, wget and Python write is read`(text: String) throws {
        #expect(try self.read(text) == [Cookie(name: "n", value: "v", domain: "a.example")])
    }

    @Test func `an empty value may lack its tab, and an end may be far`() throws {
        let line = "#HttpOnly_.a.example\tTRUE\t/\tTRUE\t99999999999999999999\tn"
        let cookie = try #require(try self.read(line).first)
        #expect(cookie.value.isEmpty && cookie.expires == .max && cookie.isHTTPOnly && !cookie.isHostOnly)
    }

    @Test(arguments: [
        ("a.example FALSE / FALSE 0 n v", "seven fields"), ("a.example\tFALSE\t/\tFALSE\t0\tn\tv\tw", "and it has 8"),
        ("a.example\tno\t/\tFALSE\t0\tn\tv", "TRUE or FALSE"), ("a.example\tTRUE\t/\t1\t0\tn\tv", "TRUE or FALSE"),
        ("a.example\tTRUE\t/\tTRUE\tsoon\tn\tv", "number of seconds"),
        ("a.example\tTRUE\t/\tTRUE\t-1\tn\tv", "number of seconds"),
        ("a.example\tFALSE\tx\tFALSE\t0\tn\tv", "the path"), ("a.example\tFALSE\t\tFALSE\t0\tn\tv", "the path"),
        ("\u{7F}\tFALSE\t/\tFALSE\t0\tn\tv", "the domain"), ("a/b\tFALSE\t/\tFALSE\t0\tn\tv", "the domain"),
        ("a.example\tFALSE\t/\tFALSE\t0\tn=m\tv", "the name"), ("a.example\tFALSE\t/\tFALSE\t0\tn\tv;w", "the value"),
        ("a.example\tFALSE\t/\tFALSE\t0\t\t", "the value"), ("com\tTRUE\t/\tFALSE\t0\tn\tv", "strangers"),
        ("a.example\tFALSE\t/\tFALSE\t0\t__Secure-n\tv", "__Secure-"),
        ("a.example\tFALSE\t/x\tTRUE\t0\t__host-n\tv", "__Host-"), ("Set-Cookie: n=v", "seven fields"),
    ])
    func `a line that is none is told with its number, and without its words`(line: String, reason: String) throws {
        let text = "# head\na.example\tFALSE\t/\tFALSE\t0\tgood\tsecret\n\(line)\n"
        let problem = try #require(self.problem(text))
        #expect(problem.line == 3 && problem.reason.contains(reason), "\(problem.reason)")
        #expect(try self.read(text, passingOver: true).map(\.name) == ["good"])
    }

    @Test func `bytes that are not UTF-8 are told`() throws {
        var passed: [CookieLines.Malformed] = []
        try CookieLines.read(
            Array("a.example\tFALSE\t/\tFALSE\t0\tn\t".utf8) + [0xFF], isShared: { _ in false },
            passesOver: { line in
                passed.append(line)
                return true
            }, keep: { _ in Issue.record("it became a cookie") })
        #expect(passed.map(\.line) == [1] && passed.map(\.reason) == ["it is not UTF-8"])
    }
}
