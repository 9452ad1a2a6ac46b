// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The owner of a ``SocketRelay``. Called on the loop's thread.
package protocol SocketRelayDelegate: AnyObject {
    /// Inspects bytes that were read in an inspected direction, and returns the bytes that may be passed on: nil for none
    /// yet. The relay may be closed from here.
    func relay(_ relay: SocketRelay, read bytes: ByteBuffer, going direction: SocketRelay.Direction) -> ByteBuffer?

    /// The sender of a direction has sent everything. The relay may be closed from here.
    func relay(_ relay: SocketRelay, finishedReading direction: SocketRelay.Direction)

    /// No more bytes are read to be passed on. Those in flight may still be written; ``relayClosed(_:)`` comes after that.
    func relayEnded(_ relay: SocketRelay)

    /// Both sockets are closed. Called once, after ``relayEnded(_:)``.
    func relayClosed(_ relay: SocketRelay)
}
