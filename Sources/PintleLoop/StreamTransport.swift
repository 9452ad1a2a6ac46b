// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Stands between a ``SocketChannel`` and its descriptor where bytes are not simply received and sent: TLS.
///
/// Used on the loop's thread only, and never after ``close()``. Nothing here waits.
package protocol StreamTransport: AnyObject {
    /// Takes in what has come, at most as much as there is room for.
    ///
    /// A transport may hold bytes of which epoll knows nothing, so it is asked until it would have to wait.
    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome

    /// Sends the beginning of `bytes`, which are not empty.
    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome

    /// Tells the peer that nothing more will be written; everything was.
    func shutdownOutput()

    /// What the descriptor must be ready for before ``shutdownOutput()`` is to be called again; nil when it need not be.
    var shutdownNeeds: Readiness? { get }

    /// Closes the descriptor, and frees what belongs to it. Called once, after the loop has stopped watching it.
    func close()
}

extension StreamTransport {
    /// Nil: the end is told at once.
    package var shutdownNeeds: Readiness? { nil }
}

/// What became of an attempt to read or to write.
package enum StreamOutcome {
    /// So many bytes were moved, at least one.
    case bytes(Int)
    /// The peer has sent everything; only of reading.
    case end
    /// Nothing can be moved before the descriptor is ready for this. Reading may have to wait for writing, and the other
    /// way round, while keys are agreed on.
    case wouldBlock(until: Readiness)
    /// The connection cannot be used any more.
    case failed(any Error)

    /// Translates what a system call has just returned; errno is still its own.
    ///
    /// - Parameters:
    ///   - count: of bytes, negative where it failed.
    ///   - call: its name.
    ///   - readiness: what it waits for.
    package init(_ count: Int, of call: StaticString, until readiness: Readiness) {
        let code = errno
        if count > 0 {
            self = .bytes(count)
        } else if count == 0 {
            self = .end
        } else if code == EAGAIN || code == EINTR {
            self = .wouldBlock(until: readiness)
        } else {
            self = .failed(IOError(errnoCode: code, reason: "\(call)"))
        }
    }
}
