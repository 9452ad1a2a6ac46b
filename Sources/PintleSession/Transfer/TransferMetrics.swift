// SPDX-License-Identifier: Apache-2.0

/// The measurements of a transfer. Times count from its start; nil if a phase did not happen.
public struct TransferMetrics: Sendable, Equatable {
    /// The time at which the name was resolved.
    public var nameLookup: Duration?
    /// The time at which the connection was established.
    public var connect: Duration?
    /// The time at which the TLS handshake was finished.
    public var tls: Duration?
    /// The time at which the first byte of the response arrived.
    public var firstByte: Duration?
    /// The time at which the transfer ended; zero before.
    public var total = Duration.zero
    /// True if a connection of an earlier transfer was used.
    public var reusedConnection = false
    /// The peer's address; empty if no connection was made.
    public var address = ""
    /// The number of times that the request was sent again, or that another connection was tried for it.
    public var retries = 0
    /// The version of HTTP: `1.0`, `1.1` or `2`.
    public var httpVersion = ""
    /// The version of TLS, such as `TLSv1.3`; empty without TLS.
    public var tlsVersion = ""

    /// Makes the metrics of a transfer that has not begun.
    public init() {}
}
