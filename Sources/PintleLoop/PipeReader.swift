// SPDX-License-Identifier: Apache-2.0

/// Moves bytes out of the socket of a ``SocketChannel`` through a pipe, in place of receiving them (splice(2)).
///
/// Used on the loop's thread only.
package protocol PipeReader: AnyObject {
    /// Moves bytes that have come. Called in place of the channel's own read.
    ///
    /// - Returns: nil if the channel is to receive the bytes; `wouldBlock` until nothing if no bytes may be taken before
    ///   ``SocketChannel/goOnMoving()`` is called.
    func moveBytes(from descriptor: Int32) -> StreamOutcome?
}
