// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9110 §7.6.1, RFC 9112 §9: fields of one connection only, and the lifetime of connections.
    struct ConnectionFields {
        private static func old(_ fields: WireBytes) -> WireBytes { "GET http://$/ HTTP/1.0\r\n\(fields)\r\n" }
        private static let oldSeen: WireBytes = "GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"

        private static func answer(_ connection: String) -> WireBytes {
            "HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nContent-Length: 4\r\n\(connection)\r\nmine"
        }

        /// A request that is answered, with these fields about the connection, which then closes.
        private static func closes(_ what: String, _ rule: String, _ request: WireBytes, _ seen: WireBytes) -> WireCase
        {
            WireCase(
                what, rule,
                [
                    .client(request), .seen(seen), .origin(ok("mine")), .answer(answer("Connection: close\r\n")),
                    .closed,
                ])
        }

        static let requests: [WireCase] = [
            .passed(
                "fields named by Connection go no further", "9110 §7.6.1",
                ask("GET", "/", "X-A: 1\r\nConnection: x-a, X-B\r\nX-B: 2\r\nX-C: 3\r\n"),
                as: asked("GET", "/", "X-C: 3\r\n")),
            .passed(
                "fields named by several Connections go no further", "9110 §7.6.1",
                ask("GET", "/", "X-A: 1\r\nConnection: x-a\r\nX-B: 2\r\nX-C: 3\r\nConnection: ,X-B,\r\n"),
                as: asked("GET", "/", "X-C: 3\r\n")),
            .passed(
                "every line of a named field goes", "9110 §7.6.1",
                ask("GET", "/", "X-A: 1\r\nConnection: X-A\r\nX-B: 2\r\nx-a: 3\r\n"),
                as: asked("GET", "/", "X-B: 2\r\n")),
            .passed(
                "hop-by-hop fields go, named or not", "9110 §7.6.1",
                ask(
                    "GET", "/",
                    "Keep-Alive: timeout=5\r\nTE: trailers\r\nTrailer: X-T\r\nProxy-Connection: keep-alive\r\n"),
                as: asked()),
            .passed(
                "what is for proxies goes no further", "contract §3.1",
                ask("GET", "/", "Proxy-Authorization: Basic Zm9v\r\nProxy: http://evil\r\nProxy-Authenticate: x\r\n"),
                as: asked()),
            .passed(
                "Connection cannot take Host away", "9110 §7.6.1", ask("GET", "/", "Connection: Host\r\n"), as: asked()),
            .passed(
                "Connection cannot take the length of a body away", "9110 §7.6.1",
                ask("POST", "/", "Connection: Content-Length\r\nContent-Length: 3\r\n") + "abc", as: sized(3, "abc")),
            .passed(
                "Connection cannot take the coding of a body away", "9110 §7.6.1",
                ask("POST", "/", "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n")
                    + "1\r\na\r\n0\r\n\r\n",
                as: chunksSeen(body: "1\r\na\r\n0\r\n\r\n")),
            .passed(
                "Connection cannot take what others wrote into Via away", "9110 §7.6.3",
                ask("GET", "/", "Connection: Via\r\nVia: 1.1 front\r\n"), as: asked("GET", "/", "Via: 1.1 front\r\n")),
            .passed(
                "Connection cannot take a right away", "9110 §7.6.1",
                ask(
                    "GET", "/",
                    "Connection: Authorization, Cache-Control\r\nAuthorization: x\r\nCache-Control: no-store\r\n"),
                as: asked("GET", "/", "Authorization: x\r\nCache-Control: no-store\r\n")),
            .passed(
                "Connection can name fields that are not there", "9110 §7.6.1",
                ask("GET", "/", "Connection: X-None, keep-alive\r\nX-A: 1\r\n"), as: asked("GET", "/", "X-A: 1\r\n")),
            .passed(
                "what is no name in Connection names nothing", "9110 §7.6.1",
                ask("GET", "/", "Connection: X A, \"X-A\", @\r\nX-A: 1\r\n"), as: asked("GET", "/", "X-A: 1\r\n")),
            .passed(
                "keep-alive is the rule on HTTP/1.1", "9112 §9.3", ask("GET", "/", "Connection: Keep-Alive\r\n"),
                as: asked()),
            .passed(
                "Proxy-Connection: close says nothing", "9110 §7.6.1", ask("GET", "/", "Proxy-Connection: close\r\n"),
                as: asked()),
            closes("close ends the connection", "9112 §9.6", ask("GET", "/", "Connection: close\r\n"), asked()),
            closes("close in capitals", "9112 §9.6", ask("GET", "/", "Connection: CLOSE\r\n"), asked()),
            closes(
                "close among others", "9112 §9.6", ask("GET", "/", "Connection: X-A , close\r\nX-A: 1\r\n"), asked()),
            closes(
                "close wins over keep-alive", "9112 §9.3", ask("GET", "/", "Connection: keep-alive, close\r\n"), asked()
            ),
            closes(
                "close in a second line", "9112 §9.6",
                ask("GET", "/", "Connection: keep-alive\r\nConnection: close\r\n"), asked()),
            closes("a connection of HTTP/1.0 ends", "9112 §9.3", old(""), oldSeen),
            closes("a connection of HTTP/1.0 ends when it says so", "9112 §9.3", old("Connection: close\r\n"), oldSeen),
            closes(
                "Proxy-Connection keeps no connection of HTTP/1.0", "9110 §7.6.1",
                old("Proxy-Connection: keep-alive\r\n"), oldSeen),
            WireCase(
                "a connection of HTTP/1.0 may be kept", "9112 §9.3",
                [
                    .client(old("Connection: keep-alive\r\n")), .seen(oldSeen), .origin(ok("mine")),
                    .answer(answer("Connection: keep-alive\r\n")),
                ]),
            WireCase(
                "what HTTP/1.0 keeps is answered without chunks, and so ends", "9112 §7",
                [
                    .client(old("Connection: keep-alive\r\n")), .seen(oldSeen), .origin(coded("3\r\nabc\r\n0\r\n\r\n")),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nConnection: close\r\n\r\nabc"), .closed,
                ]),
        ]

        static let responses: [WireCase] = [
            .answered(
                "fields that a response's Connection names go no further", "9110 §7.6.1",
                ok("mine", "Connection: X-A\r\nX-A: 1\r\nX-B: 2\r\n"), as: okSeen("mine", "X-B: 2\r\n")),
            .answered(
                "hop-by-hop fields of a response go no further", "9110 §7.6.1",
                ok("mine", "Keep-Alive: timeout=5\r\nProxy-Connection: close\r\nTrailer: X\r\nTE: x\r\nX-B: 2\r\n"),
                as: okSeen("mine", "X-B: 2\r\n")),
            .answered(
                "what an origin asks of proxies is not asked of the client", "9110 §11.7.1",
                ok("mine", "Proxy-Authenticate: Basic realm=evil\r\nProxy-Authentication-Info: x\r\n"),
                as: okSeen("mine")),
            .answered(
                "an origin that closes does not close the client's connection", "9112 §9.6",
                ok("mine", "Connection: close\r\n"), as: okSeen("mine")),
            .answered(
                "Connection cannot take the length of a response away", "9110 §7.6.1",
                ok("mine", "Connection: Content-Length, Content-Type\r\nContent-Type: x/y\r\n"),
                as: okSeen("mine", "Content-Type: x/y\r\n")),
            WireCase(
                "an origin that says close is not asked again on its connection", "9112 §9.6",
                [
                    .client(ask()), .seen(asked()), .origin(ok("mine", "Connection: close\r\n")),
                    .answer(okSeen("mine")),
                    .originAbandoned,
                ]),
            WireCase(
                "an origin that keeps its connection for no time is not asked again on it", "2068 §19.7.1.1",
                connections: 2,
                [
                    .client(ask()), .seen(asked()), .origin(ok("mine", "Keep-Alive: timeout=0\r\n")),
                    .answer(okSeen("mine")), .client(ask("GET", "/2")), .originAbandoned, .seen(asked("GET", "/2")),
                    .origin(ok("two")), .answer(okSeen("two")),
                ]),
            WireCase(
                "an origin of HTTP/1.0 is not asked again on its connection", "9112 §9.3",
                [
                    .client(ask()), .seen(asked()), .origin("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nmine"),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.0 pintle\r\nContent-Length: 4\r\n\r\nmine"), .originAbandoned,
                ]),
            WireCase(
                "an origin of HTTP/1.0 that keeps its connection is asked again, in the highest version (9110 §2.5)",
                "9112 §9.3",
                connections: 1,
                [
                    .client(ask()), .seen(asked()),
                    .origin("HTTP/1.0 200 OK\r\nContent-Length: 4\r\nConnection: keep-alive\r\n\r\nmine"),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.0 pintle\r\nContent-Length: 4\r\n\r\nmine"),
                    .client(ask("GET", "/2")), .seen(asked("GET", "/2")),
                    .origin(ok("two")), .answer(okSeen("two")),
                ]),
        ]

        @Test(arguments: Self.requests + Self.responses) func connection(_ test: WireCase) throws { try test.play() }
    }
}
