// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
package import NIOCore
internal import PintleSystem

/// Asks the kernel for TCP sockets of this process's network (sock_diag(7)), or of another.
///
/// The kernel finds a socket by both of its addresses, however many sockets there are. /proc/net/tcp lists all of them each time.
package final class SocketQuery: Sendable {
    private let descriptor: Int32

    /// Nil if the kernel has no such interface, or if only reserved descriptors are left.
    package init?() {
        self.descriptor = DescriptorReserve.admitted(pintle_socket_query())
        guard self.descriptor >= 0 else { return nil }
    }

    /// Asks about another network, by a socket (NETLINK_SOCK_DIAG) that was made there and belongs to this object from then on.
    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(self.descriptor) }

    /// Returns the inode of the socket at one end of a connection; nil if it is closed, or if an address is not one of TCP.
    package func inode(ofSocketAt own: SocketAddress, connectedTo peer: SocketAddress) -> UInt64? {
        guard own.protocol == peer.protocol, own.protocol == .inet || own.protocol == .inet6 else { return nil }
        let inode = own.withSockAddr { own, _ in
            peer.withSockAddr { peer, _ in pintle_socket_inode(self.descriptor, own, peer) }
        }
        return inode > 0 ? UInt64(inode) : nil
    }
}
