// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §4, §5: status lines and fields of responses.
    struct ResponseHeads {
        private static func status(_ line: WireBytes) -> WireBytes { "\(line)\r\nContent-Length: 4\r\n\r\nmine" }

        private static func passes(_ what: String, _ line: WireBytes, as seen: WireBytes, via: String = "1.1")
            -> WireCase
        {
            .answered(
                what, "9112 §4", status(line), as: "\(seen)\r\nVia: \(via) pintle\r\nContent-Length: 4\r\n\r\nmine")
        }

        private static func with(_ fields: WireBytes) -> WireBytes {
            "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 4\r\n\r\nmine"
        }

        static let statusLines: [WireCase] = [
            passes("a status that nobody knows", "HTTP/1.1 299 Made Up", as: "HTTP/1.1 299 Made Up"),
            passes("a status beyond the classes", "HTTP/1.1 999 Far Out", as: "HTTP/1.1 999 Far Out"),
            passes("an empty reason", "HTTP/1.1 200 ", as: "HTTP/1.1 200 "),
            passes("no reason and no space", "HTTP/1.1 200", as: "HTTP/1.1 200 "),
            passes(
                "a reason of several words", "HTTP/1.1 200 yes (really), it's \"fine\"",
                as: "HTTP/1.1 200 yes (really), it's \"fine\""),
            passes("a reason with a tab", "HTTP/1.1 200 a\tb", as: "HTTP/1.1 200 a\tb"),
            passes("a reason in UTF-8", "HTTP/1.1 200 \u{C3}\u{BC}ber", as: "HTTP/1.1 200 \u{C3}\u{BC}ber"),
            passes(
                "a reason that is not UTF-8 is made so", "HTTP/1.1 200 \u{FC}ber",
                as: "HTTP/1.1 200 \u{EF}\u{BF}\u{BD}ber"),
            passes(
                "a response of HTTP/1.0 is passed on as HTTP/1.1", "HTTP/1.0 200 OK", as: "HTTP/1.1 200 OK", via: "1.0"),
            .spoilt("a status of two digits", "9112 §4", status("HTTP/1.1 20 OK")),
            .spoilt("a status of four digits", "9112 §4", status("HTTP/1.1 2000 OK")),
            .spoilt("a status below 100", "9110 §15", status("HTTP/1.1 099 OK")),
            .spoilt("status 000", "9110 §15", status("HTTP/1.1 000 OK")),
            .spoilt("a status with a sign", "9112 §4", status("HTTP/1.1 +20 OK")),
            .spoilt("a negative status", "9112 §4", status("HTTP/1.1 -20 OK")),
            .spoilt("a status with letters", "9112 §4", status("HTTP/1.1 2OO OK")),
            .spoilt("a status and a reason run together", "9112 §4", status("HTTP/1.1 200OK")),
            .spoilt("no status", "9112 §4", status("HTTP/1.1 OK")),
            .spoilt("only a version", "9112 §4", status("HTTP/1.1")),
            .spoilt("two spaces before the status", "9112 §4", status("HTTP/1.1  200 OK")),
            .spoilt("a tab before the status", "9112 §4", status("HTTP/1.1\t200 OK")),
            .spoilt("a space in front", "9112 §4", status(" HTTP/1.1 200 OK")),
            .spoilt("an empty line in front", "9112 §4", status("\r\nHTTP/1.1 200 OK")),
            .spoilt("a version in lower case", "9112 §2.3", status("http/1.1 200 OK")),
            .spoilt("HTTP/2.0 in text", "9112 §2.3", status("HTTP/2.0 200 OK")),
            .spoilt("HTTP/2 in text", "9113 §8", status("HTTP/2 200 OK")),
            .spoilt("HTTP/3 in text", "9114 §4", status("HTTP/3 200 OK")),
            .spoilt("HTTP/0.9 by number", "9112 §2.3", status("HTTP/0.9 200 OK")),
            .spoilt("a version with two minor digits", "9112 §2.3", status("HTTP/1.10 200 OK")),
            .spoilt("a version without a minor number", "9112 §2.3", status("HTTP/1 200 OK")),
            .spoilt("a version with a letter", "9112 §2.3", status("HTTP/1.x 200 OK")),
            .spoilt("no slash in the version", "9112 §2.3", status("HTTP 200 OK")),
            .spoilt("another protocol", "9112 §2.3", status("ICY 200 OK")),
            .spoilt("RTSP", "9112 §2.3", status("RTSP/1.0 200 OK")),
            .spoilt("a request in place of a response", "9112 §2.1", status("GET / HTTP/1.1")),
            .spoilt("a body without a head, as in HTTP/0.9", "9112 §2.3", "<html>evil</html>\r\n\r\n"),
            .spoilt("NUL in the reason", "9112 §4", status("HTTP/1.1 200 O\0K")),
            .spoilt("a bare carriage return in the reason", "9112 §4", status("HTTP/1.1 200 OK\rX-Evil: 1")),
            .spoilt("an escape character in the reason", "9112 §4", status("HTTP/1.1 200 \u{1B}[0m")),
            .spoilt("a handshake of TLS", "9112 §2.1", "\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{28}\r\n\r\n"),
        ]

        static let fields: [WireCase] = [
            .answered(
                "order, letter case and duplicates stay", "contract §3.1",
                with("x-b: 1\r\nSet-Cookie: a\r\nX-A: 2\r\nset-cookie: b\r\nX-B: 3\r\n"),
                as: okSeen("mine", "x-b: 1\r\nSet-Cookie: a\r\nX-A: 2\r\nset-cookie: b\r\nX-B: 3\r\n")),
            .answered(
                "bytes beyond ASCII in a value", "9110 §5.5", with("X-A: \u{80}\u{E4}\u{FF}\r\n"),
                as: okSeen("mine", "X-A: \u{80}\u{E4}\u{FF}\r\n")),
            .answered(
                "white space around a value goes", "9112 §5.1", with("X-A: \t 1 \t \r\nX-B:2\r\n"),
                as: okSeen("mine", "X-A: 1\r\nX-B: 2\r\n")),
            .answered(
                "an empty value stays", "9110 §5.5", with("X-A:\r\nX-B: \r\n"), as: okSeen("mine", "X-A: \r\nX-B: \r\n")
            ),
            .answered(
                "Date and Server are the origin's", "9110 §6.6.1", with("Server: o\r\nDate: then\r\n"),
                as: okSeen("mine", "Server: o\r\nDate: then\r\n")),
            .answered(
                "Via grows by a line", "9110 §7.6.3", with("Via: 1.1 cdn\r\n"), as: okSeen("mine", "Via: 1.1 cdn\r\n")),
            .answered(
                "256 field lines", "contract §2", with("\(WireBytes(String(repeating: "X: y\r\n", count: 255)))"),
                as: okSeen("mine", String(repeating: "X: y\r\n", count: 255))),
            .spoilt("257 field lines", "contract §2", with("\(WireBytes(String(repeating: "X: y\r\n", count: 257)))")),
            .spoilt(
                "a field line that is too long", "contract §2",
                with("X: \(WireBytes(String(repeating: "v", count: 16 * 1024)))\r\n")),
            .spoilt(
                "a head that is too long", "contract §2",
                with("\(WireBytes(String(repeating: "X: \(String(repeating: "v", count: 1019))\r\n", count: 65)))")),
            .spoilt(
                "LOOK-04 a first field that is folded", "9112 §5.2",
                "HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 4\r\n\r\nmine"),
            .spoilt("a folded field", "9112 §5.2", with("X-A: 1\r\n more\r\n")),
            .spoilt("a field folded with a tab", "9112 §5.2", with("X-A: 1\r\n\tmore\r\n")),
            .spoilt("a folded length", "9112 §5.2", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 4\r\n\r\nmine"),
            .answered(
                "LOOK-82 white space before the colon goes", "9112 §5.1", with("X-A : 1\r\nX-B\t: 2\r\n"),
                as: okSeen("mine", "X-A: 1\r\nX-B: 2\r\n")),
            .answered(
                "LOOK-82 a length with a space before its colon", "9112 §5.1",
                "HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nmine", as: okSeen("mine")),
            .answered(
                "LOOK-82 a coding with a space before its colon", "9112 §5.1",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding\t : chunked\r\n\r\n4\r\nmine\r\n0\r\n\r\n",
                as: codedSeen("4\r\nmine\r\n0\r\n\r\n")),
            .spoilt(
                "LOOK-82 lengths that differ, one with a space before its colon", "9112 §6.3",
                with("Content-Length : 3\r\n")),
            .spoilt(
                "LOOK-82 a coding with a space before its colon, beside a length", "9112 §6.3",
                with("Transfer-Encoding : chunked\r\n")),
            .spoilt("a field without a name", "9112 §5.1", with(": 1\r\n")),
            .spoilt("a line without a colon", "9112 §5.1", with("rubbish\r\n")),
            .spoilt("a second status line", "9112 §5.1", with("HTTP/1.1 200 OK\r\n")),
            .spoilt("a space in a name", "9110 §5.1", with("X A: 1\r\n")),
            .spoilt("a byte beyond ASCII in a name", "9110 §5.1", with("X-\u{E4}: 1\r\n")),
            .spoilt("NUL in a value", "9110 §5.5", with("X-A: a\0b\r\n")),
            .spoilt("NUL in a name", "9110 §5.5", with("X\0A: b\r\n")),
            .spoilt("a control byte in a value", "9110 §5.5", with("X-A: a\u{7}b\r\n")),
            .spoilt("DEL in a value", "9110 §5.5", with("X-A: a\u{7F}b\r\n")),
            .spoilt(
                "a bare carriage return in a value, which splits for some", "9112 §2.2",
                with("X-A: 1\rSet-Cookie: evil\r\n")),
            .spoilt("a bare carriage return at the end of a value", "9112 §2.2", with("X-A: 1\r\r\n")),
            .spoilt("a line that begins with a carriage return", "9112 §2.2", with("\rX-A: 1\r\n")),
            .spoilt("an empty line that begins with two carriage returns", "9112 §2.2", with("\r\r\n")),
            .spoilt(
                "a bare line feed behind the status line", "9112 §2.2",
                "HTTP/1.1 200 OK\nContent-Length: 4\r\n\r\nmine"),
            .spoilt("a bare line feed behind a field", "9112 §2.2", with("X-A: 1\nSet-Cookie: evil\r\n")),
            .spoilt(
                "a bare line feed for the empty line", "9112 §2.2", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\nmine"),
            WireCase(
                "a head that is cut", "9112 §8",
                [
                    .client(ask()), .seen(asked()), .origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"), .originCloses,
                    .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "a head that is broken off", "9112 §8", newOnly: WireCase.overtaken,
                [
                    .client(ask()), .seen(asked()), .origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"), .originResets,
                    .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "no response at all", "9112 §8", connections: 1, newOnly: "on a used one the request is sent once more",
                [
                    .client(ask()), .seen(asked()), .originCloses, .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "a reset for a response", "9112 §8", connections: 1,
                newOnly: "on a used one the request is sent once more",
                [
                    .client(ask()), .seen(asked()), .originResets, .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "a head that comes byte by byte", "9112 §2.2",
                [.client(ask()), .seen(asked())]
                    + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A: 1\r\n\r\nmine".unicodeScalars.map {
                        .origin(WireBytes(String(Character($0))))
                    }
                    + [.answer("HTTP/1.1 200 OK\r\nX-A: 1\r\nVia: 1.1 pintle\r\nContent-Length: 4\r\n\r\nmine")]),
            WireCase(
                "a response to HEAD that is no HTTP", "9112 §4",
                [
                    .client(ask("HEAD")), .seen(asked("HEAD")), .origin("rubbish\r\n\r\n"),
                    .problem(502, "upstream-protocol"),
                ]),
        ]

        @Test(arguments: Self.statusLines) func statusLine(_ test: WireCase) throws { try test.play() }
        @Test(arguments: Self.fields) func responseField(_ test: WireCase) throws { try test.play() }
    }
}
