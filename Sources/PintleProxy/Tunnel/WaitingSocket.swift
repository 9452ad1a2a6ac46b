// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop

/// A connected socket that has no reader yet; closed if it never gets one.
final class WaitingSocket {
    private var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    /// Hands over the socket.
    func take() -> Int32 {
        defer { self.descriptor = -1 }
        return self.descriptor
    }

    /// The address of the peer; nil if the connection is lost.
    var peerAddress: SocketAddress? { SocketAddress(connectedTo: self.descriptor) }
}
