// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// Names where a connection leads: connections of one key serve the same requests.
struct ConnectionKey: Hashable {
    let scheme: Scheme
    /// The origin's, or that of the proxy that forwards.
    let authority: Authority
    /// The proxy on the way; nil where there is none. The ``OriginHost`` keeps it, so that the identifier stays its own.
    let proxy: ObjectIdentifier?
    /// How packets are marked; nil for the session's way.
    let serviceType: ServiceType?
    /// The network interface that it leaves by; nil for the session's way.
    let interface: String?
}

extension TransferRequest {
    /// The key of the connections that carry the request by `proxy`.
    func connectionKey(by proxy: ProxyLink?) -> ConnectionKey {
        ConnectionKey(
            scheme: self.scheme, authority: self.forwarder(proxy)?.authority ?? self.authority,
            proxy: proxy.map { ObjectIdentifier($0) }, serviceType: self.serviceType, interface: self.interface)
    }

    /// The proxy that gets the request itself, in absolute form (RFC 9112 §3.2.2); nil where it goes to its origin, if
    /// through a tunnel.
    @inline(__always)  // To call it would copy the request.
    func forwarder(_ proxy: ProxyLink?) -> ProxyServer? {
        guard let server = proxy?.server, server.forwards, self.scheme == .http, !self.wantsConnection else {
            return nil
        }
        return server
    }
}

/// The connections of one key, and the transfers that wait for one. Used on its pool's loop.
final class OriginHost {
    let key: ConnectionKey
    /// The proxy of the key.
    let proxy: ProxyLink?
    /// Gives the connections to transfers; nil where their number has no limit.
    var places: HostConnections<Transfer>?
    /// Kept connections of HTTP/1.1; the last one was used last.
    var idle: [HTTP1Connection] = []
    /// Connections of HTTP/2 that take more streams.
    var http2: [HTTP2Connection] = []
    /// The origin's choice of HTTP/2, true or false; nil while it is not known.
    var speaksHTTP2: Bool?
    /// Transfers that wait for the connection that is being made, of which all may have a stream.
    var joining: [Transfer] = []
    /// True while the connection for ``joining`` is being made.
    var isBeingJoined = false
    /// True where HTTP/2 is spoken without asking, over clear text too.
    var knowsHTTP2 = false
    /// The number of open connections, those in use among them.
    var connectionCount = 0
    /// The number of transfers that have it, or wait for it.
    var users = 0

    init(_ key: ConnectionKey, by proxy: ProxyLink?, limit: Int) {
        self.key = key
        self.proxy = proxy
        self.places = limit > 0 ? HostConnections(limit: limit) : nil
    }

    /// Takes an idle connection that may carry a request of `owner`: one that is the owner's, or nobody's.
    func takeIdle(for owner: ConnectionOwner?) -> HTTP1Connection? {
        // The common case takes no search.
        if owner?.isBound != true, self.idle.last?.login.isBound == false { return self.idle.removeLast() }
        let own = owner.flatMap { owner in self.idle.lastIndex { $0.login.owner === owner } }
        return (own ?? self.idle.lastIndex { !$0.login.isBound }).map { self.idle.remove(at: $0) }
    }

    /// A connection of HTTP/2 that takes another stream. Those whose verdict has run out take no more.
    func connectionOfHTTP2() -> HTTP2Connection? {
        guard !self.http2.isEmpty else { return nil }
        let now = UnixTime.now
        for connection in self.http2 where !connection.made.isTrusted(at: now) { connection.leave() }
        return self.http2.first { $0.hasRoom }
    }

    /// True where nobody would miss it.
    var isUnused: Bool {
        self.connectionCount == 0 && self.users == 0
    }
}

/// Each waits for a place as itself.
extension Transfer: Equatable {
    package static func == (left: Transfer, right: Transfer) -> Bool { left === right }
}
