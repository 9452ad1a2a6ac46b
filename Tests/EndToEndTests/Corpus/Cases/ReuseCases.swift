// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §9.3, RFC 9110 §9.2.2: connections that are used again, and requests that are sent twice.
    struct Reuse {
        private typealias Step = WireCase.Step

        /// A first request, after which both connections are kept.
        private static let warm: [Step] = [
            .client(ask("GET", "/1")), .seen(asked("GET", "/1")), .origin(ok("one")), .answer(okSeen("one")),
        ]

        /// A request on a connection that the origin closes when it sees the request, and then on another connection.
        private static func again(_ method: String) -> WireCase {
            WireCase(
                "\(method) on a connection that closes is sent once more", "contract §3.4", connections: 2,
                warm + [
                    .client(ask(method, "/2")), .seen(asked(method, "/2")), .originCloses, .seen(asked(method, "/2")),
                    .origin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .answer(okSeen("")),
                ])
        }

        private static let anyMethod = "a session sends any request once more whose body it has"

        /// A request on a connection that the origin closes, which is not sent again.
        private static func once(
            _ what: String, _ request: WireBytes, _ seen: WireBytes
        ) -> WireCase {
            WireCase(
                "\(what) on a connection that closes is not sent again", "9110 §9.2.2", connections: 1,
                programOnly: Self.anyMethod,
                warm + [
                    .client(request), .seen(seen), .originCloses, .problem(502, "upstream-protocol"),
                ])
        }

        static let cases: [WireCase] = [
            again("GET"), again("OPTIONS"), again("DELETE"), again("TRACE"),
            WireCase(
                "eight connections in a row that close", "contract §3.4", connections: 9,
                warm
                    + (0..<8).flatMap { _ -> [Step] in
                        [
                            .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .originCloses,
                            .seen(asked("GET", "/2")), .origin(ok("two")), .answer(okSeen("two")),
                        ]
                    }),
            WireCase(
                "HEAD on a connection that closes is sent once more", "contract §3.4", connections: 2,
                warm + [
                    .client(ask("HEAD", "/2")), .seen(asked("HEAD", "/2")), .originCloses, .seen(asked("HEAD", "/2")),
                    .origin("HTTP/1.1 200 OK\r\n\r\n"), .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\n\r\n"),
                ]),
            WireCase(
                "PUT without content on a connection that closes is sent once more", "contract §3.4", connections: 2,
                warm + [
                    .client(ask("PUT", "/2", "Content-Length: 0\r\n")), .seen(sized(0, "", "PUT", "/2")), .originCloses,
                    .seen(sized(0, "", "PUT", "/2")), .origin(ok("two")), .answer(okSeen("two")),
                ]),
            once("POST", ask("POST", "/2"), asked("POST", "/2")),
            once("POST without content", ask("POST", "/2", "Content-Length: 0\r\n"), sized(0, "", "POST", "/2")),
            once("PATCH", ask("PATCH", "/2"), asked("PATCH", "/2")),
            once("a method that nobody knows", ask("get", "/2"), asked("get", "/2")),
            once(
                "POST with content", ask("POST", "/2", "Content-Length: 3\r\n") + "abc", sized(3, "abc", "POST", "/2")),
            once(
                "PUT with content that is not here any more", ask("PUT", "/2", "Content-Length: 3\r\n") + "abc",
                sized(3, "abc", "PUT", "/2")),
            WireCase(
                "a connection that is reset is no reason to send twice what may have been done", "9110 §9.2.2",
                connections: 1, programOnly: Self.anyMethod,
                warm + [
                    .client(ask("POST", "/2")), .seen(asked("POST", "/2")), .originResets,
                    .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "a request is sent twice at most", "contract §3.4", connections: 2,
                warm + [
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .originCloses, .seen(asked("GET", "/2")),
                    .originCloses, .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "what has begun to be answered is not sent again", "contract §3.4", connections: 1,
                warm + [
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .origin("HTTP/1.1 200 OK\r\n"), .originCloses,
                    .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "what had an interim answer is not sent again", "contract §3.4", connections: 1,
                warm + [
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .origin("HTTP/1.1 103 Early Hints\r\n\r\n"),
                    .answer("HTTP/1.1 103 Early Hints\r\n\r\n"), .originCloses, .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "a connection that was closed while it was kept is not used", "9112 §9.3", connections: 2,
                warm + [
                    .originFinishes, .originAbandoned, .client(ask("POST", "/2", "Content-Length: 3\r\n") + "abc"),
                    .seen(sized(3, "abc", "POST", "/2")), .origin(ok("two")), .answer(okSeen("two")),
                ]),
            WireCase(
                "LOOK-04 a first field that is folded is refused on a kept connection, too", "9112 §5.2",
                warm + [
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")),
                    .origin("HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 3\r\n\r\ntwo"),
                    .problem(502, "upstream-protocol"),
                ]),
            WireCase(
                "a response before its request is nobody's", "9112 §9.2",
                warm + [
                    .origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .origin(ok("two")), .answer(okSeen("two")),
                ]),
            WireCase(
                "a part of a response before its request is nobody's", "9112 §9.2",
                warm + [
                    .origin("HTTP/1.1 200 OK\r\nSet-Cookie: evil\r\n"),
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .origin(ok("two")), .answer(okSeen("two")),
                ]),
            WireCase(
                "a time-out that an origin tells before it closes is nobody's", "9110 §15.5.9",
                warm + [
                    .origin("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
                    .originFinishes,
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .origin(ok("two")), .answer(okSeen("two")),
                ]),
            WireCase(
                "a response before its request does not go to another client", "9112 §9.2",
                warm + [
                    .origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), .newClient,
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .origin(ok("two")), .answer(okSeen("two")),
                ]),
            WireCase(
                "a client that leaves before its answer leaves it to nobody", "9112 §9.2",
                warm + [
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")), .clientResets, .originAbandoned,
                ]),
            WireCase(
                "a client that leaves within its answer leaves the rest to nobody", "9112 §9.2",
                [
                    .client(ask("GET", "/1")), .seen(asked("GET", "/1")),
                    .origin("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nmine"),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nContent-Length: 8\r\n\r\nmine"), .clientResets,
                    .originAbandoned,
                ]),
        ]

        @Test(arguments: Self.cases) func reuse(_ test: WireCase) throws { try test.play() }
    }

    /// RFC 9112 §7.6: answers that come while the request is still on its way, and bodies that flow as they come.
    struct Streaming {
        private static let closing =
            "HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine"
        private static func refusal(_ connection: String) -> WireBytes {
            "HTTP/1.1 413 Content Too Large\r\n\(connection)Content-Length: 2\r\n"
        }
        private static let events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

        static let cases: [WireCase] = [
            WireCase(
                "an answer before the body is there ends the connection behind the body", "9112 §9.3",
                [
                    .client(post("Content-Length: 9\r\n", "abc")), .seen(sized(9, "abc")), .origin(ok("mine")),
                    .answer(WireBytes(closing)), .client("defghi"), .seen("defghi"), .closed,
                ]),
            WireCase(
                "an error before the body is there ends the connection", "9112 §9.5",
                [
                    .client(post("Content-Length: 9\r\n", "abc")), .seen(sized(9, "abc")),
                    .origin("\(refusal(""))\r\nno"),
                    .answer("\(refusal("Via: 1.1 pintle\r\n"))Connection: close\r\n\r\nno"),
                    .closed, .originAbandoned,
                ]),
            WireCase(
                "an error before the chunks are there ends the connection", "9112 §9.5",
                [
                    .client(chunks("3\r\nabc\r\n")), .seen(chunksSeen(body: "3\r\nabc\r\n")),
                    .origin("\(refusal("Connection: close\r\n"))\r\nno"), .originFinishes,
                    .answer("\(refusal("Via: 1.1 pintle\r\n"))Connection: close\r\n\r\nno"), .closed, .originAbandoned,
                ]),
            WireCase(
                "the rest of a body behind an early answer is no request", "9112 §9.3",
                [
                    .client(post("Content-Length: 60\r\n", "abc")), .seen(sized(60, "abc")),
                    .origin("\(refusal(""))\r\nno"),
                    .answer("\(refusal("Via: 1.1 pintle\r\n"))Connection: close\r\n\r\nno"),
                    .clientTries(ask("GET", "/evil")), .closed, .originAbandoned,
                ]),
            WireCase(
                "an answer that begins before the body is there flows beside it", "9112 §9.3",
                [
                    .client(chunks("1\r\na\r\n")), .seen(chunksSeen(body: "1\r\na\r\n")), .origin(coded("1\r\nA\r\n")),
                    .answer(
                        "HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nA\r\n"
                    ),
                    .client("1\r\nb\r\n"), .seen("1\r\nb\r\n"), .origin("1\r\nB\r\n"), .answer("1\r\nB\r\n"),
                    .client("0\r\n\r\n"), .seen("0\r\n\r\n"), .origin("0\r\n\r\n"), .answer("0\r\n\r\n"), .closed,
                ]),
            WireCase(
                "each event of a stream comes before the next is sent", "contract §3.1",
                [
                    .client(ask()), .seen(asked()), .origin("\(events)Transfer-Encoding: chunked\r\n\r\n"),
                    .answer("\(events)Via: 1.1 pintle\r\nTransfer-Encoding: chunked\r\n\r\n"),
                    .origin("9\r\ndata: 1\n\n\r\n"), .answer("9\r\ndata: 1\n\n\r\n"),
                    .origin("9\r\ndata: 2\n\n\r\n"), .answer("9\r\ndata: 2\n\n\r\n"),
                    .origin("9\r\ndata: 3\n\n\r\n0\r\n\r\n"), .answer("9\r\ndata: 3\n\n\r\n0\r\n\r\n"),
                ]),
            WireCase(
                "each event of a stream that ends with its connection comes at once", "contract §3.1",
                [
                    .client(ask()), .seen(asked()), .origin("\(events)\r\n"),
                    .answer("\(events)Via: 1.1 pintle\r\nTransfer-Encoding: chunked\r\n\r\n"),
                    .origin("data: 1\n\n"), .answer("9\r\ndata: 1\n\n\r\n"), .origin("data: 2\n\n"),
                    .answer("9\r\ndata: 2\n\n\r\n"), .originCloses, .answer("0\r\n\r\n"),
                ]),
            WireCase(
                "each event comes at once for HTTP/1.0, too", "contract §3.1",
                [
                    .client("GET http://$/ HTTP/1.0\r\n\r\n"),
                    .seen("GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"),
                    .origin("\(events)Transfer-Encoding: chunked\r\n\r\n"),
                    .answer("\(events)Via: 1.1 pintle\r\nConnection: close\r\n\r\n"),
                    .origin("9\r\ndata: 1\n\n\r\n"), .answer("data: 1\n\n"), .origin("9\r\ndata: 2\n\n\r\n"),
                    .answer("data: 2\n\n"), .origin("0\r\n\r\n"), .closed,
                ]),
            WireCase(
                "each piece of an upload comes before the next is sent", "contract §3.2",
                [
                    .client(post("Content-Length: 6\r\n", "ab")), .seen(sized(6, "ab")), .client("cd"), .seen("cd"),
                    .client("ef"), .seen("ef"), .origin(ok("mine")), .answer(okSeen("mine")),
                ]),
            WireCase(
                "a stream that its client leaves is ended", "contract §3.1",
                [
                    .client(ask()), .seen(asked()), .origin("\(events)\r\ndata: 1\n\n"),
                    .answer("\(events)Via: 1.1 pintle\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n"),
                    .clientResets, .originAbandoned,
                ]),
        ]

        @Test(arguments: Self.cases) func streaming(_ test: WireCase) throws { try test.play() }
    }
}
