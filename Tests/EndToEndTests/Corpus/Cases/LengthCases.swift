// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §6: the end of a request's body, by its length or by its coding.
    struct RequestFraming {
        private static func length(_ value: String) -> WireBytes { post("Content-Length: \(value)\r\n", "abc") }
        private static func coding(_ value: String) -> WireBytes {
            post("Transfer-Encoding: \(value)\r\n", "3\r\nabc\r\n0\r\n\r\n")
        }
        private static let coded = "3\r\nabc\r\n0\r\n\r\n"

        static let lengths: [WireCase] = [
            .refused("a length with a plus sign", "contract §3.1", length("+3")),
            .refused("a negative length", "9110 §8.6", length("-3")),
            .refused("a negative zero", "9110 §8.6", length("-0")),
            .refused("a list of lengths", "contract §3.1", length("3,3")),
            .refused("a list of lengths with a space at its end", "contract §3.1", length("3,3 ")),
            .refused("a list of lengths that differ", "9110 §8.6", length("3, 4")),
            .refused("a length and a comma", "9110 §8.6", length("3,")),
            .refused("a length and a semicolon", "9110 §8.6", length("3;")),
            .refused("two numbers", "9110 §8.6", length("3 3")),
            .refused("a length in quotes", "9110 §8.6", length("\"3\"")),
            .refused("an empty length", "contract §3.1", length("")),
            .refused("a length of white space", "contract §3.1", length(" \t ")),
            .refused("a hexadecimal length", "9110 §8.6", length("0x3")),
            .refused("a length with a fraction", "9110 §8.6", length("3.0")),
            .refused("a length with an exponent", "9110 §8.6", length("3e0")),
            .refused("a length with a separator", "9110 §8.6", length("1_0")),
            .refused("a length in digits beyond ASCII", "9110 §8.6", length("\u{D9}\u{A3}")),
            .refused("a length of 20 digits", "contract §3.1", length("00000000000000000003")),
            .refused("a length of 2^63", "contract §3.1", length("9223372036854775808")),
            .refused("a length of 2^64 and 3", "contract §3.1", length("18446744073709551619")),
            .refused(
                "lengths that differ", "contract §3.1", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd")),
            .refused(
                "lengths that differ, far from each other", "contract §3.1",
                post("Content-Length: 0\r\nX-A: 1\r\ncontent-LENGTH: 3\r\n", "abc")),
            .refused(
                "an empty length beside a good one", "contract §3.1",
                post("Content-Length: 3\r\nContent-Length:\r\n", "abc")),
            .refused("a folded length", "9112 §5.2", post("Content-Length:\r\n 3\r\n", "abc")),
            .refused("a length with a space before its colon", "9112 §5.1", post("Content-Length : 3\r\n", "abc")),
            .refused("a length with NUL behind it", "9110 §5.5", length("3\0")),
            .refused(
                "a length behind a bare carriage return", "9112 §2.2", post("X-A: 1\rContent-Length: 3\r\n", "abc")),
            .refused(
                "a length and a coding", "contract §3.1",
                post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", coded)),
            .refused(
                "a coding and a length", "contract §3.1",
                post("Transfer-Encoding: chunked\r\nContent-Length: 13\r\n", coded)),
            .refused(
                "a length of zero and a coding", "contract §3.1",
                post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", coded)),
            .refused(
                "a length and a coding that is not known", "contract §3.1",
                post("Content-Length: 3\r\nTransfer-Encoding: xchunked\r\n", "abc")),
            .refused(
                "a length and an empty coding", "contract §3.1",
                post("Content-Length: 3\r\nTransfer-Encoding:\r\n", "abc")),
            .refused(
                "a request smuggled behind both framings", "9112 §11.2",
                post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") + ask("GET", "/evil")),
            .passed(
                "lengths that are alike are one", "9110 §8.6",
                post("Content-Length: 3\r\ncontent-length: 3\r\n", "abc"),
                as: sized(3, "abc")),
            .passed(
                "a length with leading zeros is a number", "9110 §8.6", length("003"),
                as: sized(3, "abc")),
            .passed(
                "a length between white space", "9112 §5.1", length(" \t3\t "),
                as: sized(3, "abc")),
            .passed(
                "a length of zero stays", "9110 §8.6", post("Content-Length: 0\r\n"),
                as: sized(0, "")),
            .passed("no length stays none", "9110 §8.6", post(""), as: asked("POST")),
            .passed(
                "GET with content", "9110 §9.3.1", ask("GET", "/", "Content-Length: 3\r\n") + "abc",
                as: sized(3, "abc", "GET")),
            .passed(
                "DELETE with content", "9110 §9.3.5", ask("DELETE", "/", "Content-Length: 3\r\n") + "abc",
                as: sized(3, "abc", "DELETE")),
            .refused("HEAD with content", "9110 §9.3.2", ask("HEAD", "/", "Content-Length: 3\r\n") + "abc"),
        ]

        static let codings: [WireCase] = [
            .refused("an unknown coding", "contract §3.1", coding("gzip, chunked"), 501),
            .refused("an unknown coding alone", "contract §3.1", coding("gzip"), 501),
            .refused("identity, which is no coding any more", "9112 §7", coding("identity"), 501),
            .refused("chunked that is not the last", "9112 §6.1", coding("chunked, gzip"), 501),
            .refused("chunked before identity", "9112 §6.1", coding("chunked, identity"), 501),
            .refused("a coding that ends as chunked does", "9112 §6.1", coding("xchunked"), 501),
            .refused("a coding that begins as chunked does", "9112 §6.1", coding("chunkedx"), 501),
            .refused("chunked with a parameter", "9112 §7", coding("chunked;q=1"), 501),
            .refused("chunked in quotes", "9112 §7", coding("\"chunked\""), 501),
            .refused("chunked behind another word", "9112 §7", coding("x chunked"), 501),
            .refused("chunked with a byte beyond ASCII", "9112 §7", coding("chunked\u{A0}"), 501),
            .refused("chunked behind a vertical tab", "9110 §5.5", coding("\u{B}chunked")),
            .refused("chunked before a form feed", "9110 §5.5", coding("chunked\u{C}")),
            .refused("chunked before NUL", "9110 §5.5", coding("chunked\0")),
            .refused("chunked before a bare carriage return", "9112 §2.2", coding("chunked\r")),
            .refused("chunked twice in a list", "9112 §6.1", coding("chunked, chunked")),
            .refused(
                "chunked twice in two lines", "9112 §6.1",
                post("Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n", coded)),
            .refused(
                "chunked and another coding in two lines", "9112 §6.1",
                post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", coded), 501),
            .refused("an empty coding", "9112 §6.1", coding("")),
            .refused("a coding of commas", "9112 §6.1", coding(", ,")),
            .refused("a folded coding", "9112 §5.2", post("Transfer-Encoding:\r\n chunked\r\n", coded)),
            .refused(
                "a coding with a space before its colon", "9112 §5.1", post("Transfer-Encoding : chunked\r\n", coded)),
            .refused(
                "a coding with a vertical tab before its colon", "9112 §5.1",
                post("Transfer-Encoding\u{B}: chunked\r\n", coded)),
            .refused(
                "a coding on HTTP/1.0", "contract §3.1",
                "POST http://$/ HTTP/1.0\r\nHost: $\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
            .refused(
                "a coding on HTTP/1.0 that would be kept", "contract §3.1",
                "POST http://$/ HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            .refused(
                "HEAD in chunks", "9110 §9.3.2", ask("HEAD", "/", "Transfer-Encoding: chunked\r\n") + WireBytes(coded)),
            .passed("chunked in capitals", "9112 §7", coding("CHUNKED"), as: chunksSeen(body: coded)),
            .passed("chunked between white space", "9112 §5.1", coding("\t chunked \t"), as: chunksSeen(body: coded)),
            .passed(
                "chunked in a list with empty members", "9110 §5.6.1.2", coding(", chunked,"),
                as: chunksSeen(body: coded)),
            .passed(
                "GET in chunks", "9110 §9.3.1", ask("GET", "/", "Transfer-Encoding: chunked\r\n") + WireBytes(coded),
                as: chunksSeen(method: "GET", body: coded)),
            .passed(
                "TE of the client goes no further", "9110 §10.1.4", ask("GET", "/", "TE: trailers, chunked\r\n"),
                as: asked()),
        ]

        @Test(arguments: Self.lengths) func requestLength(_ test: WireCase) throws { try test.play() }
        @Test(arguments: Self.codings) func requestCoding(_ test: WireCase) throws { try test.play() }
    }

    /// A request's body that stops, or goes wrong, when the origin has seen its beginning.
    struct BrokenBodies {
        static let cases: [WireCase] = [
            WireCase(
                "a body cut by its client is not whole for the origin", "9112 §8",
                [
                    .client(post("Content-Length: 10\r\n", "abc")), .seen(sized(10, "abc")), .clientLeaves,
                    .originAbandoned,
                ]),
            WireCase(
                "chunks cut by their client are not whole for the origin", "9112 §8",
                [
                    .client(chunks("3\r\nabc\r\n")), .seen(chunksSeen(body: "3\r\nabc\r\n")), .clientLeaves,
                    .originAbandoned,
                ]),
            WireCase(
                "a bad size behind a good chunk", "9112 §7.1",
                [
                    .client(chunks("3\r\nabc\r\n")), .seen(chunksSeen(body: "3\r\nabc\r\n")),
                    .client("-1\r\nx\r\n0\r\n\r\n"),
                    .refusal(400, "bad-request"), .originAbandoned,
                ]),
            WireCase(
                "a chunk that is longer than its size", "9112 §7.1",
                [
                    .client(chunks("3\r\nabc")), .seen(chunksSeen(body: "3\r\nabc\r\n")), .client("d\r\n0\r\n\r\n"),
                    .refusal(400, "bad-request"), .originAbandoned,
                ]),
            WireCase(
                "a bad trailer behind the last chunk", "9112 §7.1.2",
                [
                    .client(chunks("3\r\nabc\r\n")), .seen(chunksSeen(body: "3\r\nabc\r\n")),
                    .client("0\r\nX-T : 1\r\n\r\n"), .refusal(400, "bad-request"), .originAbandoned,
                ]),
            WireCase(
                "trailers that do not end", "6585 §5",
                [
                    .client(chunks("3\r\nabc\r\n")), .seen(chunksSeen(body: "3\r\nabc\r\n")),
                    .client("0\r\n\(WireBytes(String(repeating: "X-More: and more\r\n", count: 4000)))"),
                    .refusal(431, "header-too-large"), .originAbandoned,
                ]),
            WireCase(
                "a client that finishes sending within its body", "9112 §8",
                [
                    .client(post("Content-Length: 10\r\n", "abc")), .seen(sized(10, "abc")), .clientFinishes,
                    .originAbandoned,
                    .clientLeaves,
                ]),
        ]

        /// Beginnings of the end of a chunked body, after which the client stops.
        static let endings: [WireBytes] = ["", "0", "0\r", "0\r\n", "0\r\n\r", "0\r\nX-T: 1\r\n", "0;x", "000"]

        static let brokenOff: [WireCase] = Self.endings.flatMap { ending in
            [
                WireCase(
                    "LOOK-56 chunks that are broken off behind \(shown(Array(ending.text.utf8)))", "9112 §8",
                    [
                        .client(chunks("3\r\nabc\r\n")), .seen(chunksSeen(body: "3\r\nabc\r\n")), .client(ending),
                        .clientFinishes, .originAbandoned, .clientLeaves,
                    ]),
                WireCase(
                    "LOOK-56 chunks whose client leaves behind \(shown(Array(ending.text.utf8)))", "9112 §8",
                    [
                        .client(chunks("3\r\nabc\r\n")), .seen(chunksSeen(body: "3\r\nabc\r\n")), .client(ending),
                        .clientLeaves, .originAbandoned,
                    ]),
            ]
        }

        @Test(arguments: Self.cases + Self.brokenOff) func brokenBody(_ test: WireCase) throws { try test.play() }
    }
}
