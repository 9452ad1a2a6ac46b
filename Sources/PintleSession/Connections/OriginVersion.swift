// SPDX-License-Identifier: Apache-2.0

/// The version of HTTP on a connection.
enum ConnectionVersion {
    /// One request after another.
    case http1
    /// A stream for each request.
    case http2
}

/// The version of HTTP on the connections to a host.
enum OriginVersion: Equatable {
    /// The next handshake tells it.
    case unknown
    /// The host has chosen it, or it is the only one that is offered.
    case known(ConnectionVersion)
    /// HTTP/2 without negotiation, in plaintext too (RFC 9113 §3.3).
    case priorKnowledge
}
