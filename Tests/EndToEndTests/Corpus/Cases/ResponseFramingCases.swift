// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §6.3, §8: the end of a response, and responses without their end, which no client may take for complete.
    struct ResponseFraming {
        private static func length(_ value: String, _ body: String = "mine") -> WireBytes {
            "HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\n\(body)"
        }
        private static func coding(_ value: String) -> WireBytes {
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(value)\r\n\r\n\(good)"
        }
        private static let good = "4\r\nmine\r\n0\r\n\r\n"
        private static let head = "HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\n"

        static let lengths: [WireCase] = [
            .answered(
                "lengths that are alike are one", "9110 §8.6", length("4\r\ncontent-length: 4"), as: okSeen("mine")),
            .answered("a length with leading zeros", "9110 §8.6", length("0004"), as: okSeen("mine")),
            .answered("an empty body", "9110 §8.6", length("0", ""), as: okSeen("")),
            .answered(
                "a body of line ends", "9112 §6.3", length("8", "\r\n\r\n0\r\n\r"), as: okSeen("\r\n\r\n0\r\n\r")),
            .spoilt("a length with a plus sign", "9110 §8.6", length("+4")),
            .spoilt("a negative length", "9110 §8.6", length("-4")),
            .spoilt("a list of lengths that are alike", "contract §3.1", length("4, 4")),
            .spoilt("a list of lengths that differ", "9110 §8.6", length("4, 5")),
            .spoilt("lengths that differ", "9112 §6.3", length("4\r\nContent-Length: 5", "mine?")),
            .spoilt(
                "lengths that differ, the second one shorter", "9112 §6.3", length("5\r\nContent-Length: 4", "mine?")),
            .spoilt("an empty length", "9110 §8.6", length("")),
            .spoilt("a hexadecimal length", "9110 §8.6", length("0x4")),
            .spoilt("a length with letters behind it", "9110 §8.6", length("4x")),
            .spoilt("two numbers", "9110 §8.6", length("4 4")),
            .spoilt("a length with a fraction", "9110 §8.6", length("4.0")),
            .spoilt("a length of 2^63", "9110 §8.6", length("9223372036854775808")),
            .spoilt("a length of 2^64 and 4", "9110 §8.6", length("18446744073709551620")),
            .spoilt("a length and chunks", "9112 §6.3", length("4\r\nTransfer-Encoding: chunked", good)),
            .spoilt(
                "chunks and a length", "9112 §6.3",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 14\r\n\r\n4\r\nmine\r\n0\r\n\r\n"),
            .cut("a body that ends before its length", "9112 §8", length("9"), .originCloses),
            .cut("a body that breaks before its length", "9112 §8", length("9"), .originResets),
            .cut("a body of which nothing comes", "9112 §8", length("9", ""), .originCloses),
            .cut("a body of an endless length", "9112 §8", length("9223372036854775807"), .originCloses),
        ]

        static let codings: [WireCase] = [
            .answered("chunked", "9112 §7.1", coding("chunked"), as: codedSeen(good)),
            .answered(
                "chunked in capitals, in a list with empty members", "9110 §5.6.1", coding(" , CHUNKED,"),
                as: codedSeen(good)),
            .spoilt("an unknown coding", "9112 §6.1", coding("x")),
            .spoilt("gzip, which nobody has asked for", "9112 §7.2", coding("gzip")),
            .spoilt("gzip and chunked", "9112 §7.2", coding("gzip, chunked")),
            .spoilt("chunked that is not the last", "9112 §6.1", coding("chunked, gzip")),
            .spoilt("chunked twice", "9112 §6.1", coding("chunked, chunked")),
            .spoilt("chunked twice in two lines", "9112 §6.1", coding("chunked\r\nTransfer-Encoding: chunked")),
            .spoilt("identity", "9112 §7", coding("identity")),
            .spoilt("chunked and identity", "9112 §6.1", coding("chunked, identity")),
            .spoilt("chunked with a parameter", "9112 §7", coding("chunked;a=b")),
            .spoilt("chunked in quotes", "9112 §7", coding("\"chunked\"")),
            .spoilt("chunked behind a vertical tab", "9110 §5.5", coding("\u{B}chunked")),
            .spoilt("an empty coding", "9112 §6.1", coding("")),
            .spoilt(
                "chunks of HTTP/1.0", "9112 §6.1",
                "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmine\r\n0\r\n\r\n"),
        ]

        static let ends: [WireCase] = [
            .ended(
                "a body that ends with its connection", "9112 §6.3", "HTTP/1.1 200 OK\r\n\r\nmine",
                as: codedSeen(good)),
            .ended(
                "an empty body that ends with its connection", "9112 §6.3", "HTTP/1.1 200 OK\r\n\r\n",
                as: codedSeen("0\r\n\r\n")),
            .ended(
                "a body of HTTP/1.0", "9112 §6.3", "HTTP/1.0 200 OK\r\n\r\nmine",
                as: "HTTP/1.1 200 OK\r\nVia: 1.0 pintle\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmine\r\n0\r\n\r\n"),
            .ended(
                "two responses where the first one ends with its connection are one body", "9112 §6.3",
                "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
                as: codedSeen("13\r\nHTTP/1.1 200 OK\r\n\r\n\r\n0\r\n\r\n")),
            .cut("a body that ends with a reset", "9112 §8", "HTTP/1.1 200 OK\r\n\r\nmine", .originResets),
            WireCase(
                "a body that ends with its connection is so for HTTP/1.0", "9112 §6.3",
                [
                    .client("GET http://$/ HTTP/1.0\r\n\r\n"),
                    .seen("GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"),
                    .origin("HTTP/1.1 200 OK\r\n\r\nmine"), .originCloses,
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nConnection: close\r\n\r\nmine"), .closed,
                ]),
            WireCase(
                "chunks that are cut end with a reset for HTTP/1.0", "9112 §8",
                [
                    .client("GET http://$/ HTTP/1.0\r\n\r\n"),
                    .seen("GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"),
                    .origin(coded("4\r\nmine\r\n")),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nConnection: close\r\n\r\nmine"), .originCloses, .cut,
                ]),
            WireCase(
                "a body of a length that is cut is so for HTTP/1.0", "9112 §8",
                [
                    .client("GET http://$/ HTTP/1.0\r\n\r\n"),
                    .seen("GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"),
                    .origin(length("9")), .originCloses, .cut,
                ]),
            WireCase(
                "a body in two pieces", "9112 §6.3",
                [
                    .client(ask()), .seen(asked()), .origin(length("8")),
                    .answer("\(head)Content-Length: 8\r\n\r\nmine"),
                    .origin("mine"), .answer("mine"),
                ]),
        ]

        @Test(arguments: Self.lengths) func responseLength(_ test: WireCase) throws { try test.play() }
        @Test(arguments: Self.codings) func responseCoding(_ test: WireCase) throws { try test.play() }
        @Test(arguments: Self.ends) func responseEnd(_ test: WireCase) throws { try test.play() }
    }

    /// RFC 9112 §7.1: the chunks of a response.
    struct ResponseChunks {
        private static let head: WireBytes = "HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nTransfer-Encoding: chunked\r\n\r\n"

        static let passed: [WireCase] = [
            .answered("an empty body in chunks", "9112 §7.1", coded("0\r\n\r\n"), as: codedSeen("0\r\n\r\n")),
            .answered(
                "a size in capitals with leading zeros", "9112 §7.1", coded("00A\r\n0123456789\r\n000\r\n\r\n"),
                as: codedSeen("a\r\n0123456789\r\n0\r\n\r\n")),
            .answered(
                "extensions go no further", "9112 §7.1.1", coded("4;a;b=c;d=\"e;\"\r\nmine\r\n0;x\r\n\r\n"),
                as: codedSeen("4\r\nmine\r\n0\r\n\r\n")),
            .answered(
                "line ends within a chunk", "9112 §7.1", coded("8\r\n\r\n0\r\n\r\n\r\r\n0\r\n\r\n"),
                as: codedSeen("8\r\n\r\n0\r\n\r\n\r\r\n0\r\n\r\n")),
            .answered(
                "trailers", "9110 §6.5", coded("4\r\nmine\r\n0\r\nx-T: 1\r\nX-Sum: a b\r\n\r\n"),
                as: codedSeen("4\r\nmine\r\n0\r\nx-T: 1\r\nX-Sum: a b\r\n\r\n")),
            .answered(
                "trailers that would change framing or state go no further", "9110 §6.5.1",
                coded(
                    "0\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nSet-Cookie: evil\r\nX-T: 1\r\n"
                        + "Location: evil\r\nConnection: X\r\nContent-Type: x\r\nCache-Control: x\r\n\r\n"),
                as: codedSeen("0\r\nX-T: 1\r\n\r\n")),
            WireCase(
                "chunks that come byte by byte", "9112 §7.1",
                [
                    .client(ask()), .seen(asked()),
                    .origin(coded("")), .answer(head), .origin("1"), .origin(";"), .origin("x\r"), .origin("\n"),
                    .origin("m"),
                    .answer("1\r\nm\r\n"), .origin("\r"), .origin("\n2\r\n"), .origin("i"), .answer("1\r\ni\r\n"),
                    .origin("n"),
                    .answer("1\r\nn\r\n"), .origin("\r\n"), .origin("0\r\nX"), .origin("-T: 1\r"), .origin("\n\r"),
                    .origin("\n"), .answer("0\r\nX-T: 1\r\n\r\n"),
                ]),
            WireCase(
                "HTTP/1.0 gets no trailers", "9110 §6.5",
                [
                    .client("GET http://$/ HTTP/1.0\r\n\r\n"),
                    .seen("GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"),
                    .origin(coded("4\r\nmine\r\n0\r\nX-T: 1\r\n\r\n")),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nConnection: close\r\n\r\nmine"), .closed,
                ]),
        ]

        static let cuts: [WireCase] = [
            .cut("a size with a plus sign", "9112 §7.1", coded("+4\r\nmine\r\n0\r\n\r\n")),
            .cut("a negative size", "9112 §7.1", coded("-4\r\nmine\r\n0\r\n\r\n")),
            .cut("a space before a size", "9112 §7.1", coded(" 4\r\nmine\r\n0\r\n\r\n")),
            .cut("a space behind a size", "9112 §7.1", coded("4 \r\nmine\r\n0\r\n\r\n")),
            .cut("a size with a prefix", "9112 §7.1", coded("0x4\r\nmine\r\n0\r\n\r\n")),
            .cut("a size with a suffix", "9112 §7.1", coded("4h\r\nmine\r\n0\r\n\r\n")),
            .cut("a size that is no number", "9112 §7.1", coded("g\r\nmine\r\n0\r\n\r\n")),
            .cut("an empty size", "9112 §7.1", coded("\r\nmine\r\n0\r\n\r\n")),
            .cut("a size of 16 digits", "contract §3.1", coded("0000000000000004\r\nmine\r\n0\r\n\r\n")),
            .cut("a size that is -1 in 64 bits", "9112 §7.1", coded("ffffffffffffffff\r\nmine\r\n0\r\n\r\n")),
            .cut("a size ended by a bare line feed", "contract §3.1", coded("4\nmine\r\n0\r\n\r\n")),
            .cut("a size ended by a bare carriage return", "9112 §2.2", coded("4\rmine\r\n0\r\n\r\n")),
            .cut("a line feed in an extension", "9112 §7.1.1", coded("4;a\nmine\r\n0\r\n\r\n")),
            .cut("a carriage return in an extension", "9112 §7.1.1", coded("4;a\rb\r\nmine\r\n0\r\n\r\n")),
            .cut("NUL in an extension", "9112 §7.1.1", coded("4;a\0\r\nmine\r\n0\r\n\r\n")),
            .cut(
                "an extension that is too long", "9112 §7.1.1",
                coded("4;\(String(repeating: "a", count: 16 * 1024 + 1))\r\nmine\r\n0\r\n\r\n")),
            .cut("a chunk that is longer than its size", "9112 §7.1", coded("3\r\nmine\r\n0\r\n\r\n")),
            .cut("a chunk that is shorter than its size", "9112 §7.1", coded("5\r\nmine\r\n0\r\n\r\n")),
            .cut("a chunk without a line end", "9112 §7.1", coded("4\r\nmine0\r\n\r\n")),
            .cut("a chunk ended by a bare line feed", "9112 §7.1", coded("4\r\nmine\n0\r\n\r\n")),
            .cut("a chunk ended by two carriage returns", "9112 §7.1", coded("4\r\nmine\r\r\n0\r\n\r\n")),
            .cut("a last chunk ended by a bare line feed", "9112 §7.1", coded("4\r\nmine\r\n0\n\r\n")),
            .cut("a last line that is a bare line feed", "9112 §7.1", coded("4\r\nmine\r\n0\r\n\n")),
            .cut("a last line that is a bare carriage return", "9112 §7.1", coded("4\r\nmine\r\n0\r\n\rX\r\n\r\n")),
            .answered(
                "LOOK-82 a trailer with a space before its colon", "9112 §5.1",
                coded("4\r\nmine\r\n0\r\nX-T : 1\r\n\r\n"),
                as: codedSeen("4\r\nmine\r\n0\r\nX-T: 1\r\n\r\n")),
            .cut("a trailer without a colon", "9112 §5.1", coded("4\r\nmine\r\n0\r\nrubbish\r\n\r\n")),
            .cut("LOOK-04 a first trailer that is folded", "9112 §5.2", coded("4\r\nmine\r\n0\r\n X-T: 1\r\n\r\n")),
            .cut("a folded trailer", "9112 §5.2", coded("4\r\nmine\r\n0\r\nX-T: 1\r\n more\r\n\r\n")),
            .cut("NUL in a trailer", "9110 §5.5", coded("4\r\nmine\r\n0\r\nX-T: \0\r\n\r\n")),
            .cut(
                "a bare carriage return in a trailer", "9112 §2.2", coded("4\r\nmine\r\n0\r\nX-T: 1\rX: evil\r\n\r\n")),
            .cut("a bare line feed behind a trailer", "9112 §2.2", coded("4\r\nmine\r\n0\r\nX-T: 1\nX: evil\r\n\r\n")),
            .cut(
                "257 trailers", "contract §2",
                coded("4\r\nmine\r\n0\r\n\(String(repeating: "X: y\r\n", count: 257))\r\n")),
            .cut(
                "a trailer that is too long", "contract §2",
                coded("4\r\nmine\r\n0\r\nX: \(String(repeating: "v", count: 16 * 1024))\r\n\r\n")),
            .cut(
                "trailers that do not end", "contract §2",
                coded("4\r\nmine\r\n0\r\n\(String(repeating: "X-More: and more\r\n", count: 4000))")),
            .cut("chunks that end before the first", "9112 §8", coded(""), .originCloses),
            .cut("chunks that end within a size", "9112 §8", coded("4"), .originCloses),
            .cut("chunks that end within a chunk", "9112 §8", coded("9\r\nmine"), .originCloses),
            .cut("chunks that end behind a chunk", "9112 §8", coded("4\r\nmine"), .originCloses),
            .cut("chunks that end without the last", "9112 §8", coded("4\r\nmine\r\n"), .originCloses),
            .cut("chunks that end within the last", "9112 §8", coded("4\r\nmine\r\n0\r\n"), .originCloses),
            .cut(
                "chunks that end within the trailers", "9112 §8", coded("4\r\nmine\r\n0\r\nX-T: 1\r\n"), .originCloses),
            .cut("chunks that break", "9112 §8", coded("4\r\nmine\r\n"), .originResets),
        ]

        @Test(arguments: Self.passed + Self.cuts) func responseChunk(_ test: WireCase) throws { try test.play() }
    }
}
