// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The bytes for a client that are gathered during a turn, so that one system call sends them at its end.
struct GatheredOutput {
    private enum State {
        /// Nothing was written in this turn.
        case idle
        /// The bytes are sent at the end of the turn. Then the exchange hears if its client keeps up.
        case due
        /// As ``due``, and bytes are being sent within a call of the exchange, which must not be called meanwhile.
        case sending
    }

    private var state = State.idle
    private var bytes: ByteBuffer?

    /// More gathered bytes than these are sent at once, to save memory.
    static let limit = 64 * 1024

    /// True while bytes are sent within a call of the exchange.
    var isSending: Bool { if case .sending = self.state { true } else { false } }

    /// Takes the gathered bytes out, so that they are not copied when they are appended to or sent.
    ///
    /// - Returns: nil if there are none.
    mutating func take() -> ByteBuffer? { self.bytes.take() }

    /// Puts bytes back that were appended to.
    ///
    /// - Returns: true for the first bytes of a turn: its end is to be awaited.
    mutating func put(_ bytes: consuming ByteBuffer) -> Bool {
        self.bytes = bytes
        guard case .idle = self.state else { return false }
        self.state = .due
        return true
    }

    /// Notes that bytes are sent within a call of the exchange, until ``endSending()``.
    mutating func startSending() {
        guard case .due = self.state else { preconditionFailure("BUG: bytes are sent that were not gathered") }
        self.state = .sending
    }

    mutating func endSending() {
        guard case .sending = self.state else { preconditionFailure("BUG: bytes were sent that are not being sent") }
        self.state = .due
    }

    /// Begins another turn.
    mutating func endTurn() {
        guard case .due = self.state else { preconditionFailure("BUG: the end of a turn comes that is not awaited") }
        self.state = .idle
    }
}
