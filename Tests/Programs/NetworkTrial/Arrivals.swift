// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleStub

/// Describes captured connections as a proxy sees them.
struct Arrivals: Sendable {
    /// True if the kernel has led connections to a listener elsewhere.
    let isTranslated: Bool
    let names: CapturedNames
    /// Sockets of the network.
    let sockets: SocketQuery

    /// SO_ORIGINAL_DST of linux/netfilter_ipv4.h, which IPv6 has under the same number.
    private static let original: Int32 = 80

    /// Returns the name or address of the destination, its port, and the inode of the command's socket.
    func text(of connection: Int32) -> String {
        let destination = Self.address { address, size in
            let code = getsockname(connection, address, size)
            guard self.isTranslated, code == 0 else { return code }
            let level = address.pointee.sa_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP
            return getsockopt(connection, Int32(level), Self.original, address, size)
        }
        let source = Self.address { getpeername(connection, $0, $1) }
        guard let destination, let source else { return "no address: errno \(errno)" }
        let inode = (try? self.sockets.inode(ofSocketAt: source.socket, connectedTo: destination.socket)) ?? 0
        let host = self.names.name(of: destination.ip) ?? destination.ip.description
        return "\(host) \(destination.port) \(inode)"
    }

    private struct Place {
        let ip: IPAddress
        let port: Int

        var socket: SocketAddress {
            get throws { try SocketAddress(ipAddress: self.ip.description, port: self.port) }
        }
    }

    private static func address(
        _ read: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Place? {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { read($0, &size) }
        }
        return withUnsafeBytes(of: &address) { bytes in
            guard code == 0, let ip = IPAddress(socketAddress: bytes) else { return nil }
            return Place(ip: ip, port: Int(bytes[2]) << 8 | Int(bytes[3]))
        }
    }
}
