// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The bytes in flight from one end of a ``SocketRelay`` to the other: copied bytes, then a pipe with bytes in it.
final class RelayFlow {
    private let account: (any PendingWriteAccount)?
    /// Bytes that were read and are not written yet.
    var copied = ByteBuffer()
    private let loop: Loop
    /// The bytes that follow the copied ones, in a pipe; nil until there were any.
    private var piped: PipedBytes?
    /// The number of bytes that the receiver's socket has taken.
    var written = 0
    /// True if much comes: then bytes are moved by pipe if possible, and otherwise copied in large pieces.
    var isBulk = false
    /// True if the delegate inspects the bytes before they are passed on.
    var isInspected = false
    /// True if the sender's transport may hold bytes that the loop does not know of.
    var mayHaveMore = false
    /// The number of bytes in `copied` that the account knows.
    private var accounted = 0

    init(on loop: Loop, account: (any PendingWriteAccount)?) {
        self.loop = loop
        self.account = account
    }

    /// The number of bytes in flight in a pipe.
    var spliced: Int { self.piped?.count ?? 0 }

    var inFlight: Int { self.copied.readableBytes + self.spliced }

    /// Moves bytes that the sender has sent into a pipe. No bytes may be in flight.
    func splice(from source: RelayEnd) -> PipedBytes.Filling {
        let piped = self.piped ?? PipedBytes(on: self.loop)
        self.piped = piped
        return piped.fill(from: source.descriptor)
    }

    /// Writes some of the bytes in flight, with one system call or one call of the transport.
    func writeSome(to sink: RelayEnd) -> StreamOutcome {
        guard self.copied.readableBytes == 0 else {
            let outcome = self.copied.withUnsafeReadableBytes { sink.socket.write($0) }
            guard case .bytes(let count) = outcome else { return outcome }
            self.copied.moveReaderIndex(forwardBy: count)
            if self.copied.readableBytes == 0 { self.copied = ByteBuffer() }
            self.written += count
            return outcome
        }
        guard let piped else { preconditionFailure("BUG: bytes are in flight in no pipe") }
        let outcome = piped.drain(into: sink.descriptor)
        if case .bytes(let count) = outcome { self.written += count }
        return outcome
    }

    /// Throws away the bytes in flight.
    func drop() {
        self.copied = ByteBuffer()
        self.piped?.drop()
        self.settleAccount()
    }

    /// Reports a changed number of waiting bytes to the account; nothing is reported while the peer keeps up.
    func settleAccount() {
        let waiting = self.copied.readableBytes & ~(PendingWrites.accountUnit - 1)
        guard waiting != self.accounted else { return }
        self.account?.waitingBytes(changedBy: waiting - self.accounted)
        self.accounted = waiting
    }
}
