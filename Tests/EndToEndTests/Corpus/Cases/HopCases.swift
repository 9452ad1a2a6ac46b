// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9110 §7.6.2, §7.6.3, §9.3.7, §9.3.8, §10.1.1: Max-Forwards, Via, OPTIONS, TRACE and Expect.
    struct Hops {
        private static let allowed: WireBytes =
            "HTTP/1.1 200 OK\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT\r\nContent-Length: 0\r\n\r\n"

        private static func echoed(_ body: WireBytes, _ length: String) -> WireBytes {
            "HTTP/1.1 200 OK\r\nContent-Type: message/http\r\nContent-Length: \(length)\r\n\r\n\(body)"
        }

        /// Answered here, without the origin.
        private static func own(_ what: String, _ rule: String, _ request: WireBytes, _ answer: WireBytes) -> WireCase {
            WireCase(what, rule, connections: 0, [.client(request), .answer(answer)])
        }

        private static func counted(_ what: String, _ method: String, _ value: String, as seen: String) -> WireCase {
            .passed(
                what, "9110 §7.6.2", ask(method, "/", "Max-Forwards: \(value)\r\n"),
                as: asked(method, "/", "Max-Forwards: \(seen)\r\n"))
        }

        static let hops: [WireCase] = [
            own("OPTIONS at the end of its way", "9110 §7.6.2", ask("OPTIONS", "/", "Max-Forwards: 0\r\n"), allowed),
            own(
                "OPTIONS at the end of its way, with zeros", "9110 §7.6.2",
                ask("OPTIONS", "/", "Max-Forwards: 000\r\n"),
                allowed),
            own("OPTIONS for the proxy itself", "9110 §9.3.7", "OPTIONS * HTTP/1.1\r\nHost: $\r\n\r\n", allowed),
            own(
                "OPTIONS for the proxy itself, with hops left", "9110 §9.3.7",
                "OPTIONS * HTTP/1.1\r\nHost: $\r\nMax-Forwards: 5\r\n\r\n", allowed),
            own(
                "TRACE at the end of its way shows what came", "9110 §9.3.8",
                "TRACE http://127.0.0.1:9/a HTTP/1.1\r\nHost: x\r\nx-A: 1\r\nMax-Forwards: 0\r\n\r\n",
                echoed("TRACE /a HTTP/1.1\r\nHost: x\r\nx-A: 1\r\nMax-Forwards: 0\r\n\r\n", "55")),
            own(
                "TRACE does not show who the client is", "9110 §9.3.8",
                "TRACE http://127.0.0.1:9/ HTTP/1.1\r\nHost: x\r\nCookie: secret\r\nAuthorization: secret\r\n"
                    + "Proxy-Authorization: secret\r\nMax-Forwards: 0\r\n\r\n",
                echoed("TRACE / HTTP/1.1\r\nHost: x\r\nMax-Forwards: 0\r\n\r\n", "46")),
            counted("OPTIONS on its way", "OPTIONS", "1", as: "0"),
            counted("TRACE on its way", "TRACE", "10", as: "9"),
            counted("GET does not count", "GET", "0", as: "0"),
            counted("a number of hops that is none", "OPTIONS", "many", as: "many"),
            counted("a negative number of hops", "TRACE", "-1", as: "-1"),
            counted("a fraction of hops", "TRACE", "1.5", as: "1.5"),
            counted(
                "a number of hops beyond all numbers", "OPTIONS", "99999999999999999999", as: "99999999999999999999"),
            .passed(
                "OPTIONS for the origin as a whole", "9112 §3.2.4", "OPTIONS http://$ HTTP/1.1\r\nHost: $\r\n\r\n",
                as: asked("OPTIONS", "*")),
            .passed("OPTIONS for the root", "9112 §3.2.4", ask("OPTIONS"), as: asked("OPTIONS")),
            .passed(
                "OPTIONS with a body", "9110 §9.3.7", ask("OPTIONS", "/", "Content-Length: 3\r\n") + "abc",
                as: sized(3, "abc", "OPTIONS")),
            .passed("TRACE without a number of hops", "9110 §9.3.8", ask("TRACE"), as: asked("TRACE")),
            .refused(
                "OPTIONS * with a body that is badly coded", "9112 §6.1",
                "OPTIONS * HTTP/1.1\r\nHost: $\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            .passed(
                "Via grows by a line", "9110 §7.6.3", ask("GET", "/", "Via: 1.0 a, 1.1 b (c)\r\nvia: 2 d\r\n"),
                as: asked("GET", "/", "Via: 1.0 a, 1.1 b (c)\r\nvia: 2 d\r\n")),
            .passed(
                "a name within another name is no loop", "9110 §7.6.3",
                ask("GET", "/", "Via: 1.1 pintle2, 1.1 x-pintle\r\n"),
                as: asked("GET", "/", "Via: 1.1 pintle2, 1.1 x-pintle\r\n")),
            WireCase(
                "a loop", "contract §3.4", connections: 0,
                [
                    .client(ask("GET", "/", "Via: 1.1 a, 1.1 Pintle (x)\r\n")), .problem(508, "loop-detected"),
                ]),
            WireCase(
                "a loop of CONNECT", "contract §3.4", connections: 0,
                [
                    .client("CONNECT $ HTTP/1.1\r\nHost: $\r\nVia: 1.1 pintle\r\n\r\n"), .problem(508, "loop-detected"),
                ]),
        ]

        private static let expecting = "Expect: 100-continue\r\n"
        private static func expects(_ length: Int) -> WireBytes {
            ask("POST", "/", "\(expecting)Content-Length: \(length)\r\n")
        }
        private static let goOn: WireBytes = "HTTP/1.1 100 Continue\r\n\r\n"

        static let expectations: [WireCase] = [
            WireCase(
                "100 Continue comes from the origin, and the body follows it", "9110 §10.1.1",
                [
                    .client(expects(4)), .seen(sized(4, "", fields: expecting)), .origin(goOn), .answer(goOn),
                    .client("body"), .seen("body"), .origin(ok("mine")), .answer(okSeen("mine")),
                ]),
            WireCase(
                "100 Continue before a body in chunks", "9110 §10.1.1",
                [
                    .client(ask("POST", "/", "\(expecting)Transfer-Encoding: chunked\r\n")),
                    .seen(chunksSeen(expecting, body: "")), .origin(goOn), .answer(goOn),
                    .client("3\r\nabc\r\n"), .seen("3\r\nabc\r\n"), .client("0\r\n\r\n"), .seen("0\r\n\r\n"),
                    .origin(ok("mine")), .answer(okSeen("mine")),
                ]),
            WireCase(
                "100-continue in capitals", "9110 §10.1.1",
                [
                    .client(ask("POST", "/", "expect: 100-CONTINUE\r\nContent-Length: 4\r\n")),
                    .seen(sized(4, "", fields: "expect: 100-CONTINUE\r\n")), .origin(goOn), .answer(goOn),
                    .client("body"),
                    .seen("body"), .origin(ok("mine")), .answer(okSeen("mine")),
                ]),
            WireCase(
                "a final answer in place of 100 Continue ends the connection", "9110 §10.1.1",
                [
                    .client(expects(4)), .seen(sized(4, "", fields: expecting)),
                    .origin("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"),
                    .answer(
                        "HTTP/1.1 417 Expectation Failed\r\nVia: 1.1 pintle\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
                    ),
                    .closed, .originAbandoned,
                ]),
            WireCase(
                "a request behind an expectation that failed is no request", "9110 §10.1.1",
                [
                    .client(expects(40)), .seen(sized(40, "", fields: expecting)),
                    .origin("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"),
                    .answer(
                        "HTTP/1.1 403 Forbidden\r\nVia: 1.1 pintle\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
                    .clientTries(ask("GET", "/evil")), .closed, .originAbandoned,
                ]),
            WireCase(
                "100 Continue and 103 before the answer", "9110 §15.2",
                [
                    .client(expects(4)), .seen(sized(4, "", fields: expecting)), .origin(goOn), .answer(goOn),
                    .origin("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                    .answer("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), .client("body"), .seen("body"),
                    .origin(ok("mine")), .answer(okSeen("mine")),
                ]),
            .passed(
                "an expectation without a body", "9110 §10.1.1", ask("GET", "/", expecting),
                as: asked("GET", "/", expecting)),
            .passed(
                "an expectation that nobody knows is the origin's to refuse", "9110 §10.1.1",
                ask("GET", "/", "Expect: the-unexpected\r\n"), as: asked("GET", "/", "Expect: the-unexpected\r\n")),
            WireCase(
                "HTTP/1.0 cannot expect", "9110 §10.1.1",
                [
                    .client("POST http://$/ HTTP/1.0\r\n\(expecting)Content-Length: 4\r\n\r\nbody"),
                    .seen("POST / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\nContent-Length: 4\r\n\r\nbody"),
                    .origin(ok("mine")),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine"),
                    .closed,
                ]),
        ]

        @Test(arguments: Self.hops) func hop(_ test: WireCase) throws { try test.play() }
        @Test(arguments: Self.expectations) func expectation(_ test: WireCase) throws { try test.play() }
    }
}
