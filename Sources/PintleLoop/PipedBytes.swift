// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore

/// Bytes that are moved from one socket to another through a pipe (splice(2)), and never seen on the way.
///
/// A pipe of the loop is held only while there is something in it. Used on the loop's thread only.
package final class PipedBytes {
    /// The outcome of one try to take bytes in.
    package enum Filling {
        case outcome(StreamOutcome)
        /// The kernel cannot do it with this socket.
        case isUnfit
        /// There is no pipe to be had now.
        case lacksPipe
        /// Bytes that came before have to leave first.
        case mustWait
    }

    /// The least that is missing of a body for its bytes to be moved and not copied: for less a pipe costs more than it saves.
    package static let leastBody: UInt64 = 128 * 1024
    /// The most that is moved at once: the kernel keeps it for a peer that does not read, and others want their turn.
    package static let mostAtOnce: UInt64 = 256 * 1024

    private let loop: Loop
    private var pipe: PipePool.Pipe?
    /// The number of bytes that are in the pipe.
    package private(set) var count = 0

    package init(on loop: Loop) {
        self.loop = loop
    }

    /// Takes in what has come at a socket. Nothing may be in the pipe.
    ///
    /// - Parameter limit: the most bytes; what is behind them stays where it is.
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

    /// Sends something of what is in the pipe, with one system call. There must be something.
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

    /// Throws away what is in the pipe.
    package func drop() {
        self.count = 0
        guard let pipe else { return }
        self.pipe = nil
        self.loop.pipes.discard(pipe)
    }
}
