// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The pings of one connection whose pongs have not come.
struct PendingPings {
    typealias Pong = OneShot<Result<Duration, SessionError>>

    private struct Pending {
        let number: UInt64
        let start: NIODeadline
        let pong: Pong
    }

    private var pending: [Pending] = []
    private var count: UInt64 = 0

    /// The payload of a ping that nobody waits for.
    mutating func next() -> ByteBuffer {
        defer { self.count += 1 }
        return ByteBuffer(integer: self.count)
    }

    /// The payload of a ping that leaves now.
    mutating func next(for pong: Pong, at now: NIODeadline) -> ByteBuffer {
        // Those who have given up are not waited for.
        self.pending.removeAll { $0.pong.isGiven }
        self.pending.append(Pending(number: self.count, start: now, pong: pong))
        return self.next()
    }

    /// A pong has come. It may stand for the pings before its own, too (RFC 6455 §5.5.3); one that nobody has asked for says
    /// nothing.
    mutating func received(_ payload: ByteBuffer, at now: NIODeadline) {
        guard payload.readableBytes == 8, let number = payload.getInteger(at: payload.readerIndex, as: UInt64.self),
            self.pending.contains(where: { $0.number == number })
        else { return }
        for ping in self.pending where ping.number <= number {
            ping.pong.give(.success(Duration(now - ping.start)))
        }
        self.pending.removeAll { $0.number <= number }
    }

    /// No pong comes any more.
    mutating func fail(_ error: SessionError) {
        let pending = self.pending
        self.pending = []
        for ping in pending { ping.pong.give(.failure(error)) }
    }
}
