// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore

/// Bytes that are moved from one socket to another through a pipe (splice(2)), without being copied into the process.
///
/// One of the loop's pipes is held only while it has bytes in it. Used on the loop's thread only.
package final class PipedBytes {
    /// The outcome of one attempt to fill the pipe.
    package enum Filling {
        case outcome(StreamOutcome)
        /// The kernel cannot splice from this socket.
        case isUnfit
        /// No pipe can be had now.
        case lacksPipe
        /// Earlier bytes have to leave first.
        case mustWait
    }

    /// The least number of outstanding body bytes for which moving is worth while: for fewer, a pipe costs more than it
    /// saves.
    package static let leastBody: UInt64 = 128 * 1024
    /// The most bytes moved at once: the kernel keeps them if the peer does not read, and other connections need the
    /// thread.
    package static let mostAtOnce: UInt64 = 256 * 1024

    private let loop: Loop
    private var pipe: PipePool.Pipe?
    /// The number of bytes in the pipe.
    package private(set) var count = 0

    package init(on loop: Loop) {
        self.loop = loop
    }

    /// Moves the bytes that have come at a socket into the pipe, which must be empty.
    ///
    /// - Parameter limit: the most bytes to move; later bytes stay in the socket.
    package func fill(from descriptor: Int32, atMost limit: UInt64 = .max) -> Filling {
        precondition(self.count == 0, "BUG: a pipe is filled that is not empty")
        guard let pipe = self.loop.pipes.take() else { return .lacksPipe }
        let most = Int32(min(limit, UInt64(PipePool.capacity)))
        let count = Int(pintle_splice(descriptor, pipe.writeEnd, most))
        guard count <= 0 else {
            (self.pipe, self.count) = (pipe, count)
            return .outcome(.bytes(count))
        }
        let isUnfit = count < 0 && errno == EINVAL
        let outcome = StreamOutcome(count, of: "splice", until: .read)
        self.loop.pipes.giveBack(pipe, on: self.loop)
        return isUnfit ? .isUnfit : .outcome(outcome)
    }

    /// Sends bytes from the pipe, which must not be empty, with one system call.
    package func drain(into descriptor: Int32) -> StreamOutcome {
        guard let pipe else { preconditionFailure("BUG: bytes are sent from no pipe") }
        let count = Int(pintle_splice(pipe.readEnd, descriptor, Int32(clamping: self.count)))
        guard count > 0 else { return StreamOutcome(count, of: "splice", until: .write) }
        self.count -= count
        if self.count == 0 {
            self.pipe = nil
            self.loop.pipes.giveBack(pipe, on: self.loop)
        }
        return .bytes(count)
    }

    /// Throws away the bytes in the pipe; does nothing if there is no pipe.
    package func drop() {
        self.count = 0
        guard let pipe else { return }
        self.pipe = nil
        self.loop.pipes.discard(pipe)
    }
}
