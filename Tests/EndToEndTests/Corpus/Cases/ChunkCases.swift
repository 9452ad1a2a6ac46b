// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §7.1: the chunks of a request's body.
    struct RequestChunks {
        static let refused: [WireCase] = [
            .refused("a size with a plus sign", "contract §3.1", chunks("+3\r\nabc\r\n0\r\n\r\n")),
            .refused("a negative size", "contract §3.1", chunks("-3\r\nabc\r\n0\r\n\r\n")),
            .refused("a space before a size", "9112 §7.1", chunks(" 3\r\nabc\r\n0\r\n\r\n")),
            .refused("a space behind a size", "9112 §7.1", chunks("3 \r\nabc\r\n0\r\n\r\n")),
            .refused("a tab behind a size", "9112 §7.1", chunks("3\t\r\nabc\r\n0\r\n\r\n")),
            .refused("a size with a prefix", "9112 §7.1", chunks("0x3\r\nabc\r\n0\r\n\r\n")),
            .refused("a size with a suffix", "9112 §7.1", chunks("3h\r\nabc\r\n0\r\n\r\n")),
            .refused("a size with an underscore", "9112 §7.1", chunks("0_3\r\nabc\r\n0\r\n\r\n")),
            .refused("a size with a fraction", "9112 §7.1", chunks("3.0\r\nabc\r\n0\r\n\r\n")),
            .refused("a size that is no number", "9112 §7.1", chunks("g\r\nabc\r\n0\r\n\r\n")),
            .refused("an empty size", "9112 §7.1", chunks("\r\nabc\r\n0\r\n\r\n")),
            .refused("only an extension for a size", "9112 §7.1", chunks(";a=b\r\nabc\r\n0\r\n\r\n")),
            .refused("a size of 16 digits", "contract §3.1", chunks("0000000000000003\r\nabc\r\n0\r\n\r\n")),
            .refused("a size of 2^64 and 3", "contract §3.1", chunks("10000000000000003\r\nabc\r\n0\r\n\r\n")),
            .refused("a size that is -1 in 64 bits", "contract §3.1", chunks("ffffffffffffffff\r\nabc\r\n0\r\n\r\n")),
            .refused(
                "a size in digits beyond ASCII", "9112 §7.1",
                post("Transfer-Encoding: chunked\r\n", "\u{B3}\r\nabc\r\n")),
            .refused("NUL behind a size", "9112 §7.1", chunks("3\0\r\nabc\r\n0\r\n\r\n")),
            .refused("a size ended by a bare line feed", "contract §3.1", chunks("3\nabc\r\n0\r\n\r\n")),
            .refused("a size ended by a bare carriage return", "9112 §2.2", chunks("3\rabc\r\n0\r\n\r\n")),
            .refused("a size ended by two carriage returns", "9112 §2.2", chunks("3\r\r\nabc\r\n0\r\n\r\n")),
            .refused("a line feed in an extension", "9112 §7.1.1", chunks("3;a\nabc\r\n0\r\n\r\n")),
            .refused("a carriage return in an extension", "9112 §7.1.1", chunks("3;a\rb\r\nabc\r\n0\r\n\r\n")),
            .refused("a line end in a quoted extension", "9112 §7.1.1", chunks("3;a=\"\n\"\r\nabc\r\n0\r\n\r\n")),
            .refused("NUL in an extension", "9112 §7.1.1", chunks("3;a=\0\r\nabc\r\n0\r\n\r\n")),
            .refused("DEL in an extension", "9112 §7.1.1", chunks("3;a=\u{7F}\r\nabc\r\n0\r\n\r\n")),
            .refused(
                "an extension that is too long", "9112 §7.1.1",
                chunks("3;\(String(repeating: "a", count: 16 * 1024 + 1))\r\nabc\r\n0\r\n\r\n")),
            .refused("a chunk that is longer than its size", "9112 §7.1", chunks("2\r\nabc\r\n0\r\n\r\n")),
            .refused("a chunk that is shorter than its size", "9112 §7.1", chunks("4\r\nabc\r\n0\r\n\r\n")),
            .refused("a chunk without a line end", "9112 §7.1", chunks("3\r\nabc0\r\n\r\n")),
            .refused("a chunk ended by a bare line feed", "9112 §7.1", chunks("3\r\nabc\n0\r\n\r\n")),
            .refused("a chunk ended by a bare carriage return", "9112 §7.1", chunks("3\r\nabc\r0\r\n\r\n")),
            .refused("a chunk ended by two line ends", "9112 §7.1", chunks("3\r\nabc\r\n\r\n0\r\n\r\n")),
            .refused("a last chunk ended by a bare line feed", "9112 §7.1", chunks("3\r\nabc\r\n0\n\r\n")),
            .refused("a last line that is a bare line feed", "9112 §7.1", chunks("3\r\nabc\r\n0\r\n\n")),
            .refused(
                "a request behind a body that has no last line", "9112 §7.1",
                chunks("3\r\nabc\r\n0\r\n") + ask("GET", "/evil")),
            .refused("a trailer with a space before its colon", "9112 §5.1", chunks("0\r\nX-T : 1\r\n\r\n")),
            .refused("a trailer without a name", "9112 §5.1", chunks("0\r\n: 1\r\n\r\n")),
            .refused("a trailer without a colon", "9112 §5.1", chunks("0\r\nrubbish\r\n\r\n")),
            .refused("a folded trailer", "9112 §5.2", chunks("0\r\nX-T: 1\r\n more\r\n\r\n")),
            .refused("a trailer that begins folded", "9112 §5.2", chunks("0\r\n X-T: 1\r\n\r\n")),
            .refused("NUL in a trailer", "9110 §5.5", chunks("0\r\nX-T: \0\r\n\r\n")),
            .refused("a bare line feed behind a trailer", "9112 §2.2", chunks("0\r\nX-T: 1\nX-U: 2\r\n\r\n")),
            .refused("a bare carriage return in a trailer", "9112 §2.2", chunks("0\r\nX-T: 1\rX-U: 2\r\n\r\n")),
            .refused(
                "257 trailers", "6585 §5", chunks("0\r\n\(String(repeating: "X: y\r\n", count: 257))\r\n"),
                431, "header-too-large"),
            .refused(
                "a trailer of 16 KiB and a byte", "6585 §5",
                chunks("0\r\nX: \(String(repeating: "v", count: 16 * 1024 - 2))\r\n\r\n"), 431, "header-too-large"),
        ]

        static let passed: [WireCase] = [
            .passed("an empty body in chunks", "9112 §7.1", chunks("0\r\n\r\n"), as: chunksSeen(body: "0\r\n\r\n")),
            .passed(
                "a size in capitals", "9112 §7.1", chunks("A\r\n0123456789\r\n0\r\n\r\n"),
                as: chunksSeen(body: "a\r\n0123456789\r\n0\r\n\r\n")),
            .passed(
                "a size with leading zeros", "9112 §7.1", chunks("000000000000003\r\nabc\r\n0\r\n\r\n"),
                as: chunksSeen(body: "3\r\nabc\r\n0\r\n\r\n")),
            .passed(
                "a last chunk of several zeros", "9112 §7.1", chunks("3\r\nabc\r\n000\r\n\r\n"),
                as: chunksSeen(body: "3\r\nabc\r\n0\r\n\r\n")),
            .passed(
                "extensions go no further", "9112 §7.1.1", chunks("3;a;b=c;d=\"e;f\\\"\"\r\nabc\r\n0;last\r\n\r\n"),
                as: chunksSeen(body: "3\r\nabc\r\n0\r\n\r\n")),
            .passed(
                "bad white space before an extension", "9112 §7.1.1", chunks("3 \t; a = b\r\nabc\r\n0 ;x\r\n\r\n"),
                as: chunksSeen(body: "3\r\nabc\r\n0\r\n\r\n")),
            .passed(
                "an extension with a byte beyond ASCII", "9112 §7.1.1",
                post("Transfer-Encoding: chunked\r\n", "3;a=\"\u{E4}\"\r\nabc\r\n0\r\n\r\n"),
                as: chunksSeen(body: "3\r\nabc\r\n0\r\n\r\n")),
            .passed(
                "line ends within a chunk", "9112 §7.1", chunks("8\r\n\r\n0\r\n\r\n\r\r\n0\r\n\r\n"),
                as: chunksSeen(body: "8\r\n\r\n0\r\n\r\n\r\r\n0\r\n\r\n")),
            .passed(
                "trailers", "9110 §6.5", chunks("3\r\nabc\r\n0\r\nx-T: 1\r\nX-Sum: a b\r\n\r\n"),
                as: chunksSeen(body: "3\r\nabc\r\n0\r\nx-T: 1\r\nX-Sum: a b\r\n\r\n")),
            .passed(
                "trailers that would change framing, routing or rights go no further", "9110 §6.5.1",
                chunks(
                    "3\r\nabc\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nHost: evil\r\nX-T: 1\r\n"
                        + "Authorization: evil\r\nConnection: X-A\r\nTrailer: X\r\nProxy-Authorization: x\r\nCookie: x\r\n\r\n"
                ),
                as: chunksSeen(body: "3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n")),
            .passed(
                "only trailers", "9112 §7.1.2", chunks("0\r\nX-T: 1\r\n\r\n"),
                as: chunksSeen(body: "0\r\nX-T: 1\r\n\r\n")),
        ]

        @Test(arguments: Self.refused + Self.passed) func requestChunk(_ test: WireCase) throws { try test.play() }
    }
}
