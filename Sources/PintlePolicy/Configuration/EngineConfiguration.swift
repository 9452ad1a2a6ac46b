// SPDX-License-Identifier: Apache-2.0

/// Engine threads and the connections to origins.
package struct EngineConfiguration: Sendable, Equatable {
    /// The number of engine threads.
    package enum Threads: Sendable, Equatable {
        /// One per processor that the process may use.
        case auto
        /// 1…64.
        case exactly(Int)
    }

    /// The use of HTTP/2 with origins.
    package enum HTTP2: String, Sendable, CaseIterable {
        /// Offered in the TLS handshake (ALPN).
        case auto
        /// HTTP/1.1 only.
        case off
    }

    /// Engine threads, each with client sockets and transfers on one event loop. Default `auto`.
    package var threads: Threads = .auto
    /// The most connections to one host, per thread and trust policy. Default 64: further requests wait for a free one.
    package var connectionsPerHost = 64
    /// The most connections kept open, including those in use, per thread and trust policy; 0 keeps none. Default 256.
    package var idleConnections = 256
    /// The time for which an idle connection is kept. Default 55 s: below the 60 s after which many servers close theirs, so
    /// that a request seldom meets a connection that is just being closed.
    package var idleTimeout: Duration = .seconds(55)
    /// The use of HTTP/2 with origins. Default `auto`.
    package var http2: HTTP2 = .auto
    /// The time for which resolved addresses are reused; zero for never. Default 60 s.
    package var dnsCache: Duration = .seconds(60)

    package init() {}
}

/// The activity state machine and its log.
package struct ActivityConfiguration: Sendable, Equatable {
    /// The time that activity must last before the state is `active`. Default 1 s, as in AFNetworking.
    package var activationDelay: Duration = .seconds(1)
    /// The time for which the state stays `active` after the last exchange. Default 170 ms, as in AFNetworking.
    package var completionDelay: Duration = .milliseconds(170)
    /// The time between two log lines of counters, while they change. Default 60 s.
    package var logInterval: Duration = .seconds(60)

    package init() {}
}
