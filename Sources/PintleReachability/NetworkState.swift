// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc

/// A network interface.
struct NetworkLink: Equatable, Sendable {
    let index: Int32
    let name: String
    /// ARPHRD_*, of linux/if_arp.h.
    let hardware: UInt16
    /// IFF_*, of net/if.h.
    let flags: UInt32
    /// The driver's DEVTYPE, where it has one: `wlan`, `wwan`, `bridge`.
    var deviceType: String?

    /// Switched on, and with a carrier as far as the driver knows.
    var works: Bool {
        let needed = UInt32(PINTLE_LINK_UP | PINTLE_LINK_RUNNING)
        return self.flags & needed == needed
    }

    var isLoopback: Bool { self.flags & UInt32(PINTLE_LINK_LOOPBACK) != 0 }

    /// A mobile link, or one that is dialled: PPP over a modem and over DSL cannot be told apart.
    var isWWAN: Bool {
        self.deviceType == "wwan" || [PINTLE_LINK_PPP, PINTLE_LINK_RAW_IP].contains(Int(self.hardware))
            || self.name.hasPrefix("wwan") || self.name.hasPrefix("ppp")
    }
}

/// An address of an interface, as far as it matters here.
struct NetworkAddress: Equatable, Sendable {
    let link: Int32
    /// AF_INET or AF_INET6.
    let family: UInt8
    /// Whether packets to other networks can have it as their source: not valid on the link only, and neither still being
    /// checked nor somebody else's.
    let isUsable: Bool
}

/// A route, as far as it matters here.
struct NetworkRoute: Equatable, Sendable {
    /// AF_INET or AF_INET6.
    let family: UInt8
    let prefixLength: UInt8
    /// Whether packets go anywhere on it: not unreachable, prohibited, or a black hole.
    let carries: Bool
    /// Whether its destinations are addresses of this machine.
    var isLocal = false
    /// Of several the smallest is used.
    var metric: UInt32 = 0
    /// Where packets leave; several where they are spread.
    var links: [Int32] = []

    /// A default route, or one of the few that stand for it: VPNs leave the default route as it is and cover it by halves
    /// of IPv4's addresses, and by eighths or sixteenths of IPv6's.
    var isDefault: Bool { self.prefixLength <= (self.family == UInt8(AF_INET) ? 1 : 4) }
}

/// The links, addresses and default routes of a machine at one moment.
struct NetworkState: Equatable, Sendable {
    var links: [Int32: NetworkLink] = [:]
    var addresses: [NetworkAddress] = []
    var defaultRoutes: [NetworkRoute] = []

    /// Notes what a dump says.
    mutating func add(_ content: RouteMessage.Content) {
        switch content {
        case .link(let link): self.links[link.index] = link
        case .address(let address): self.addresses.append(address)
        case .route(let route): if route.isDefault, route.carries { self.defaultRoutes.append(route) }
        case .end, .failure, .other: break
        }
    }

    /// Whether other networks can be reached: a default route goes over a link that works and has an address. Of several
    /// the one that the kernel prefers says over which kind of link.
    var status: ReachabilityStatus {
        let usable = self.defaultRoutes.flatMap { route in
            route.links.compactMap { self.links[$0] }
                .filter { $0.works && !$0.isLoopback && self.hasSource(for: route.family, on: $0) }
                .map { (link: $0, metric: route.metric) }
        }
        guard let best = usable.min(by: { $0.metric < $1.metric }) else { return .notReachable }
        return best.link.isWWAN ? .reachableViaWWAN : .reachableViaWiFi
    }

    /// What can be said of a destination to which packets leave over this link.
    func status(over index: Int32) -> ReachabilityStatus {
        guard let link = self.links[index], link.works else { return .notReachable }
        return link.isWWAN ? .reachableViaWWAN : .reachableViaWiFi
    }

    /// Where a link has no address of its own the kernel takes one of the loopback link's; routers are built so.
    private func hasSource(for family: UInt8, on link: NetworkLink) -> Bool {
        self.addresses.contains { address in
            address.family == family && address.isUsable
                && (address.link == link.index || self.links[address.link]?.isLoopback == true)
        }
    }
}
