// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc

/// A network interface.
struct NetworkLink: Equatable, Sendable {
    let index: Int32
    let name: String
    /// The kind of hardware: ARPHRD_*, of linux/if_arp.h.
    let hardware: UInt16
    /// The flags: IFF_*, of net/if.h.
    let flags: UInt32
    /// The driver's DEVTYPE, such as `wlan`, `wwan` or `bridge`; nil if it has none.
    var deviceType: String?

    /// True if the link is switched on and has a carrier, as far as the driver knows.
    var works: Bool {
        let needed = UInt32(PINTLE_LINK_UP | PINTLE_LINK_RUNNING)
        return self.flags & needed == needed
    }

    var isLoopback: Bool { self.flags & UInt32(PINTLE_LINK_LOOPBACK) != 0 }

    /// True for a mobile link, or one that is dialled: PPP over a modem and over DSL cannot be told apart.
    var isWWAN: Bool {
        self.deviceType == "wwan" || [PINTLE_LINK_PPP, PINTLE_LINK_RAW_IP].contains(Int(self.hardware))
            || self.name.hasPrefix("wwan") || self.name.hasPrefix("ppp")
    }
}

/// The facts about an interface's address that matter here.
struct NetworkAddress: Equatable, Sendable {
    let link: Int32
    /// AF_INET or AF_INET6.
    let family: UInt8
    /// True if packets to other networks can have it as their source: it is not valid on its link only, is no longer being
    /// checked, and is not the address of another machine too.
    let isUsable: Bool
}

/// The facts about a route that matter here.
struct NetworkRoute: Equatable, Sendable {
    /// AF_INET or AF_INET6.
    let family: UInt8
    let prefixLength: UInt8
    /// True if the route delivers packets: it is not unreachable, prohibited, or a black hole.
    let carries: Bool
    /// True if its destinations are addresses of this machine.
    var isLocal = false
    /// The priority: the kernel uses the route with the smallest metric.
    var metric: UInt32 = 0
    /// The links over which packets leave; several if the route spreads them.
    var links: [Int32] = []

    /// True for a default route, and for one of the few that replace it: VPNs leave the default route as it is, and cover
    /// it with halves of IPv4's address space, and with eighths or sixteenths of IPv6's.
    var isDefault: Bool { self.prefixLength <= (self.family == UInt8(AF_INET) ? 1 : 4) }
}

/// The links, addresses and default routes of a machine at one moment.
struct NetworkState: Equatable, Sendable {
    var links: [Int32: NetworkLink] = [:]
    var addresses: [NetworkAddress] = []
    var defaultRoutes: [NetworkRoute] = []

    /// Adds the content of a dump's message.
    mutating func add(_ content: RouteMessage.Content) {
        switch content {
        case .link(let link): self.links[link.index] = link
        case .address(let address): self.addresses.append(address)
        case .route(let route): if route.isDefault, route.carries { self.defaultRoutes.append(route) }
        case .end, .failure, .other: break
        }
    }

    /// The reachability of other networks. They are reachable if a default route uses a link that works and has an address.
    /// If there are several, the one that the kernel prefers decides the kind of link.
    var status: ReachabilityStatus {
        let usable = self.defaultRoutes.flatMap { route in
            route.links.compactMap { self.links[$0] }
                .filter { $0.works && !$0.isLoopback && self.hasSource(for: route.family, on: $0) }
                .map { (link: $0, metric: route.metric) }
        }
        guard let best = usable.min(by: { $0.metric < $1.metric }) else { return .notReachable }
        return best.link.isWWAN ? .reachableViaWWAN : .reachableViaWiFi
    }

    /// Returns the status of a destination to which packets leave over this link.
    func status(over index: Int32) -> ReachabilityStatus {
        guard let link = self.links[index], link.works else { return .notReachable }
        return link.isWWAN ? .reachableViaWWAN : .reachableViaWiFi
    }

    /// True if packets on this link have a source address. If a link has no address of its own, the kernel takes one of the
    /// loopback link; some routers are configured so.
    private func hasSource(for family: UInt8, on link: NetworkLink) -> Bool {
        self.addresses.contains { address in
            address.family == family && address.isUsable
                && (address.link == link.index || self.links[address.link]?.isLoopback == true)
        }
    }
}
