// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Stands between a ``SocketChannel`` and its descriptor if bytes are not received and sent as they are: TLS.
///
/// Used on the loop's thread only, and never after ``close()``. No function blocks.
package protocol StreamTransport: AnyObject {
    /// Reads bytes that have come, at most as many as fit into `space`.
    ///
    /// A transport may hold bytes that epoll does not know of, so it is called until it would block.
    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome

    /// Sends the beginning of `bytes`, which are not empty.
    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome

    /// Tells the peer that no more will be written; all bytes must have been written.
    func shutdownOutput()

    /// The readiness that the descriptor needs before ``shutdownOutput()`` is called again; nil if it need not be.
    var shutdownNeeds: Readiness? { get }

    /// Closes the descriptor and frees the transport's resources. Called once, after the loop has stopped watching it.
    func close()
}

extension StreamTransport {
    /// Nil: the peer is told of the end at once.
    package var shutdownNeeds: Readiness? { nil }
}

/// The outcome of an attempt to read or to write.
package enum StreamOutcome {
    /// The number of bytes that were moved, at least one.
    case bytes(Int)
    /// The peer has sent everything; for reading only.
    case end
    /// No bytes can be moved before the descriptor is ready for this. While TLS agrees on keys, reading may have to wait
    /// for writing, and writing for reading.
    case wouldBlock(until: Readiness)
    /// The connection cannot be used any more.
    case failed(any Error)

    /// Translates the result of a system call that has just returned; errno must still be the one it set.
    ///
    /// - Parameters:
    ///   - count: the number of bytes; negative if the call failed.
    ///   - call: the name of the call.
    ///   - readiness: the readiness to wait for if the call would block.
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
