// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §6.3, RFC 9110 §15: responses without a body, and interim ones.
    struct Bodyless {
        private static let none = "HTTP/1.1 204 No Content\r\n"
        private static let unchanged = "HTTP/1.1 304 Not Modified\r\n"
        private static let via = "Via: 1.1 pintle\r\n"
        private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

        static let heads: [WireCase] = [
            .answered(
                "HEAD keeps the length", "9110 §9.3.2", to: "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
                as: "HTTP/1.1 200 OK\r\n\(via)Content-Length: 9\r\n\r\n"),
            .answered(
                "HEAD without a length", "9110 §9.3.2", to: "HEAD", "HTTP/1.1 200 OK\r\n\r\n",
                as: "HTTP/1.1 200 OK\r\n\(via)\r\n"),
            .answered(
                "HEAD of what comes in chunks", "9110 §9.3.2", to: "HEAD",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", as: "HTTP/1.1 200 OK\r\n\(via)\r\n"),
            .answered(
                "HEAD of what is not there", "9110 §9.3.2", to: "HEAD",
                "HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\n",
                as: "HTTP/1.1 404 Not Found\r\n\(via)Content-Length: 7\r\n\r\n"),
            .answered("204", "9110 §15.3.5", "\(none)X-A: 1\r\n\r\n", as: "\(none)X-A: 1\r\n\(via)\r\n"),
            .answered(
                "204 with a length of zero", "9110 §8.6", "\(none)Content-Length: 0\r\n\r\n", as: "\(none)\(via)\r\n"),
            .answered("204 with a length", "9110 §8.6", "\(none)Content-Length: 9\r\n\r\n", as: "\(none)\(via)\r\n"),
            .answered(
                "204 with a coding", "9112 §6.1", "\(none)Transfer-Encoding: chunked\r\n\r\n", as: "\(none)\(via)\r\n"),
            .answered(
                "304", "9110 §15.4.5", "\(unchanged)ETag: \"a\"\r\n\r\n", as: "\(unchanged)ETag: \"a\"\r\n\(via)\r\n"),
            .answered(
                "304 keeps the length of what has not changed", "9110 §8.6", "\(unchanged)Content-Length: 9\r\n\r\n",
                as: "\(unchanged)\(via)Content-Length: 9\r\n\r\n"),
            .answered(
                "205 with a length of zero", "9110 §15.3.6", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n",
                as: "HTTP/1.1 205 Reset Content\r\n\(via)Content-Length: 0\r\n\r\n"),
            .answered(
                "205 with a body is framed like any other", "9112 §6.3",
                "HTTP/1.1 205 Reset Content\r\nContent-Length: 4\r\n\r\nmine",
                as: "HTTP/1.1 205 Reset Content\r\n\(via)Content-Length: 4\r\n\r\nmine"),
            .spoilt(
                "204 with both framings", "9112 §6.3",
                "\(none)Content-Length: 4\r\nContent-Length: 5\r\n\r\n"),
        ]

        /// `evil` after a response without a body: no client may get it.
        private static func behind(_ what: String, _ method: String, _ head: WireBytes, _ seen: WireBytes) -> [WireCase]
        {
            [
                WireCase(
                    "a response behind \(what), at once", "9112 §6.3",
                    [
                        .client(ask(method)), .seen(asked(method)), .origin("\(head)\(evil)"), .answer(seen),
                    ]),
                WireCase(
                    "a response behind \(what), a moment later", "9112 §6.3",
                    [
                        .client(ask(method)), .seen(asked(method)), .origin(head), .answer(seen),
                        .originTries(WireBytes(evil)),
                    ]),
                WireCase(
                    "a response behind \(what), cut in two", "9112 §6.3",
                    [
                        .client(ask(method)), .seen(asked(method)), .origin("\(head)HTTP/1.1 200 OK\r\n"),
                        .answer(seen),
                        .originTries("Content-Length: 4\r\n\r\nevil"),
                    ]),
                WireCase(
                    "a response behind \(what), with a request waiting", "9112 §6.3",
                    [
                        .client(ask(method) + ask("GET", "/2")), .seen(asked(method)), .origin("\(head)\(evil)\(evil)"),
                        .answer(seen), .seen(asked("GET", "/2")), .origin(ok("2")), .answer(okSeen("2")),
                    ]),
                WireCase(
                    "a response behind \(what), larger than a read", "9112 §6.3",
                    [
                        .client(ask(method) + ask("GET", "/2")), .seen(asked(method)),
                        .originTries("\(head)\(WireBytes(String(repeating: evil, count: 4000)))"), .answer(seen),
                        .seen(asked("GET", "/2")), .origin(ok("2")), .answer(okSeen("2")),
                    ]),
            ]
        }

        static let injections: [WireCase] =
            behind("204", "GET", "\(none)\r\n", "\(none)\(via)\r\n")
            + behind("204 with a length", "GET", "\(none)Content-Length: 42\r\n\r\n", "\(none)\(via)\r\n")
            + behind("304", "GET", "\(unchanged)\r\n", "\(unchanged)\(via)\r\n")
            + behind(
                "the answer to HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\(via)Content-Length: 42\r\n\r\n")
            + behind("a length of zero", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", okSeen(""))
            + behind("a length", "GET", ok("mine"), okSeen("mine"))
            + behind("chunks", "GET", coded("4\r\nmine\r\n0\r\n\r\n"), codedSeen("4\r\nmine\r\n0\r\n\r\n"))

        private static func interim(_ what: String, _ rule: String, _ bytes: WireBytes, as seen: WireBytes) -> WireCase
        {
            WireCase(
                what, rule,
                [
                    .client(ask()), .seen(asked()), .origin(bytes), .answer(seen), .origin(ok("mine")),
                    .answer(okSeen("mine")),
                ])
        }
        private static let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        private static let goOn = "HTTP/1.1 100 Continue\r\n\r\n"

        static let interims: [WireCase] = [
            interim("100 that nobody has asked for", "9110 §15.2", "\(goOn)", as: "\(goOn)"),
            interim("103 before the answer", "8297 §2", "\(hints)", as: "\(hints)"),
            interim(
                "several interim responses", "9110 §15.2", "\(hints)\(goOn)\(hints)", as: "\(hints)\(goOn)\(hints)"),
            interim(
                "an interim response that nobody knows", "9110 §15.2", "HTTP/1.1 199 Odd\r\n\r\n",
                as: "HTTP/1.1 199 Odd\r\n\r\n"),
            interim("102", "2518 §10.1", "HTTP/1.1 102 Processing\r\n\r\n", as: "HTTP/1.1 102 Processing\r\n\r\n"),
            interim(
                "an interim response's hop-by-hop fields go no further", "9110 §7.6.1",
                "HTTP/1.1 103 Early Hints\r\nConnection: X-A\r\nX-A: 1\r\nKeep-Alive: 1\r\nLink: x\r\n\r\n",
                as: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
            interim(
                "an interim response with a length", "9110 §8.6",
                "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nLink: x\r\n\r\n",
                as: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
            interim(
                "an interim response with a coding", "9112 §6.1",
                "HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\nLink: x\r\n\r\n",
                as: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
            WireCase(
                "interim responses and the answer at once", "9110 §15.2",
                [
                    .client(ask()), .seen(asked()), .origin("\(hints)\(goOn)\(ok("mine"))"),
                    .answer("\(hints)\(goOn)\(okSeen("mine"))"),
                ]),
            WireCase(
                "interim responses before the answer to HEAD", "9110 §15.2",
                [
                    .client(ask("HEAD")), .seen(asked("HEAD")),
                    .origin("\(hints)HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
                    .answer("\(hints)HTTP/1.1 200 OK\r\n\(via)Content-Length: 9\r\n\r\n"),
                ]),
            WireCase(
                "HTTP/1.0 gets no interim response", "9110 §15.2",
                [
                    .client("GET http://$/ HTTP/1.0\r\n\r\n"),
                    .seen("GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"),
                    .origin("\(hints)\(goOn)\(ok("mine"))"),
                    .answer("HTTP/1.1 200 OK\r\n\(via)Content-Length: 4\r\nConnection: close\r\n\r\nmine"), .closed,
                ]),
            WireCase(
                "only an interim response", "9110 §15.2",
                [
                    .client(ask()), .seen(asked()), .origin("\(hints)"), .answer("\(hints)"), .originCloses,
                    .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "an interim response that is malformed", "9110 §15.2",
                [
                    .client(ask()), .seen(asked()), .origin("HTTP/1.1 103 Early Hints\r\nLi nk: x\r\n\r\n"),
                    .problem(502, "upstream-protocol"),
                ]),
            .spoilt(
                "another protocol that nobody has asked for", "9110 §15.2.2",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: evil\r\nConnection: Upgrade\r\n\r\n"),
        ]

        @Test(arguments: Self.heads + Self.interims) func bodyless(_ test: WireCase) throws { try test.play() }
        @Test(arguments: Self.injections) func injection(_ test: WireCase) throws { try test.play() }
    }
}
