// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore

/// Requests to the kernel, as bytes (rtnetlink(7)).
enum RouteRequest {
    /// Returns a request for a whole table: `PINTLE_GET_LINK`, `PINTLE_GET_ADDRESS` or `PINTLE_GET_ROUTE`.
    static func dump(_ type: Int, sequence: UInt32) -> [UInt8] {
        // 16 bytes are enough for the header of any of the three; family 0 stands for all.
        self.message(type, flags: PINTLE_REQUEST | PINTLE_DUMP, sequence, [UInt8](repeating: 0, count: 16))
    }

    /// Returns a request for the route of a packet to `address`; nil if that is neither IPv4 nor IPv6.
    static func route(to address: SocketAddress, sequence: UInt32) -> [UInt8]? {
        guard let destination = Destination(address) else { return nil }
        // struct rtmsg: the family, the length of the destination in bits, and fields that are zero here.
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

    /// Returns an attribute. Its value must be a multiple of four bytes, because no padding is added.
    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        self.bytes(UInt16(4 + value.count)) + self.bytes(UInt16(type)) + value
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number, Array.init) }

    /// An address in the form that connect(2) takes.
    private struct Destination {
        var family = UInt8(AF_INET)
        var bytes: [UInt8]
        /// The index of the link that a link-local address names; zero if it names none.
        var link: [UInt8] = [0, 0, 0, 0]

        init?(_ address: SocketAddress) {
            let raw = address.withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1)) }
            switch address {
            // The address follows family and port in struct sockaddr_in; in struct sockaddr_in6 it follows the flow as
            // well.
            case .v4: self.bytes = Array(raw[4..<8])
            case .v6:
                self.bytes = Array(raw[8..<24])
                // A connection to an IPv4-mapped IPv6 address is one to IPv4 (RFC 4291 §2.5.5.2).
                if self.bytes.starts(with: Self.mappedPrefix) {
                    self.bytes.removeFirst(12)
                    return
                }
                self.family = UInt8(AF_INET6)
                self.link = Array(raw[24..<28])
                // A connection to the unspecified address is one to this machine; the kernel knows that only for IPv4.
                if self.bytes.allSatisfy({ $0 == 0 }) { self.bytes[15] = 1 }
            case .unixDomainSocket: return nil
            }
        }

        private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    }
}
