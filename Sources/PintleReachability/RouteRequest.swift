// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore

/// A question to the kernel, as bytes (rtnetlink(7)).
enum RouteRequest {
    /// Asks for all of a table: `PINTLE_GET_LINK`, `PINTLE_GET_ADDRESS` or `PINTLE_GET_ROUTE`.
    static func dump(_ type: Int, sequence: UInt32) -> [UInt8] {
        // The header is as long as that of any of the three; an IP version is not asked for.
        self.message(type, flags: PINTLE_REQUEST | PINTLE_DUMP, sequence, [UInt8](repeating: 0, count: 16))
    }

    /// Asks which way a packet to `address` would go; nil where it is neither IPv4 nor IPv6.
    static func route(to address: SocketAddress, sequence: UInt32) -> [UInt8]? {
        guard let destination = Destination(address) else { return nil }
        // struct rtmsg: family, length of the destination in bits, and nothing else that matters.
        var body: [UInt8] = [destination.family, UInt8(destination.bytes.count * 8)]
        body += [UInt8](repeating: 0, count: 10)
        body += self.attribute(PINTLE_ROUTE_DESTINATION, destination.bytes)
        if destination.link.contains(where: { $0 != 0 }) {
            body += self.attribute(PINTLE_ROUTE_OUTPUT, destination.link)
        }
        return self.message(PINTLE_GET_ROUTE, flags: PINTLE_REQUEST, sequence, body)
    }

    private static func message(_ type: Int, flags: Int, _ sequence: UInt32, _ body: [UInt8]) -> [UInt8] {
        self.bytes(UInt32(16 + body.count)) + self.bytes(UInt16(type)) + self.bytes(UInt16(flags))
            + self.bytes(sequence) + self.bytes(UInt32(0)) + body
    }

    /// Values are multiples of four bytes here, so none is padded.
    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        self.bytes(UInt16(4 + value.count)) + self.bytes(UInt16(type)) + value
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number, Array.init) }

    /// An address as connect(2) would take it.
    private struct Destination {
        var family = UInt8(AF_INET)
        var bytes: [UInt8]
        /// The index of the link that a link-local address names; zero for none.
        var link: [UInt8] = [0, 0, 0, 0]

        init?(_ address: SocketAddress) {
            let raw = address.withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1)) }
            switch address {
            // struct sockaddr_in has the address behind family and port, struct sockaddr_in6 behind the flow as well.
            case .v4: self.bytes = Array(raw[4..<8])
            case .v6:
                self.bytes = Array(raw[8..<24])
                // To connect to IPv4 in IPv6's clothes is to connect to IPv4 (RFC 4291 §2.5.5.2).
                if self.bytes.starts(with: Self.mappedPrefix) {
                    self.bytes.removeFirst(12)
                    return
                }
                self.family = UInt8(AF_INET6)
                self.link = Array(raw[24..<28])
                // To connect to the unspecified address is to connect to this machine; of IPv4's the kernel knows.
                if self.bytes.allSatisfy({ $0 == 0 }) { self.bytes[15] = 1 }
            case .unixDomainSocket: return nil
            }
        }

        private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    }
}
