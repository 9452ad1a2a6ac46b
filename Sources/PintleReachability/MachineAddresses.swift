// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleSession

/// The addresses of this machine as the kernel's routing tables have them at the moment of the question: those of its links,
/// loopback, and networks that are routed to itself.
package struct MachineAddresses: Sendable {
    private let socket: RouteSocket

    /// - Throws: ``SessionError`` with `internalError` where the routing tables cannot be read.
    package init() throws(SessionError) { self.socket = try RouteSocket(listening: false) }

    /// Whether a connection to `address` would be made to this machine. It takes a question to the kernel, which answers
    /// without waiting for anything.
    package func contains(_ address: SocketAddress) -> Bool { self.socket.isLocal(address) }
}
