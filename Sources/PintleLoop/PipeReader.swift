// SPDX-License-Identifier: Apache-2.0

/// Moves bytes out of the socket of a ``SocketChannel`` through a pipe, in place of receiving them (splice(2)).
///
/// Used on the loop's thread only.
package protocol PipeReader: AnyObject {
    /// Moves bytes that have come. Called when the channel would read.
    ///
    /// - Returns: nil if they are to be received; `wouldBlock` until nothing if none may be taken before
    ///   ``SocketChannel/goOnMoving()`` is called.
    func moveBytes(from descriptor: Int32) -> StreamOutcome?
}
