// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// How a session uses connections.
public struct SessionConfiguration: Sendable, Equatable {
    /// Whether HTTP/2 is offered to https origins.
    public var http2 = true
    /// The most connections to one host at a time, per engine thread. More transfers wait for one.
    public var connectionsPerHost = 64
    /// The most idle connections that are kept, per engine thread.
    public var idleConnections = 256
    /// How long an idle connection may be used again, in whole seconds; below the 60 s at which many servers close.
    public var idleTimeout = TimeAmount.seconds(55)
    /// How long a resolved name is kept.
    public var dnsCache = TimeAmount.seconds(60)

    /// Limits on the head of a response, its interim responses included, and on its trailers.
    public var responseHead = HeadLimits()

    /// Makes a configuration with the defaults.
    public init() {}
}
