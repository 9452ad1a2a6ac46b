// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §5: field lines of requests.
    struct FieldLines {
        private static func with(_ fields: WireBytes) -> WireBytes {
            "GET http://$/ HTTP/1.1\r\nHost: $\r\n\(fields)\r\n"
        }

        private static func seen(_ fields: WireBytes) -> WireBytes {
            "GET / HTTP/1.1\r\nHost: $\r\n\(fields)Via: 1.1 pintle\r\n\r\n"
        }

        static let refused: [WireCase] =
            [
                .refused("a space before the colon", "9112 §5.1", with("X-A : 1\r\n")),
                .refused("a tab before the colon", "9112 §5.1", with("X-A\t: 1\r\n")),
                .refused("a vertical tab before the colon", "9112 §5.1", with("X-A\u{B}: 1\r\n")),
                .refused("NUL before the colon", "9112 §5.1", with("X-A\0: 1\r\n")),
                .refused("folding with a space", "9112 §5.2", with("X-A: 1\r\n more\r\n")),
                .refused("folding with a tab", "9112 §5.2", with("X-A: 1\r\n\tmore\r\n")),
                .refused("folding to an empty line", "9112 §5.2", with("X-A: 1\r\n \r\n")),
                .refused(
                    "white space in front of the first field", "9112 §2.2",
                    "GET http://$/ HTTP/1.1\r\n Host: $\r\n\r\n"),
                .refused("a field without a name", "9112 §5.1", with(": 1\r\n")),
                .refused("a line without a colon", "9112 §5.1", with("rubbish\r\n")),
                .refused("a second request line", "9112 §5.1", with("GET /evil HTTP/1.1\r\n")),
                .refused("a space in a name", "9110 §5.1", with("X A: 1\r\n")),
                .refused("a slash in a name", "9110 §5.1", with("X/A: 1\r\n")),
                .refused("a parenthesis in a name", "9110 §5.1", with("X(A): 1\r\n")),
                .refused("a quoted name", "9110 §5.1", with("\"X\": 1\r\n")),
                .refused("an at sign in a name", "9110 §5.1", with("X@A: 1\r\n")),
                .refused("a byte beyond ASCII in a name", "9110 §5.1", with("X-\u{E4}: 1\r\n")),
                .refused("a bare line feed behind a value", "9112 §2.2", with("X-A: 1\nX-B: 2\r\n")),
                .refused("a bare carriage return in a value", "9112 §2.2", with("X-A: 1\rX-B: 2\r\n")),
                .refused("two carriage returns at the end of a line", "9112 §2.2", with("X-A: 1\r\r\n")),
                .refused("line feed and carriage return in the wrong order", "9112 §2.2", with("X-A: 1\n\rX-B: 2\r\n")),
                .refused("a pseudo field of HTTP/2", "9113 §8.3", with(":authority: evil.example\r\n")),
            ]
            + [0, 1, 7, 8, 0xB, 0xC, 0x1B, 0x1F, 0x7F].map { (byte: UInt8) in
                .refused("byte \(byte) in a value", "9110 §5.5", with("X-A: a\(Unicode.Scalar(byte))b\r\n"))
            }

        static let passed: [WireCase] = [
            .passed(
                "bytes beyond ASCII in a value", "9110 §5.5", with("X-A: \u{80}\u{E4}\u{FF}\r\n"),
                as: seen("X-A: \u{80}\u{E4}\u{FF}\r\n")),
            .passed(
                "a tab and spaces within a value", "9110 §5.5", with("X-A: a \t  b\r\n"), as: seen("X-A: a \t  b\r\n")),
            .passed(
                "white space around a value goes", "9112 §5.1", with("X-A: \t 1 \t \r\nX-B:2\r\n"),
                as: seen("X-A: 1\r\nX-B: 2\r\n")),
            .passed("an empty value stays", "9110 §5.5", with("X-A:\r\nX-B: \r\n"), as: seen("X-A: \r\nX-B: \r\n")),
            .passed("a colon in a value", "9112 §5", with("X-A: a:b: c\r\n"), as: seen("X-A: a:b: c\r\n")),
            .passed(
                "a semicolon at the end of a value", "9110 §5.5", with("X-A: a;\r\nX-B: ;\r\n"),
                as: seen("X-A: a;\r\nX-B: ;\r\n")),
            .passed(
                "a name of all that a token may be", "9110 §5.6.2", with("!#%&'*+-.^_`|~09aZ: 1\r\n"),
                as: seen("!#%&'*+-.^_`|~09aZ: 1\r\n")),
            .passed(
                "order, letter case and duplicates stay", "contract §3.1",
                with("x-b: 1\r\nX-A: 2\r\nX-B: 3\r\nACCEPT: */*\r\nx-A: 4\r\nx-b: 1\r\n"),
                as: seen("x-b: 1\r\nX-A: 2\r\nX-B: 3\r\nACCEPT: */*\r\nx-A: 4\r\nx-b: 1\r\n")),
            .passed(
                "lists are not put together", "9110 §5.3", with("Accept: a\r\nAccept: b, c\r\nAccept:\r\n"),
                as: seen("Accept: a\r\nAccept: b, c\r\nAccept: \r\n")),
            .passed(
                "two cookies stay two", "6265 §5.4", with("Cookie: a=1\r\nCookie: b=2\r\n"),
                as: seen("Cookie: a=1\r\nCookie: b=2\r\n")),
            .passed(
                "names that clients have defaults for are the client's own", "contract §3.1",
                with("user-agent: \r\naccept-encoding: br\r\nCONTENT-type: text/x\r\n"),
                as: seen("user-agent: \r\naccept-encoding: br\r\nCONTENT-type: text/x\r\n")),
            .passed(
                "framing in another spelling is no framing", "9112 §6",
                with("Content_Length: 5\r\nTransfer_Encoding: chunked\r\nX-Content-Length: 5\r\n"),
                as: seen("Content_Length: 5\r\nTransfer_Encoding: chunked\r\nX-Content-Length: 5\r\n")),
            .passed(
                "fields that smuggle by their meaning to servers are only fields", "9110 §5.1",
                with("X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /evil\r\n"),
                as: seen("X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /evil\r\n")),
        ]

        @Test(arguments: Self.refused + Self.passed) func fieldLine(_ test: WireCase) throws { try test.play() }
    }

    /// `limits.header_*` at their defaults: a head of exactly the limit passes, and one byte or field more does not (RFC
    /// 6585 §5).
    struct HeadLimits {
        private static let line = 16 * 1024
        private static let head = 64 * 1024

        /// A field line of `count` bytes, without its end.
        private static func field(_ count: Int) -> String { "X: " + String(repeating: "v", count: count - 3) }

        private static func fields(_ count: Int) -> String { String(repeating: "X: y\r\n", count: count) }

        /// Fields that make a head of the origin's port 5 digits long as large as `count`.
        private static func filling(_ count: Int) -> String {
            let fixed = "GET http://127.0.0.1:12345/ HTTP/1.1\r\nHost: 127.0.0.1:12345\r\n\r\n".utf8.count
            let rest = count - fixed
            return String(repeating: Self.field(1022) + "\r\n", count: rest / 1024 - 1)
                + Self.field(rest - (rest / 1024 - 1) * 1024 - 2) + "\r\n"
        }

        private static func path(_ count: Int) -> String {
            "/" + String(repeating: "p", count: count - "GET http://127.0.0.1:12345/ HTTP/1.1".utf8.count)
        }

        static let cases: [WireCase] = [
            .passed(
                "256 field lines", "6585 §5", ask("GET", "/", Self.fields(255)), as: asked("GET", "/", Self.fields(255))
            ),
            .refused("257 field lines", "6585 §5", ask("GET", "/", Self.fields(256)), 431, "header-too-large"),
            .passed(
                "a field line of 16 KiB", "6585 §5", ask("GET", "/", Self.field(Self.line) + "\r\n"),
                as: asked("GET", "/", Self.field(Self.line) + "\r\n")),
            .refused(
                "a field line of 16 KiB and a byte", "6585 §5", ask("GET", "/", Self.field(Self.line + 1) + "\r\n"),
                431, "header-too-large"),
            .passed(
                "a request line of 16 KiB", "9112 §3", ask("GET", Self.path(Self.line)),
                as: asked("GET", Self.path(Self.line))),
            .refused(
                "a request line of 16 KiB and a byte", "9112 §3", ask("GET", Self.path(Self.line + 1)),
                431, "header-too-large"),
            .passed(
                "a head of 64 KiB", "6585 §5", ask("GET", "/", Self.filling(Self.head)),
                as: asked("GET", "/", Self.filling(Self.head))),
            .refused(
                "a head of 64 KiB and a byte", "6585 §5", ask("GET", "/", Self.filling(Self.head + 1)),
                431, "header-too-large"),
            .refused(
                "a line that does not end", "6585 §5", "GET http://$/\(String(repeating: "p", count: 20_000))",
                431, "header-too-large"),
            .refused(
                "a field line that does not end", "6585 §5",
                "GET http://$/ HTTP/1.1\r\nHost: $\r\nX: \(String(repeating: "v", count: 20_000))",
                431, "header-too-large"),
        ]

        @Test(arguments: Self.cases) func headLimit(_ test: WireCase) throws { try test.play() }
    }
}
