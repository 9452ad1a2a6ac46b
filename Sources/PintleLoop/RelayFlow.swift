// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore

/// The bytes on their way from one end of a ``SocketRelay`` to the other: such that were copied, or a pipe with bytes in it.
final class RelayFlow {
    /// The outcome of one try to read by splice(2).
    enum Spliced {
        case outcome(StreamOutcome)
        /// The kernel cannot do it with these sockets.
        case isUnfit
        /// There is no pipe to be had now.
        case lacksPipe
    }

    private let loop: Loop
    private let account: (any PendingWriteAccount)?
    /// Bytes that were read and not written.
    var copied = ByteBuffer()
    /// The number of bytes in `pipe`, which are behind those that were copied.
    private(set) var spliced = 0
    private var pipe: PipePool.Pipe?
    /// Bytes that the receiver's socket has taken.
    var written = 0
    /// True where much comes: then bytes are moved by pipe where they can be, and copied in large pieces elsewhere.
    var isBulk = false
    /// True where somebody looks at what is read before it is passed on.
    var isInspected = false
    /// The sender's transport may hold bytes of which the loop knows nothing.
    var mayHaveMore = false
    /// The part of `copied` that the account was told of.
    private var accounted = 0

    init(on loop: Loop, account: (any PendingWriteAccount)?) {
        self.loop = loop
        self.account = account
    }

    var inFlight: Int { self.copied.readableBytes + self.spliced }

    /// Moves what the sender has sent into a pipe, while nothing is in flight.
    func splice(from source: RelayEnd) -> Spliced {
        guard let pipe = self.loop.pipes.take() else { return .lacksPipe }
        let count = Int(pintle_splice(source.descriptor, pipe.writeEnd, Int32(PipePool.capacity)))
        guard count <= 0 else {
            (self.pipe, self.spliced) = (pipe, count)
            return .outcome(.bytes(count))
        }
        let isUnfit = count < 0 && errno == EINVAL
        let outcome = RelayEnd.outcome(of: count, "splice", until: .read)
        self.loop.pipes.giveBack(pipe, on: self.loop)
        return isUnfit ? .isUnfit : .outcome(outcome)
    }

    /// Writes something of what is in flight: makes one system call, or asks the transport once.
    func writeSome(to sink: RelayEnd) -> StreamOutcome {
        guard self.copied.readableBytes == 0 else {
            let outcome = self.copied.withUnsafeReadableBytes { sink.write($0) }
            guard case .bytes(let count) = outcome else { return outcome }
            self.copied.moveReaderIndex(forwardBy: count)
            if self.copied.readableBytes == 0 { self.copied = ByteBuffer() }
            self.written += count
            return outcome
        }
        guard let pipe else { preconditionFailure("BUG: bytes are in flight in no pipe") }
        let count = Int(pintle_splice(pipe.readEnd, sink.descriptor, Int32(clamping: self.spliced)))
        guard count > 0 else { return RelayEnd.outcome(of: count, "splice", until: .write) }
        self.written += count
        self.spliced -= count
        if self.spliced == 0 {
            self.pipe = nil
            self.loop.pipes.giveBack(pipe, on: self.loop)
        }
        return .bytes(count)
    }

    /// Forgets what is in flight.
    func drop() {
        self.copied = ByteBuffer()
        self.spliced = 0
        if let pipe {
            self.pipe = nil
            self.loop.pipes.discard(pipe)
        }
        self.settleAccount()
    }

    /// Tells the account what has changed; nothing where the peer keeps up.
    func settleAccount() {
        let waiting = self.copied.readableBytes & ~(PendingWrites.accountUnit - 1)
        guard waiting != self.accounted else { return }
        self.account?.waitingBytes(changedBy: waiting - self.accounted)
        self.accounted = waiting
    }
}
