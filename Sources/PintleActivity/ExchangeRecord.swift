// SPDX-License-Identifier: Apache-2.0

/// The facts about one exchange or tunnel, which the exchange log writes as one line.
///
/// Fields are in the order of the line; those that are nil, and empty lists, are left out. The record has secrets in plain
/// text; the encoder removes them.
package struct ExchangeRecord: Hashable, Sendable {
    /// The part that gave the response.
    package enum Source: String, Sendable, CaseIterable {
        /// An origin, for this exchange.
        case origin
        /// The cache, or the answer to an equal request.
        case cache
        /// A recording of an earlier answer.
        case recording
        /// A mock of the route.
        case mock
        /// A fault of the route, alone or by a change to the answer of another source.
        case fault
        /// Pintle itself: a refusal, a problem or a placeholder.
        case pintle
    }

    /// A process of this machine.
    package struct Process: Hashable, Sendable {
        /// The name as ps(1) shows it, of at most 15 bytes; controls and bytes that are not UTF-8 are escaped. The process has
        /// chosen it.
        package let name: String
        package let number: Int32

        package init(name: String, number: Int32) { (self.name, self.number) = (name, number) }
    }

    /// The time at which the exchange began.
    package var time: Timestamp
    /// The exchange's id, which problem responses and the admin endpoints use too.
    package var id: String
    /// The client's address and port.
    package var client: String?
    /// The user of `clients.basic_auth` that the client has proved to be.
    package var user: String?
    /// The word by which the client marks its exchanges: behind `+` in its proxy user name, or the whole name without users.
    package var tag: String?
    /// The process of a client on this machine; nil if it is not known. The log has its name and its number as two fields.
    package var process: Process?
    /// The mode in which the proxy was used: forward, gateway, tunnel, verify, intercept.
    package var mode: String?
    /// True for the second record of a tunnel that was opened to be intercepted and could not be. Not in the log.
    package var continuesTunnel = false
    /// True if the client has not asked the proxy: its connection was captured.
    package var isCaptured = false
    /// The request's method.
    package var method: String?
    /// The request's target as a URL; `host:port` for a tunnel.
    package var url: String?
    /// The destination's name and port.
    package var host: String?
    /// The address to which the proxy connected.
    package var address: String?
    /// The route that matched.
    package var route: String?
    /// The rule that made the decision.
    package var rule: String?
    /// The decision of the policy: `allow`, `would-deny`, `deny`, `reject` or `error`.
    package var decision: String?
    /// True if the policy let the exchange pass, even if only because a rule reports without denying.
    package var hasPassed: Bool { self.decision == "allow" || self.decision == "would-deny" }
    /// The revision of the configuration that the exchange was treated by; nil if the exchange has not ended.
    package var revision: String?
    /// The name of the trust policy that applied.
    package var trust: String?
    /// The pin that matched; if none did, the pin of the leaf's key, and `violations` has a `pin-mismatch`.
    package var pin: String?
    /// The rules of form that the origin's chain breaks, each once.
    package var form: [String] = []
    /// The pins of all keys of the chain, leaf first, if no pin matched.
    package var chain: [String] = []
    /// The way in which the destination was verified: probed, observed.
    package var assurance: String?
    /// The status sent to the client.
    package var status: Int?
    /// The status received from upstream.
    package var upstreamStatus: Int?
    /// Body bytes received from the client.
    package var bytesIn: Int?
    /// Body bytes sent to the client.
    package var bytesOut: Int?
    /// The time from the first byte of the request to the end. The log has this and the other times in whole milliseconds.
    package var duration: Duration?
    /// The time until the connection was established.
    package var connect: Duration?
    /// The time until the TLS handshake was complete.
    package var tlsHandshake: Duration?
    /// The time until the first byte of the response.
    package var firstByte: Duration?
    /// The TLS version of the upstream connection.
    package var tls: String?
    /// The HTTP version of the upstream connection.
    package var http: String?
    /// The HTTP version of the client's request; nil if it sent none. Not in the log.
    package var clientHTTP: String?
    /// True if the upstream connection had been used before.
    package var reused: Bool?
    /// The number of times that the request was sent again, or another connection was tried for it.
    package var retries: Int?
    /// The number of redirects that the proxy followed.
    package var redirects: Int?
    /// The part that the cache had in the response: `hit`, `miss` and others.
    package var cache: String?
    /// The part that gave the response; nil if there was none.
    package var source: Source?
    /// The names of the credentials that the request has got.
    package var credentials: [String] = []
    /// The ways in which the response broke its contract.
    package var violations: [ViolationKind] = []
    /// The reason why there was no proper response.
    package var error: String?
    /// True if a response broke off after its beginning, and the client is not the reason. Not in the log.
    package var isBrokenOff = false

    /// Creates a record whose other fields are set later.
    package init(time: Timestamp, id: String) {
        self.time = time
        self.id = id
    }
}
