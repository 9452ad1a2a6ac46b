// SPDX-License-Identifier: Apache-2.0

import Testing

/// One conversation over raw sockets between a client, the proxy and an origin, which proves one rule.
struct WireCase: Sendable, CustomTestStringConvertible {
    /// An action of one side, or an observation at one side that must be made before the case continues.
    enum Step: Sendable {
        /// The client sends.
        case client(WireBytes)
        /// The client sends bytes, and may find its connection closed.
        case clientTries(WireBytes)
        /// The client announces that it will send no more.
        case clientFinishes
        /// The client closes its connection, which may mean that it only waits for its answer.
        case clientLeaves
        /// The client resets its connection: it does not wait for an answer.
        case clientResets
        /// Another client takes over.
        case newClient
        /// The client gets exactly this next.
        case answer(WireBytes)
        /// The client gets a problem of the proxy's, with `Connection: close`, and nothing after it.
        case refusal(Int, String)
        /// The client gets a problem of the proxy's, and its connection stays open.
        case problem(Int, String)
        /// The connection of the client ends, and the bytes for its last request are no whole response.
        case cut
        /// The connection of the client ends in order, with nothing more before the end.
        case closed
        /// The origin gets exactly this next; the following steps use the same connection of the origin.
        case seen(WireBytes)
        /// The origin sends.
        case origin(WireBytes)
        /// The origin sends bytes, and may find its connection closed.
        case originTries(WireBytes)
        /// The origin closes its connection.
        case originCloses
        /// The origin announces that it will send no more, and continues to read.
        case originFinishes
        /// The origin resets its connection.
        case originResets
        /// The proxy ends the connection to the origin, after sending nothing more on it.
        case originAbandoned
    }

    /// The fact that the case proves, and its rule.
    let testDescription: String
    let steps: [Step]
    /// The number of connections that the origin must have seen, before the final check of the case; nil if it does not
    /// matter.
    var connections: Int?
    /// The reason why the case holds only on a new connection; nil if it also holds on a used one.
    var newOnly: String?

    /// The reason why the case holds only for the program; nil if it also holds for a session's tasks.
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

    // MARK: Common cases

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

    /// A response that reaches the client as exactly these bytes, after which its connection stays open.
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

    /// The reason why a reset after the beginning of an answer does not cut the answer on a connection that was used
    /// before.
    static let overtaken =
        "a reset takes away what was not read yet, and a request without any answer is sent once more"
}

// MARK: Bytes that many cases have

/// A request for the origin's root, and more lines for its head.
func ask(_ method: String = "GET", _ path: String = "/", _ fields: String = "") -> WireBytes {
    "\(method) http://$\(path) HTTP/1.1\r\nHost: $\r\n\(fields)\r\n"
}

/// Returns the request of ``ask(_:_:_:)`` as the origin gets it.
func asked(_ method: String = "GET", _ path: String = "/", _ fields: String = "") -> WireBytes {
    "\(method) \(path) HTTP/1.1\r\nHost: $\r\n\(fields)Via: 1.1 pintle\r\n\r\n"
}

/// A request with a body.
func post(_ fields: String, _ body: String = "") -> WireBytes { ask("POST", "/", fields) + WireBytes(body) }

/// A request with a body in chunks.
func chunks(_ body: String) -> WireBytes { post("Transfer-Encoding: chunked\r\n", body) }

/// Returns a chunked body as the origin gets it, with the proxy's own chunks.
func chunksSeen(method: String = "POST", _ fields: String = "", body: String) -> WireBytes {
    "\(method) / HTTP/1.1\r\nHost: $\r\nTransfer-Encoding: chunked\r\n\(fields)Via: 1.1 pintle\r\n\r\n\(body)"
}

/// Returns a body with a length, or its beginning, as the origin gets it.
func sized(_ length: Int, _ body: String, _ method: String = "POST", _ path: String = "/", fields: String = "")
    -> WireBytes
{
    "\(method) \(path) HTTP/1.1\r\nHost: $\r\n\(fields)Via: 1.1 pintle\r\nContent-Length: \(length)\r\n\r\n\(body)"
}

/// A whole response of the origin's.
func ok(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
}

/// Returns the answer of ``ok(_:_:)`` as the client gets it.
func okSeen(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\n\(fields)Via: 1.1 pintle\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

/// A response in chunks; `body` is written as it is.
func coded(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n\(body)"
}

/// Returns the answer of ``coded(_:_:)`` as the client gets it.
func codedSeen(_ body: String, _ fields: String = "") -> WireBytes {
    "HTTP/1.1 200 OK\r\n\(fields)Via: 1.1 pintle\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
}
