// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage
internal import PintleStub

/// The destination of a captured connection.
enum Destination {
    /// SO_ORIGINAL_DST of linux/netfilter_ipv4.h, which IPv6 has under the same number.
    private static let original: Int32 = 80

    /// - Parameter isTranslated: true if the kernel has led the connection to a listener elsewhere.
    static func text(of connection: Int32, isTranslated: Bool, _ names: CapturedNames) -> String {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let code = getsockname(connection, address, &size)
                guard isTranslated, code == 0 else { return code }
                let level = address.pointee.sa_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP
                return getsockopt(connection, Int32(level), self.original, address, &size)
            }
        }
        return withUnsafeBytes(of: &address) { bytes in
            guard code == 0, let ip = IPAddress(socketAddress: bytes) else { return "no destination: errno \(errno)" }
            return "\(names.name(of: ip) ?? ip.description) \(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))"
        }
    }
}
