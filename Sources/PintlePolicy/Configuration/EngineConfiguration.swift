// SPDX-License-Identifier: Apache-2.0

/// Engine threads and the connections to origins.
package struct EngineConfiguration: Sendable, Equatable {
    /// How many engine threads there are.
    package enum Threads: Sendable, Equatable {
        /// One per processor that the process may use.
        case auto
        /// 1…64.
        case exactly(Int)
    }

    /// Whether HTTP/2 is offered to origins.
    package enum HTTP2: String, Sendable, CaseIterable {
        /// Offered in the TLS handshake (ALPN).
        case auto
        /// HTTP/1.1 only.
        case off
    }

    /// Engine threads, each with client sockets and transfers on one event loop. Default `auto`.
    package var threads: Threads = .auto
    /// Connections to one host, per thread and trust policy. Default 64: above it requests wait for a free one.
    package var connectionsPerHost = 64
    /// Connections kept open, those in use included, per thread and trust policy; 0 keeps none. Default 256.
    package var idleConnections = 256
    /// How long an idle connection is kept. Default 55 s: under the 60 s after which many servers close theirs, so
    /// that a request seldom meets a connection that is just being closed.
    package var idleTimeout: Duration = .seconds(55)
    /// Default `auto`.
    package var http2: HTTP2 = .auto
    /// How long resolved addresses are used again; zero for never. Default 60 s.
    package var dnsCache: Duration = .seconds(60)

    package init() {}
}

/// The activity state machine and its log.
package struct ActivityConfiguration: Sendable, Equatable {
    /// How long activity must last before the state is `active`. Default 1 s, AFNetworking's.
    package var activationDelay: Duration = .seconds(1)
    /// How long the state stays `active` after the last exchange. Default 170 ms, AFNetworking's.
    package var completionDelay: Duration = .milliseconds(170)
    /// How often counters are logged while they change. Default 60 s.
    package var logInterval: Duration = .seconds(60)

    package init() {}
}
