// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The pings of one connection that have no pong yet.
struct PendingPings {
    typealias Pong = OneShot<Result<Duration, SessionError>>

    private struct Pending {
        let number: UInt64
        let start: NIODeadline
        let pong: Pong
    }

    private var pending: [Pending] = []
    private var count: UInt64 = 0

    /// Returns the payload of a ping whose pong no caller waits for.
    mutating func next() -> ByteBuffer {
        defer { self.count += 1 }
        return ByteBuffer(integer: self.count)
    }

    /// Returns the payload of a ping that is sent now.
    mutating func next(for pong: Pong, at now: NIODeadline) -> ByteBuffer {
        // Callers that have stopped waiting are removed.
        self.pending.removeAll { $0.pong.isGiven }
        self.pending.append(Pending(number: self.count, start: now, pong: pong))
        return self.next()
    }

    /// Handles a pong. It may also answer the pings before its own (RFC 6455 §5.5.3); an unsolicited pong is ignored.
    mutating func received(_ payload: ByteBuffer, at now: NIODeadline) {
        // No ping that waits has this payload.
        guard payload.readableBytes == 8, let number = payload.getInteger(at: payload.readerIndex, as: UInt64.self),
            self.pending.contains(where: { $0.number == number })
        else { return }
        for ping in self.pending where ping.number <= number {
            ping.pong.give(.success(Duration(now - ping.start)))
        }
        self.pending.removeAll { $0.number <= number }
    }

    /// Fails all pings, as no pong will come.
    mutating func fail(_ error: SessionError) {
        let pending = self.pending
        self.pending = []
        for ping in pending { ping.pong.give(.failure(error)) }
    }
}
