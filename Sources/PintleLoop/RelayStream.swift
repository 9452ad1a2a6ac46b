// SPDX-License-Identifier: Apache-2.0

/// A stream of bytes that is no socket, such as one of HTTP/2, as an end of a ``SocketRelay``.
///
/// Nothing but itself knows when it is ready, so it tells that itself. Used on the loop's thread only.
package protocol RelayStream: StreamTransport {
    /// Tells `watcher` whenever the stream is ready for one of `interest`, until ``forget()``: as long as it is ready, once a
    /// turn, and never from within a call of the watcher's. It calls itself ``ReleasedSocket/noDescriptor``.
    func watch(for interest: Readiness, by watcher: any DescriptorWatcher)

    /// Tells nobody any more.
    func forget()

    /// The other end's connection is broken. The output that is shut down after this has no end in order.
    func peerBroke()
}
