// SPDX-License-Identifier: Apache-2.0

/// A stream of bytes that is not a socket, such as a stream of HTTP/2, as an end of a ``SocketRelay``.
///
/// Only the stream itself knows when it is ready, so it notifies its watcher. Used on the loop's thread only.
package protocol RelayStream: StreamTransport {
    /// Notifies `watcher` whenever the stream is ready for one of `interest`, until ``forget()``: once a turn as long as it
    /// is ready, and never during a call that the watcher makes. It passes ``DetachedSocket/noDescriptor`` as the
    /// descriptor.
    func watch(for interest: Readiness, by watcher: any DescriptorWatcher)

    /// Stops notifying the watcher.
    func forget()

    /// The other end's connection is broken. Output that is shut down after this must not look like an orderly end.
    func peerBroke()
}
