// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §9.3: several requests on one connection, however they are cut into pieces.
    struct Pipelining {
        private typealias Step = WireCase.Step

        /// The origin sees the next request, and its answer comes back.
        private static func turn(_ path: String) -> [Step] {
            [.seen(asked("GET", path)), .origin(ok(path)), .answer(okSeen(path))]
        }

        private static let smuggled = "GET http://$/evil HTTP/1.1\r\nHost: $\r\n\r\n"

        static let cases: [WireCase] = [
            WireCase(
                "two requests at once", "9112 §9.3.2",
                [
                    .client(ask("GET", "/1") + ask("GET", "/2"))
                ] + turn("/1") + turn("/2")),
            WireCase(
                "five requests at once keep their order", "9112 §9.3.2",
                [
                    .client(
                        ask("GET", "/1") + ask("GET", "/2") + ask("GET", "/3") + ask("GET", "/4") + ask("GET", "/5"))
                ] + turn("/1") + turn("/2") + turn("/3") + turn("/4") + turn("/5")),
            WireCase(
                "a bad request between good ones ends the connection behind the first answer", "9112 §9.3.2",
                [
                    .client(ask("GET", "/1") + "GET http://$/2 HTTP/1.1\r\n\r\n" + ask("GET", "/3"))
                ] + turn("/1")
                    + [.refusal(400, "bad-request")]),
            WireCase(
                "an unknown coding between good requests", "9112 §6.1",
                [
                    .client(ask("GET", "/1") + post("Transfer-Encoding: x\r\n") + ask("GET", "/3"))
                ] + turn("/1")
                    + [.refusal(501, "bad-request")]),
            WireCase(
                "a bad chunk between good requests", "9112 §7.1",
                [
                    .client(ask("GET", "/1") + chunks("+1\r\na\r\n0\r\n\r\n") + ask("GET", "/3"))
                ] + turn("/1")
                    + [.refusal(400, "bad-request")]),
            WireCase(
                "a request smuggled behind a bad one is not looked at", "9112 §11.2", connections: 0,
                [
                    .client(post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n") + WireBytes(smuggled)),
                    .refusal(400, "bad-request"),
                ]),
            WireCase(
                "a body that looks like a request is a body", "9112 §11.2",
                [
                    .client(post("Content-Length: 31\r\n", "GET /evil HTTP/1.1\r\nHost: x\r\n\r\n") + ask("GET", "/2")),
                    .seen(sized(31, "GET /evil HTTP/1.1\r\nHost: x\r\n\r\n")), .origin(ok("1")), .answer(okSeen("1")),
                ]
                    + turn("/2")),
            WireCase(
                "chunks that look like a request are a body", "9112 §11.2",
                [
                    .client(chunks("1d\r\nGET /evil HTTP/1.1\r\nHost: x\r\n\r\n0\r\n\r\n") + ask("GET", "/2")),
                    .seen(chunksSeen(body: "1d\r\nGET /evil HTTP/1.1\r\nHost: x\r\n\r\n0\r\n\r\n")), .origin(ok("1")),
                    .answer(okSeen("1")),
                ] + turn("/2")),
            WireCase(
                "GET with a length does not leave its body as the next request", "9112 §11.2",
                [
                    .client(
                        ask("GET", "/1", "Content-Length: 22\r\n") + "GET /evil HTTP/1.1\r\n\r\n" + ask("GET", "/2")),
                    .seen(sized(22, "GET /evil HTTP/1.1\r\n\r\n", "GET", "/1")), .origin(ok("1")), .answer(okSeen("1")),
                ]
                    + turn("/2")),
            WireCase(
                "a request behind a length that is too short is a bad one", "9112 §11.2",
                [
                    .client(post("Content-Length: 2\r\n", "abc") + ask("GET", "/2")), .seen(sized(2, "ab")),
                    .origin(ok("1")), .answer(okSeen("1")), .seen(asked("cGET", "/2")), .origin(ok("2")),
                    .answer(okSeen("2")),
                ]),
            WireCase(
                "an empty line behind a body is passed over", "9112 §2.2",
                [
                    .client(post("Content-Length: 3\r\n", "abc\r\n") + ask("GET", "/2")), .seen(sized(3, "abc")),
                    .origin(ok("1")), .answer(okSeen("1")),
                ] + turn("/2")),
            WireCase(
                "nothing is read behind a request that ends the connection", "9112 §9.6",
                [
                    .client(ask("GET", "/1", "Connection: close\r\n") + ask("GET", "/evil")), .seen(asked("GET", "/1")),
                    .origin(ok("1")), .answer(closing("1")), .closed,
                ]),
            WireCase(
                "nothing is read behind a request of HTTP/1.0", "9112 §9.3",
                [
                    .client("GET http://$/1 HTTP/1.0\r\n\r\n" + ask("GET", "/evil")),
                    .seen("GET /1 HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"), .origin(ok("1")),
                    .answer(closing("1")),
                    .closed,
                ]),
            WireCase(
                "a request answered here between others", "9110 §7.6.2",
                [
                    .client(ask("GET", "/1") + ask("OPTIONS", "/2", "Max-Forwards: 0\r\n") + ask("GET", "/3"))
                ] + turn("/1")
                    + [.answer(allowed)] + turn("/3")),
            WireCase(
                "a request that comes byte by byte", "9112 §2.2",
                "GET http://$/1 HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n\r\n".unicodeScalars.map {
                    .client(WireBytes(String(Character($0))))
                }
                    + [.seen(asked("GET", "/1", "X-A: 1\r\n")), .origin(ok("1")), .answer(okSeen("1"))]),
            WireCase(
                "a body that comes byte by byte", "9112 §6.3",
                (post("Content-Length: 12\r\n", "abcd\r\n\r\nefgh").text).unicodeScalars.map {
                    .client(WireBytes(String(Character($0))))
                }
                    + [.seen(sized(12, "abcd\r\n\r\nefgh")), .origin(ok("1")), .answer(okSeen("1"))]),
            WireCase(
                "a head and the half of the next", "9112 §9.3.2",
                [
                    .client(ask("GET", "/1") + "GET http://$/2 HTT")
                ] + turn("/1")
                    + [.client("P/1.1\r\nHost: x\r\n\r\n")] + turn("/2")),
            WireCase(
                "a line end cut in two", "9112 §2.2",
                [
                    .client("GET http://$/1 HTTP/1.1\r"), .client("\nHost: x\r\n\r"), .client("\n"),
                ] + turn("/1")),
            WireCase(
                "a bare line feed that is cut from its line", "9112 §2.2", connections: 0,
                [
                    .client("GET http://$/1 HTTP/1.1\r\nHost: x"), .client("\n"), .client("\r\n"),
                    .refusal(400, "bad-request"),
                ]),
        ]

        /// Answers of an origin to some of several requests.
        static let answers: [WireCase] = [
            WireCase(
                "an error of the origin's between good requests", "9112 §9.3.2",
                [
                    .client(ask("GET", "/1") + ask("GET", "/2") + ask("GET", "/3"))
                ] + turn("/1") + [
                    .seen(asked("GET", "/2")), .origin("rubbish\r\n\r\n"), .problem(502, "upstream-protocol"),
                ] + turn("/3")),
            WireCase(
                "an answer that is cut ends the connection, and nothing more is sent", "9112 §8", connections: 1,
                programOnly: "a session's tasks have no connection in common that could end",
                [
                    .client(ask("GET", "/1") + ask("GET", "/2")), .seen(asked("GET", "/1")),
                    .origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .originCloses, .cut,
                ]),
            WireCase(
                "HEAD, 204 and 304 between others", "9112 §6.3",
                [
                    .client(ask("HEAD", "/1") + ask("GET", "/2") + ask("GET", "/3") + ask("GET", "/4")),
                    .seen(asked("HEAD", "/1")), .origin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nContent-Length: 5\r\n\r\n"),
                    .seen(asked("GET", "/2")), .origin("HTTP/1.1 204 No Content\r\n\r\n"),
                    .answer("HTTP/1.1 204 No Content\r\nVia: 1.1 pintle\r\n\r\n"),
                    .seen(asked("GET", "/3")), .origin("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n\r\n"),
                    .answer("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nVia: 1.1 pintle\r\n\r\n"),
                ] + turn("/4")),
        ]

        private static let allowed: WireBytes =
            "HTTP/1.1 200 OK\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT\r\nContent-Length: 0\r\n\r\n"

        private static func closing(_ body: String) -> WireBytes {
            "HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        }

        @Test(arguments: Self.cases + Self.answers) func pipelining(_ test: WireCase) throws { try test.play() }
    }
}
