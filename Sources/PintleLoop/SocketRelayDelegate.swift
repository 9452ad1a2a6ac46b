// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Whoever has a ``SocketRelay``. Called on the loop's thread.
package protocol SocketRelayDelegate: AnyObject {
    /// Looks at what was read, in a direction that is inspected, and gives back what may be passed on: nil for nothing yet.
    /// The relay may be closed from here.
    func relay(_ relay: SocketRelay, read bytes: ByteBuffer, going direction: SocketRelay.Direction) -> ByteBuffer?

    /// Tells that the sender of a direction has sent everything. The relay may be closed from here.
    func relay(_ relay: SocketRelay, finishedReading direction: SocketRelay.Direction)

    /// Nothing more is read to be passed on. What is in flight may still be written: ``relayClosed(_:)`` comes when it was.
    func relayEnded(_ relay: SocketRelay)

    /// Both sockets are closed. Called once, after ``relayEnded(_:)``.
    func relayClosed(_ relay: SocketRelay)
}
