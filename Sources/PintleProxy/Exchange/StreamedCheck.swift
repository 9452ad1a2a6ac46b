// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage

/// Looks at a response's body as it streams, a bounded amount in each turn of the loop: 32 KiB on the wire may unfold to 32
/// MiB. What it has not come to waits here, and its owner takes no more from the origin meanwhile.
///
/// Used on one loop.
final class StreamedCheck {
    /// How many bytes content codings may unfold to in a turn: looking at them takes about a millisecond.
    private static let bytesInTurn = 128 * 1024

    private let check: BodyCheck
    private let loop: Loop
    private var backlog = ByteBuffer()
    /// Whether the body so far was not looked at to its end.
    private(set) var isBehind = false
    private var timer: LoopTimer?

    /// - Parameter proceed: called in a later turn when the check is behind; it should call ``proceed()``.
    init(_ check: BodyCheck, loop: Loop, proceed: @escaping () -> Void) {
        self.check = check
        self.loop = loop
        self.timer = LoopTimer(proceed)
    }

    /// About how much memory it takes, in bytes.
    var memory: Int { self.check.memory + self.backlog.readableBytes }

    /// Looks at a piece of the body, or keeps it until its turn comes.
    ///
    /// - Throws: what is wrong with the body, once.
    func take(_ bytes: UnsafeRawBufferPointer) throws(ValidationError) {
        guard !self.isBehind else {
            self.backlog.writeBytes(bytes)
            return
        }
        var rest = bytes
        self.isBehind = !(try self.check.take(&rest, unfoldingTo: Self.bytesInTurn))
        guard self.isBehind else { return }
        self.backlog.writeBytes(rest)
        self.arm()
    }

    /// Looks at some more of what has waited.
    ///
    /// - Throws: what is wrong with the body, once.
    func proceed() throws(ValidationError) {
        var result = Result<Bool, ValidationError>.success(true)
        self.backlog.readWithUnsafeReadableBytes { bytes in
            var rest = bytes
            result = Result { () throws(ValidationError) in
                try self.check.take(&rest, unfoldingTo: Self.bytesInTurn)
            }
            return bytes.count - rest.count
        }
        self.isBehind = !(try result.get())
        if self.isBehind { self.arm() } else { self.backlog = ByteBuffer() }
    }

    /// Looks at the end of the body, when it is not behind.
    ///
    /// - Throws: what is wrong with the body.
    func finish() throws(ValidationError) { try self.check.finish() }

    /// Ends the check without a verdict.
    func stop() {
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
        self.isBehind = false
        self.backlog = ByteBuffer()
    }

    private func arm() {
        // Later than this turn, in which it would fire again at once: others have theirs in between.
        if let timer { self.loop.arm(timer, at: self.loop.turnTime + .nanoseconds(1)) }
    }
}
