// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The bytes on their way from one end of a ``SocketRelay`` to the other: such that were copied, or a pipe with bytes in it.
final class RelayFlow {
    private let account: (any PendingWriteAccount)?
    /// Bytes that were read and not written.
    var copied = ByteBuffer()
    private let loop: Loop
    /// The bytes behind those that were copied; nil until there were any.
    private var piped: PipedBytes?
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

    /// The number of bytes that are in flight in a pipe.
    var spliced: Int { self.piped?.count ?? 0 }

    var inFlight: Int { self.copied.readableBytes + self.spliced }

    /// Moves what the sender has sent into a pipe, while nothing is in flight.
    func splice(from source: RelayEnd) -> PipedBytes.Filling {
        let piped = self.piped ?? PipedBytes(on: self.loop)
        self.piped = piped
        return piped.fill(from: source.descriptor)
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
        guard let piped else { preconditionFailure("BUG: bytes are in flight in no pipe") }
        let outcome = piped.drain(into: sink.descriptor)
        if case .bytes(let count) = outcome { self.written += count }
        return outcome
    }

    /// Forgets what is in flight.
    func drop() {
        self.copied = ByteBuffer()
        self.piped?.drop()
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
