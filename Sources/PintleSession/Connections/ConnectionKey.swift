// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The destination of a connection: connections with equal keys serve the same requests.
struct ConnectionKey: Hashable {
    let scheme: Scheme
    /// The authority of the origin, or of the proxy that forwards.
    let authority: Authority
    /// The proxy on the route; nil for none.
    let proxy: ProxyLink?
    /// The mark of the packets; nil for the session's default.
    let serviceType: ServiceType?
    /// The network interface of the connection; nil for the session's default.
    let interface: String?
    /// The rights for which the address was judged.
    let rights: ClientRights
}

extension TransferRequest {
    /// Returns the key of the connections that carry the request through `proxy`.
    @inline(__always)  // A call would copy the request.
    func connectionKey(by proxy: ProxyLink?) -> ConnectionKey {
        ConnectionKey(
            scheme: self.scheme, authority: self.forwarder(proxy)?.authority ?? self.authority,
            proxy: proxy, serviceType: self.serviceType, interface: self.interface, rights: self.rights)
    }

    /// Returns the proxy that gets the request itself, in absolute form (RFC 9112 §3.2.2); nil if it goes to its origin,
    /// perhaps through a tunnel.
    @inline(__always)  // As above.
    func forwarder(_ proxy: ProxyLink?) -> ProxyServer? {
        guard let server = proxy?.server, server.forwards, self.scheme == .http, !self.wantsConnection else {
            return nil
        }
        return server
    }
}

/// Proxies are compared by identity.
extension ProxyLink: Hashable {
    package static func == (left: ProxyLink, right: ProxyLink) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Transfers that wait are compared by identity.
extension Transfer: Hashable {
    package static func == (left: Transfer, right: Transfer) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
