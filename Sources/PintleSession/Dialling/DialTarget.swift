// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// The destination of a dial, and the route to it.
struct DialTarget {
    /// The origin that the connection is for.
    var authority: Authority
    /// The proxy on the route.
    var proxy: ProxyLink?
    /// The client for which names are looked up; its lookups are limited.
    var client: TransferClient?
    /// The client's rights to addresses.
    var rights = ClientRights.none
    /// The mark of the packets; nil for the session's default.
    var serviceType: ServiceType?
    /// The network interface to use; if nil, the routing table decides.
    var interface: String?
    /// The longest time for resolving and connecting together.
    var timeLimit: TimeAmount
    /// The longest time for resolving alone; nil for `timeLimit`.
    var lookupLimit: TimeAmount?
    /// The time that is left of it for this dial is `timeLimit`; nil if that is all of it.
    var wholeLimit: TimeAmount?

    /// The SOCKS proxy that makes the connection to the origin.
    var socks: ProxyLink? { self.proxy.flatMap { $0.server.scheme == .socks5 ? $0 : nil } }

    /// The end of the connection as libcurl sees it: the origin, or an HTTP proxy.
    var end: Authority { self.socks == nil ? self.dialled : self.authority }

    /// The host whose name is looked up and dialled: the proxy, or else the origin.
    var dialled: Authority { self.proxy?.server.authority ?? self.authority }

    /// The time limit that errors name.
    var namedLimit: TimeAmount { self.wholeLimit ?? self.timeLimit }

    /// The time limit for resolving that errors name.
    var namedLookupLimit: TimeAmount { min(self.lookupLimit ?? self.namedLimit, self.namedLimit) }

    /// The host that is dialled, in a sentence.
    var dialledHost: String {
        self.proxy.map { "the proxy \($0.server.authority.host)" } ?? "the host \(self.authority.host)"
    }

    /// Returns the reason why an address may not be dialled; nil if it may.
    func refusal(of address: SocketAddress, by judge: any AddressJudge) -> AddressRefusal? {
        if self.proxy != nil {
            return judge.refusal(diallingProxy: address, asked: self.authority).map { AddressRefusal($0) }
        }
        guard let judge = judge as? any ClientAddressJudge else {
            return judge.refusal(dialling: address, asked: self.authority).map { AddressRefusal($0) }
        }
        return judge.refusal(dialling: address, asked: self.authority, by: self.rights)
    }
}
