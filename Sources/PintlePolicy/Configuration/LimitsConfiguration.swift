// SPDX-License-Identifier: Apache-2.0

/// Limits for one client, one message and the whole process: every quantity is bounded.
package struct LimitsConfiguration: Sendable, Equatable {
    /// Bytes of a header section. Default 64 KiB: room for large cookies, and as much as common servers allow.
    package var headerBytes = 64 << 10
    /// Bytes of one line of a header section, or of the request line. Default 16 KiB; at most `headerBytes`.
    package var headerLine = 16 << 10
    /// Field lines in a section. Default 256.
    package var headerCount = 256
    /// Bytes of a body that is held because a route's rules need it whole. Default 8 MiB.
    package var bodyBuffer = 8 << 20
    /// Client connections at a time. Default 4096.
    package var connections = 4096
    /// Connections of one client address at a time. Default 1024.
    package var connectionsPerClient = 1024
    /// CONNECT tunnels at a time. Default 1024.
    package var tunnels = 1024
    /// Bytes held for clients and origins, in all: bodies that are kept back, their decoded and parsed forms, and data that
    /// peers have not taken yet. Default 512 MiB.
    package var heldBytes = 512 << 20
    /// CONNECT tunnels of one client address at a time. Default 256, a quarter of all.
    package var tunnelsPerClient = 256
    /// Time from the first byte of a request to the end of its header section, and from the opening of a CONNECT tunnel to its
    /// first bytes. Default 20 s: a slow sender occupies a connection.
    package var headerTimeout: Duration = .seconds(20)
    /// Time between requests on a kept-alive connection. Default 60 s.
    package var idleTimeout: Duration = .seconds(60)
    /// Time without progress of a body. Default 900 s.
    package var bodyTimeout: Duration = .seconds(900)
    /// Time without a byte in a tunnel. Default 1 h: long polls and quiet WebSockets live in tunnels.
    package var tunnelIdleTimeout: Duration = .seconds(3600)
    /// Time from the first signal to stop until the exchanges that still run are cancelled. Default 30 s.
    package var drainTimeout: Duration = .seconds(30)

    package init() {}
}
