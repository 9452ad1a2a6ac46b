// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleSession

/// The addresses of this machine, as the kernel's routing tables have them at each call: those of its links, loopback, and
/// networks that are routed to the machine itself.
package struct MachineAddresses: Sendable {
    private let socket: RouteSocket

    /// - Throws: ``SessionError`` with `internalError` if the routing tables cannot be read.
    package init() throws(SessionError) { self.socket = try RouteSocket(listening: false) }

    /// True if a connection to `address` would be made to this machine. Asks the kernel, which answers without blocking.
    package func contains(_ address: SocketAddress) -> Bool { self.socket.isLocal(address) }
}
