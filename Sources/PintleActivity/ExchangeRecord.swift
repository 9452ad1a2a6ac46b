// SPDX-License-Identifier: Apache-2.0

/// What happened in one exchange or tunnel: the line that the exchange log writes for it.
///
/// Fields are in the order of the line; those that are nil, and empty lists, are left out. The record
/// holds the plain truth; secrets are taken out where it is encoded.
public struct ExchangeRecord: Hashable, Sendable {
    /// When the exchange began.
    public var time: Timestamp
    /// The exchange's id, as in problems and the admin endpoints.
    public var id: String
    /// The client's address and port.
    public var client: String?
    /// The user of `clients.basic_auth` that the client has proved to be.
    public var user: String?
    /// How the proxy was used: forward, gateway, tunnel, verify, intercept.
    public var mode: String?
    /// The request's method.
    public var method: String?
    /// The request's target as a URL; `host:port` for a tunnel.
    public var url: String?
    /// The destination's name and port.
    public var host: String?
    /// The address that was dialled.
    public var address: String?
    /// The route that matched.
    public var route: String?
    /// The rule that decided.
    public var rule: String?
    /// What it decided.
    public var decision: String?
    /// The trust policy in force.
    public var trust: String?
    /// The pin that matched; where none did, that of the leaf's key, and `violations` has a `pin-mismatch`.
    public var pin: String?
    /// Rules of form that the origin's chain breaks, each once.
    public var form: [String] = []
    /// Where no pin matched, the pins of all keys of the chain, leaf first.
    public var chain: [String] = []
    /// How far the destination was verified: probed, observed.
    public var assurance: String?
    /// The status sent to the client.
    public var status: Int?
    /// The status received from upstream.
    public var upstreamStatus: Int?
    /// Body bytes received from the client.
    public var bytesIn: Int?
    /// Body bytes sent to the client.
    public var bytesOut: Int?
    /// From the first byte of the request to the end. Written in whole milliseconds, as are the others.
    public var duration: Duration?
    /// Until the connection stood.
    public var connect: Duration?
    /// Until the TLS handshake was done.
    public var tlsHandshake: Duration?
    /// Until the first byte of the answer.
    public var firstByte: Duration?
    /// The TLS version upstream.
    public var tls: String?
    /// The HTTP version upstream.
    public var http: String?
    /// Whether the upstream connection had been used before.
    public var reused: Bool?
    /// The number of times that the request was sent again.
    public var retries: Int?
    /// How the response broke its contract.
    public var violations: [ViolationKind] = []
    /// Why there was no proper answer.
    public var error: String?

    /// Begins a record; what else is known is set on it.
    public init(time: Timestamp, id: String) {
        self.time = time
        self.id = id
    }
}
