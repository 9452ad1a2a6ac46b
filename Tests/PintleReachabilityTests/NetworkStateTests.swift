// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import Testing

@testable import PintleReachability

/// The status that follows from links, addresses and routes.
struct NetworkStateTests {
    private static let up: UInt32 = 0x1043

    private func state(_ messages: [UInt8]...) -> NetworkState {
        var state = NetworkState()
        for message in messages { for read in RouteMessage.parse(message[...]) { state.add(read.content) } }
        return state
    }

    @Test func `RCH-07 a default route over a link that works is reachable, without one nothing is`() {
        let link = KernelBytes.link(2, "eth0", flags: Self.up)
        let address = KernelBytes.address(2)
        #expect(self.state(link, address, KernelBytes.route(over: [2])).status == .reachableViaWiFi)
        #expect(self.state(link, address, KernelBytes.route(prefix: 24, over: [2])).status == .notReachable)
        #expect(self.state(link, address).status == .notReachable)
        #expect(NetworkState().status == .notReachable)
    }

    @Test func `RCH-08 a default route that leads over nothing that works does not count`() {
        let link = KernelBytes.link(2, "eth0", flags: Self.up)
        let (address, route) = (KernelBytes.address(2), KernelBytes.route(over: [2]))
        // Switched off; without a carrier; without an address; with one of the other family; loopback; of no effect.
        #expect(self.state(KernelBytes.link(2, "eth0", flags: 0x42), address, route).status == .notReachable)
        #expect(self.state(KernelBytes.link(2, "eth0", flags: 0x3), address, route).status == .notReachable)
        #expect(self.state(link, route).status == .notReachable)
        #expect(self.state(link, KernelBytes.address(2, family: AF_INET6), route).status == .notReachable)
        #expect(self.state(KernelBytes.link(2, "lo", flags: 0x49), address, route).status == .notReachable)
        for kind in [6, 7, 8] as [UInt8] {
            let useless = KernelBytes.route(kind: kind, over: [2])
            #expect(self.state(link, address, useless).status == .notReachable, "\(kind)")
        }
        // If a router's link has no address, the kernel uses that of the loopback link.
        let loopback = KernelBytes.link(1, "lo", flags: 0x49)
        #expect(self.state(loopback, link, KernelBytes.address(1), route).status == .reachableViaWiFi)
    }

    @Test func `RCH-09 a mobile link is WWAN by its type, its name or its driver's word`() {
        let rest = (KernelBytes.address(2), KernelBytes.route(over: [2]))
        func status(_ link: [UInt8]) -> ReachabilityStatus { self.state(link, rest.0, rest.1).status }
        #expect(status(KernelBytes.link(2, "x", hardware: 512, flags: Self.up)) == .reachableViaWWAN)
        #expect(status(KernelBytes.link(2, "x", hardware: 519, flags: Self.up)) == .reachableViaWWAN)
        #expect(status(KernelBytes.link(2, "wwan0", flags: Self.up)) == .reachableViaWWAN)
        #expect(status(KernelBytes.link(2, "ppp0", flags: Self.up)) == .reachableViaWWAN)
        #expect(status(KernelBytes.link(2, "wlan0", flags: Self.up)) == .reachableViaWiFi)
        var described = self.state(KernelBytes.link(2, "x", flags: Self.up), rest.0, rest.1)
        described.links[2]?.deviceType = "wwan"
        #expect(described.status == .reachableViaWWAN && described.status(over: 2) == .reachableViaWWAN)
    }

    @Test func `of several default routes the one that the kernel prefers decides`() {
        let links = KernelBytes.link(2, "wwan0", flags: Self.up) + KernelBytes.link(3, "eth0", flags: Self.up)
        let addresses = KernelBytes.address(2) + KernelBytes.address(3)
        func status(_ mobile: UInt32, _ wired: UInt32) -> ReachabilityStatus {
            let routes = KernelBytes.route(metric: mobile, over: [2]) + KernelBytes.route(metric: wired, over: [3])
            return self.state(links, addresses, routes).status
        }
        #expect(status(700, 100) == .reachableViaWiFi && status(100, 700) == .reachableViaWWAN)
        // A preferred link that does not work is skipped.
        let broken = KernelBytes.link(2, "wwan0", flags: 0) + KernelBytes.link(3, "eth0", flags: Self.up)
        let routes = KernelBytes.route(over: [2]) + KernelBytes.route(metric: 700, over: [3])
        #expect(self.state(broken, addresses, routes).status == .reachableViaWiFi)
        #expect(self.state(broken, addresses, KernelBytes.route(over: [2, 3])).status == .reachableViaWiFi)
    }

    @Test func `halves of the address space are a default route, a multicast range is not`() {
        let link = KernelBytes.link(2, "tun0", flags: Self.up)
        let addresses = KernelBytes.address(2) + KernelBytes.address(2, family: AF_INET6)
        #expect(self.state(link, addresses, KernelBytes.route(prefix: 1, over: [2])).status == .reachableViaWiFi)
        #expect(self.state(link, addresses, KernelBytes.route(prefix: 4, over: [2])).status == .notReachable)
        let six = KernelBytes.route(family: AF_INET6, prefix: 4, over: [2])
        #expect(self.state(link, addresses, six).status == .reachableViaWiFi)
    }

    @Test func `a status has AFNetworking's text and says whether it is reachable`() {
        #expect(
            ReachabilityStatus.allCases.map(\.description) == [
                "Unknown", "Not Reachable", "Reachable via WWAN", "Reachable via WiFi",
            ])
        #expect(ReachabilityStatus.allCases.map(\.isReachable) == [false, false, true, true])
    }

    @Test func `name servers are read as the resolver reads them`() {
        let text = """
            # nameserver 192.0.2.1
            search example.com
            nameserver 192.0.2.53
            nameserver\t2001:db8::53  # trailing words do not count
            nameserver nonsense
            nameserver fe80::53%eth0
            options timeout:1
            """
        #expect(NameServers.read(text).map(\.ipAddress) == ["192.0.2.53", "2001:db8::53", "fe80::53"])
        #expect(NameServers.read("").map(\.ipAddress) == ["127.0.0.1"])
    }
}
