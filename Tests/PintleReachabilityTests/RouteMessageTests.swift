// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import Testing

@testable import PintleReachability

/// Parsing of the kernel's messages, and the requests to it.
struct RouteMessageTests {
    private func contents(_ bytes: [UInt8]) -> [RouteMessage.Content] {
        RouteMessage.parse(bytes[...]).map(\.content)
    }

    @Test func `links, addresses and routes of one datagram are read in order`() {
        let bytes =
            KernelBytes.link(4, "eth0", flags: 0x1043) + KernelBytes.address(4)
            + KernelBytes.route(metric: 100, over: [4])
        #expect(
            self.contents(bytes) == [
                .link(NetworkLink(index: 4, name: "eth0", hardware: 1, flags: 0x1043)),
                .address(NetworkAddress(link: 4, family: UInt8(AF_INET), isUsable: true)),
                .route(
                    NetworkRoute(family: UInt8(AF_INET), prefixLength: 0, carries: true, metric: 100, links: [4])),
            ])
    }

    @Test func `a route that is spread over links has them all`() {
        guard case .route(let route) = self.contents(KernelBytes.route(over: [3, 7, 9])).first else {
            return #expect(Bool(false), "no route")
        }
        #expect(route.links == [3, 7, 9])
    }

    @Test(arguments: [(1, true), (2, true), (6, false), (7, false), (8, false), (9, false)] as [(UInt8, Bool)])
    func `unreachable, prohibited and black-hole routes carry nothing`(kind: UInt8, carries: Bool) {
        guard case .route(let route) = self.contents(KernelBytes.route(kind: kind, over: [1])).first else {
            return #expect(Bool(false), "no route")
        }
        #expect(route.carries == carries)
    }

    @Test func `an address of the link only, or one that is not settled, is no source`() {
        func isUsable(_ bytes: [UInt8]) -> Bool {
            guard case .address(let address) = self.contents(bytes).first else { return false }
            return address.isUsable
        }
        #expect(isUsable(KernelBytes.address(1, family: AF_INET6)))
        #expect(!isUsable(KernelBytes.address(1, family: AF_INET6, scope: 253)))
        #expect(!isUsable(KernelBytes.address(1, scope: 254)))
        #expect(!isUsable(KernelBytes.address(1, family: AF_INET6, flags: 0x40)))
        #expect(!isUsable(KernelBytes.address(1, family: AF_INET6, flags: 0x08)))
    }

    @Test func `ends, errors and interruptions are told apart`() {
        let bytes =
            KernelBytes.message(3, flags: 0x10, sequence: 7, KernelBytes.bytes(Int32(0)))
            + KernelBytes.message(2, sequence: 8, KernelBytes.bytes(-ENETUNREACH))
            + KernelBytes.route(over: [1], type: 25) + KernelBytes.link(1, "br0", family: 7)
            + KernelBytes.message(99)
        let messages = RouteMessage.parse(bytes[...])
        #expect(messages.map(\.sequence) == [7, 8, 0, 0, 0])
        #expect(messages.map(\.isInterrupted) == [true, false, false, false, false])
        #expect(messages[0].content == .end && messages[1].content == .failure(ENETUNREACH))
        // A message about a bridge's port is not about a link; unknown messages are skipped.
        #expect(messages[3].content == .other && messages[4].content == .other)
    }

    @Test func `bytes that end early never give more than what was whole`() {
        let whole = KernelBytes.link(4, "eth0") + KernelBytes.address(4) + KernelBytes.route(over: [4, 5])
        let all = self.contents(whole)
        for count in 0..<whole.count {
            let read = self.contents(Array(whole[..<count]))
            #expect(read.count < 3 && read == Array(all.prefix(read.count)), "\(count) bytes")
        }
    }

    @Test func `lengths that lie are survived`() {
        let whole = KernelBytes.link(4, "eth0") + KernelBytes.address(4) + KernelBytes.route(over: [4, 5])
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<3 { bytes[random(bytes.count)] = [0, 1, 3, 4, 0x7F, 0xFF][random(6)] }
            #expect(RouteMessage.parse(bytes[...]).count <= bytes.count / 16)
        }
        // A length below the header's own would be walked over for ever.
        #expect(self.contents(KernelBytes.bytes(UInt32(0)) + whole).isEmpty)
    }

    @Test func `the kernel is asked for an address as connect would take it`() throws {
        func question(_ address: String) throws -> [UInt8] {
            try #require(RouteRequest.route(to: SocketAddress(ipAddress: address, port: 0), sequence: 5))
        }
        let four = try question("192.0.2.7")
        #expect(four.count == 36 && four[0] == 36 && four[4] == 26 && four[8] == 5)
        #expect(four[16...17] == [UInt8(AF_INET), 32] && four[28...] == [8, 0, 1, 0, 192, 0, 2, 7])
        let six = try question("2001:db8::1")
        #expect(six.count == 48 && six[16...17] == [UInt8(AF_INET6), 128] && six[47] == 1)
        // IPv4 in IPv6's clothes; the unspecified address, which is this machine.
        #expect(try question("::ffff:192.0.2.7") == four)
        #expect(try question("::") == question("::1"))
        #expect(RouteRequest.route(to: try SocketAddress(unixDomainSocketPath: "/x"), sequence: 1) == nil)
    }
}
