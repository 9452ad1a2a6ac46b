// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import NIOCore

extension SocketAddress {
    /// The number of the socket option for the destination before a redirection, in IPv4 (SO_ORIGINAL_DST of
    /// linux/netfilter_ipv4.h) and in IPv6 (IP6T_SO_ORIGINAL_DST).
    private static var originalDestination: Int32 { 80 }

    /// The address that the client of an accepted connection has connected to: the one before a redirection by the kernel, or
    /// else the socket's own.
    package init?(redirectedFrom descriptor: Int32) {
        guard let own = SocketAddress(boundTo: descriptor) else { return nil }
        for level in [IPPROTO_IP, IPPROTO_IPV6] {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            guard getsockopt(descriptor, Int32(level), Self.originalDestination, &storage, &length) == 0 else {
                continue
            }
            self = SocketAddress(storage) ?? own
            return
        }
        self = own
    }
}
