// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSerialization

/// Checks a response's body as it streams, a limited amount in each turn of the event loop, because 32 KiB on the wire may
/// decode to 32 MiB. Unchecked bytes wait here, and the owner takes no more from the origin meanwhile.
///
/// Used on one event loop.
final class StreamingValidator {
    /// The most decoded bytes that are checked in a turn; that takes about a millisecond.
    private static let bytesInTurn = 128 * 1024

    private let check: BodyCheck
    private let loop: Loop
    private var backlog = ByteBuffer()
    /// True if not all bytes so far were checked.
    private(set) var isBehind = false
    private var timer: LoopTimer?

    /// - Parameter proceed: called in a later turn if the check lags; it should call ``proceed()``.
    init(_ check: BodyCheck, loop: Loop, proceed: @escaping () -> Void) {
        self.check = check
        self.loop = loop
        self.timer = LoopTimer(proceed)
    }

    /// The approximate memory that it takes, in bytes.
    var memory: Int { self.check.memory + self.backlog.readableBytes }

    /// Checks a piece of the body, or keeps it for a later turn.
    ///
    /// - Throws: the defect of the body, once.
    func take(_ bytes: UnsafeRawBufferPointer) throws(ValidationError) {
        guard !self.isBehind else {
            self.backlog.writeBytes(bytes)
            return
        }
        var rest = bytes
        self.isBehind = !(try self.check.take(&rest, unfoldingTo: Self.bytesInTurn))
        // All bytes were checked.
        guard self.isBehind else { return }
        self.backlog.writeBytes(rest)
        self.arm()
    }

    /// Checks more of the waiting bytes.
    ///
    /// - Throws: the defect of the body, once.
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

    /// Checks the end of the body, if the check does not lag.
    ///
    /// - Throws: the defect of the body.
    func finish() throws(ValidationError) { try self.check.finish() }

    /// Ends the check without a verdict.
    func stop() {
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
        self.isBehind = false
        self.backlog = ByteBuffer()
    }

    private func arm() {
        // Later than this turn, so that other work gets its turn before the timer fires.
        if let timer { self.loop.arm(timer, at: self.loop.turnTime + .nanoseconds(1)) }
    }
}
