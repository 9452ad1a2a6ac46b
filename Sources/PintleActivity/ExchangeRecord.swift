// SPDX-License-Identifier: Apache-2.0

/// What happened in one exchange or tunnel: the line that the exchange log writes for it.
///
/// Fields are in the order of the line; those that are nil, and empty lists, are left out. The record
/// holds the plain truth; secrets are taken out where it is encoded.
package struct ExchangeRecord: Hashable, Sendable {
    /// When the exchange began.
    package var time: Timestamp
    /// The exchange's id, as in problems and the admin endpoints.
    package var id: String
    /// The client's address and port.
    package var client: String?
    /// The user of `clients.basic_auth` that the client has proved to be.
    package var user: String?
    /// How the proxy was used: forward, gateway, tunnel, verify, intercept.
    package var mode: String?
    /// True for the second record of a tunnel, which was opened to be intercepted and cannot be. Not in the log.
    package var continuesTunnel = false
    /// The request's method.
    package var method: String?
    /// The request's target as a URL; `host:port` for a tunnel.
    package var url: String?
    /// The destination's name and port.
    package var host: String?
    /// The address that was dialled.
    package var address: String?
    /// The route that matched.
    package var route: String?
    /// The rule that decided.
    package var rule: String?
    /// The decision of the policy: `allow`, `would-deny`, `deny`, `reject` or `error`.
    package var decision: String?
    /// True where the policy let the exchange pass, be it because a rule only reports.
    package var hasPassed: Bool { self.decision == "allow" || self.decision == "would-deny" }
    /// The trust policy in force.
    package var trust: String?
    /// The pin that matched; where none did, that of the leaf's key, and `violations` has a `pin-mismatch`.
    package var pin: String?
    /// Rules of form that the origin's chain breaks, each once.
    package var form: [String] = []
    /// Where no pin matched, the pins of all keys of the chain, leaf first.
    package var chain: [String] = []
    /// How far the destination was verified: probed, observed.
    package var assurance: String?
    /// The status sent to the client.
    package var status: Int?
    /// The status received from upstream.
    package var upstreamStatus: Int?
    /// Body bytes received from the client.
    package var bytesIn: Int?
    /// Body bytes sent to the client.
    package var bytesOut: Int?
    /// From the first byte of the request to the end. Written in whole milliseconds, as are the others.
    package var duration: Duration?
    /// Until the connection stood.
    package var connect: Duration?
    /// Until the TLS handshake was done.
    package var tlsHandshake: Duration?
    /// Until the first byte of the answer.
    package var firstByte: Duration?
    /// The TLS version upstream.
    package var tls: String?
    /// The HTTP version upstream.
    package var http: String?
    /// Whether the upstream connection had been used before.
    package var reused: Bool?
    /// The number of times that the request was sent again, or another connection was tried for it.
    package var retries: Int?
    /// The number of redirects that were followed.
    package var redirects: Int?
    /// The fate of the request where answers are kept: `hit`, `miss` and others.
    package var cache: String?
    /// How the response broke its contract.
    package var violations: [ViolationKind] = []
    /// Why there was no proper answer.
    package var error: String?

    /// Begins a record; what else is known is set on it.
    package init(time: Timestamp, id: String) {
        self.time = time
        self.id = id
    }
}
