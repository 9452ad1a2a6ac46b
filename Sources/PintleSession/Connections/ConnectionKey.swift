// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// The destination of a connection: connections with equal keys serve the same requests.
struct ConnectionKey: Hashable {
    let scheme: Scheme
    /// The authority of the origin, or of the proxy that forwards.
    let authority: Authority
    /// The proxy on the route; nil for none. The ``OriginHost`` holds the proxy, so that the identifier stays unique.
    let proxy: ObjectIdentifier?
    /// The mark of the packets; nil for the session's default.
    let serviceType: ServiceType?
    /// The network interface of the connection; nil for the session's default.
    let interface: String?
}

extension TransferRequest {
    /// Returns the key of the connections that carry the request through `proxy`.
    func connectionKey(by proxy: ProxyLink?) -> ConnectionKey {
        ConnectionKey(
            scheme: self.scheme, authority: self.forwarder(proxy)?.authority ?? self.authority,
            proxy: proxy.map { ObjectIdentifier($0) }, serviceType: self.serviceType, interface: self.interface)
    }

    /// Returns the proxy that gets the request itself, in absolute form (RFC 9112 §3.2.2); nil if it goes to its origin,
    /// perhaps through a tunnel.
    @inline(__always)  // A call would copy the request.
    func forwarder(_ proxy: ProxyLink?) -> ProxyServer? {
        guard let server = proxy?.server, server.forwards, self.scheme == .http, !self.wantsConnection else {
            return nil
        }
        return server
    }
}

/// The connections of one key, and the transfers that wait for one. Used only on its pool's loop.
final class OriginHost {
    let key: ConnectionKey
    /// The proxy of the key.
    let proxy: ProxyLink?
    /// Distributes the connections among transfers; nil if their number is unlimited.
    var places: HostConnections<Transfer>?
    /// Idle connections of HTTP/1.1; the most recently used one is the last.
    var idle: [HTTP1Connection] = []
    /// Connections of HTTP/2 that accept more streams.
    var http2: [HTTP2Connection] = []
    /// True if the origin chose HTTP/2, false if it did not; nil while its choice is unknown.
    var speaksHTTP2: Bool?
    /// Transfers that wait for the connection that is being made, in case all of them get a stream on it.
    var joining: [Transfer] = []
    /// True while the connection for ``joining`` is being made.
    var isBeingJoined = false
    /// True if HTTP/2 is used without negotiation, in plaintext too.
    var knowsHTTP2 = false
    /// The number of open connections, including those in use.
    var connectionCount = 0
    /// The number of transfers that use the host, or wait for it.
    var users = 0

    init(_ key: ConnectionKey, by proxy: ProxyLink?, limit: Int) {
        self.key = key
        self.proxy = proxy
        self.places = limit > 0 ? HostConnections(limit: limit) : nil
    }

    /// Takes an idle connection that may carry a request of `owner`: one of the owner's, or one without an owner.
    func takeIdle(for owner: ConnectionOwner?) -> HTTP1Connection? {
        // The common case needs no search.
        if owner?.isBound != true, self.idle.last?.login.isBound == false { return self.idle.removeLast() }
        let own = owner.flatMap { owner in self.idle.lastIndex { $0.login.owner === owner } }
        return (own ?? self.idle.lastIndex { !$0.login.isBound }).map { self.idle.remove(at: $0) }
    }

    /// Returns a connection of HTTP/2 that accepts another stream. Connections with an expired verdict accept no more.
    func connectionOfHTTP2() -> HTTP2Connection? {
        guard !self.http2.isEmpty else { return nil }
        let now = UnixTime.now
        for connection in self.http2 where !connection.made.isTrusted(at: now) { connection.leave() }
        return self.http2.first { $0.hasRoom }
    }

    /// True if there are no connections and no transfers.
    var isUnused: Bool {
        self.connectionCount == 0 && self.users == 0
    }
}

/// Transfers that wait for a place are compared by identity.
extension Transfer: Equatable {
    package static func == (left: Transfer, right: Transfer) -> Bool { left === right }
}
