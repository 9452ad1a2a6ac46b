// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession

/// Sends a request's body at a route's pace: packets of a size, and a rest after each.
///
/// It lives on the loop of its exchange, which it asks for more when a packet has left.
final class BodyPacer {
    private let packet: Int
    private let delay: TimeAmount
    private let exchange: Exchange
    private let transfer: Transfer
    private var waiting = ByteBuffer()
    /// The trailers, once the body has come to its end.
    private var end: Fields?
    private var timer: LoopTimer?

    private var loop: Loop { self.exchange.connection.lane.loop }

    /// Holds `exchange` until ``stop()`` or the end of the body.
    init(packet: Int, delay: TimeAmount, exchange: Exchange, transfer: Transfer) {
        self.packet = packet
        self.delay = delay
        self.exchange = exchange
        self.transfer = transfer
        self.timer = LoopTimer { [weak self] in self?.rested() }
    }

    /// How much waits for its turn.
    var waitingBytes: Int { self.waiting.readableBytes }

    func send(_ bytes: ByteBuffer) {
        self.waiting.writeImmutableBuffer(bytes)
        self.sendPacket()
    }

    func finish(trailers: Fields) {
        self.end = trailers
        self.sendPacket()
    }

    func stop() {
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
        self.waiting = ByteBuffer()
    }

    private func rested() {
        self.sendPacket()
        self.exchange.connection.resumeBody()
    }

    private func sendPacket() {
        guard let timer, !timer.isArmed else { return }
        if let bytes = self.waiting.readSlice(length: min(self.packet, self.waiting.readableBytes)),
            bytes.readableBytes > 0
        {
            self.transfer.send(bytes)
            self.waiting.discardReadBytes()
            if self.waiting.readableBytes > 0 || self.end == nil {
                return self.loop.arm(timer, at: self.loop.turnTime + self.delay)
            }
        }
        guard self.waiting.readableBytes == 0, let end else { return }
        self.transfer.finishBody(trailers: end)
        self.stop()
    }
}
