// SPDX-License-Identifier: Apache-2.0

import Testing

/// One conversation over raw sockets between a client, the proxy and an origin, and what it proves.
struct WireCase: Sendable, CustomTestStringConvertible {
    /// What one side does, or what must be seen at one side before the case goes on.
    enum Step: Sendable {
        /// The client sends.
        case client(WireBytes)
        /// The client sends what may find its connection closed.
        case clientTries(WireBytes)
        /// The client says that it will send nothing more.
        case clientFinishes
        /// The client closes its connection, which may mean that it only waits for its answer.
        case clientLeaves
        /// The client breaks its connection: nobody waits for an answer.
        case clientResets
        /// Another client goes on.
        case newClient
        /// The client gets exactly this next.
        case answer(WireBytes)
        /// The client gets a problem of the proxy's, with `Connection: close`, and nothing behind it.
        case refusal(Int, String)
        /// The client gets a problem of the proxy's, and its connection goes on.
        case problem(Int, String)
        /// The connection of the client ends, and what it got for its last request is not a whole response.
        case cut
        /// The connection of the client ends in order, with nothing more in front of it.
        case closed
        /// The origin gets exactly this next; its connection is the one that speaks from here on.
        case seen(WireBytes)
        /// The origin sends.
        case origin(WireBytes)
        /// The origin sends what may find its connection closed.
        case originTries(WireBytes)
        /// The origin closes its connection.
        case originCloses
        /// The origin says that it will send nothing more, and goes on reading.
        case originFinishes
        /// The origin breaks its connection.
        case originResets
        /// The connection to the origin is ended by the proxy, and nothing was sent on it in the meantime.
        case originAbandoned
    }

    /// What it proves, and by which rule.
    let testDescription: String
    let steps: [Step]
    /// How many connections the origin must have seen, before it is asked whether all is well; nil where that is not
    /// what the case is about.
    var connections: Int?
    /// Why it holds on a connection that is new only; nil where it holds on one that was used before, too.
    var newOnly: String?

    /// Why it holds for the program only; nil where it holds for a session's tasks, too.
    var programOnly: String?

    /// - Parameter rule: a section of RFC 9110 or RFC 9112, or the contract.
    init(
        _ what: String, _ rule: String, connections: Int? = nil, newOnly: String? = nil, programOnly: String? = nil,
        _ steps: [Step]
    ) {
        self.testDescription = "\(what) (\(rule))"
        self.steps = steps
        self.connections = connections
        self.newOnly = newOnly
        self.programOnly = programOnly
    }

    /// Two requests of other clients over one connection, after which a third client comes.
    static let use: [Step] = ["/first", "/second"].flatMap { path -> [Step] in
        [
            .client(ask("GET", path)), .seen(asked("GET", path)), .origin(ok(path)), .answer(okSeen(path)), .newClient,
        ]
    }

    // MARK: What most cases are

    /// Bytes that are refused by the proxy: nothing is forwarded, and the connection closes.
    static func refused(
        _ what: String, _ rule: String, _ bytes: WireBytes, _ status: Int = 400, _ problem: String = "bad-request"
    ) -> WireCase {
        WireCase(what, rule, connections: 0, [.client(bytes), .refusal(status, problem)])
    }

    /// A request that reaches the origin as exactly these bytes, and is answered.
    static func passed(_ what: String, _ rule: String, _ bytes: WireBytes, as seen: WireBytes) -> WireCase {
        WireCase(
            what, rule, connections: 1, [.client(bytes), .seen(seen), .origin(ok("mine")), .answer(okSeen("mine"))])
    }

    /// A response that reaches the client as exactly these bytes, after which its connection goes on.
    static func answered(
        _ what: String, _ rule: String, to method: String = "GET", _ bytes: WireBytes, as seen: WireBytes
    ) -> WireCase {
        WireCase(what, rule, [.client(ask(method)), .seen(asked(method)), .origin(bytes), .answer(seen)])
    }

    /// A response, ended by the end of the origin's connection, that reaches the client as exactly these bytes.
    static func ended(_ what: String, _ rule: String, _ bytes: WireBytes, as seen: WireBytes) -> WireCase {
        WireCase(what, rule, [.client(ask()), .seen(asked()), .origin(bytes), .originCloses, .answer(seen)])
    }

    /// A response of which the client sees nothing but that it was not HTTP.
    static func spoilt(_ what: String, _ rule: String, _ bytes: WireBytes) -> WireCase {
        WireCase(what, rule, [.client(ask()), .seen(asked()), .origin(bytes), .problem(502, "upstream-protocol")])
    }

    /// A response that has begun, and is not complete for the client.
    static func cut(_ what: String, _ rule: String, _ bytes: WireBytes, _ end: Step? = nil) -> WireCase {
        let isReset = if case .originResets = end { true } else { false }
        return WireCase(
            what, rule, newOnly: isReset ? Self.overtaken : nil,
            [.client(ask()), .seen(asked()), .origin(bytes)] + (end.map { [$0] } ?? []) + [.cut])
    }

    /// Why a reset behind the beginning of an answer is none for a connection that was used before.
    static let overtaken =
        "a reset takes away what was not read yet, and a request without any answer is sent once more"
}

// MARK: Bytes that many cases have

/// A request for the origin's root, and more lines for its head.
func ask(_ method: String = "GET", _ path: String = "/", _ fields: String = "") -> WireBytes {
    "\(method) http://$\(path) HTTP/1.1\r\nHost: $\r\n\(fields)\r\n"
}

/// The same as the origin gets it.
func asked(_ method: String = "GET", _ path: String = "/", _ fields: String = "") -> WireBytes {
    "\(method) \(path) HTTP/1.1\r\nHost: $\r\n\(fields)Via: 1.1 pintle\r\n\r\n"
}

/// A request with a body.
func post(_ fields: String, _ body: String = "") -> WireBytes { ask("POST", "/", fields) + WireBytes(body) }

/// A request with a body in chunks.
func chunks(_ body: String) -> WireBytes { post("Transfer-Encoding: chunked\r\n", body) }

/// What the origin gets of a body in chunks; they are made anew.
func chunksSeen(method: String = "POST", _ fields: String = "", body: String) -> WireBytes {
    "\(method) / HTTP/1.1\r\nHost: $\r\nTransfer-Encoding: chunked\r\n\(fields)Via: 1.1 pintle\r\n\r\n\(body)"
}

/// What the origin gets of a body with a length, or of its beginning.
func sized(_ length: Int, _ body: String, _ method: String = "POST", _ path: String = "/", fields: String = "")
    -> WireBytes
{
    "\(method) \(path) HTTP/1.1\r\nHost: $\r\n\(fields)Via: 1.1 pintle\r\nContent-Length: \(length)\r\n\r\n\(body)"
}

/// A whole response of the origin's.
func ok(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
}

/// The same as the client gets it.
func okSeen(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\n\(fields)Via: 1.1 pintle\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

/// A response in chunks; `body` is written as it is.
func coded(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n\(body)"
}

/// The same as the client gets it.
func codedSeen(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\n\(fields)Via: 1.1 pintle\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
}
