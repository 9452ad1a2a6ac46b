// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession

/// Sends a request's body at a route's pace: packets of a size, and a rest after each.
///
/// It lives on the loop of its exchange, which it asks for more when a packet has left. What the origin has not taken
/// counts as waiting, too: a pace is no reason to pile up a body for who does not read.
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

    /// How much waits for its turn, here or at the transfer.
    var waitingBytes: Int { self.waiting.readableBytes + self.transfer.unsentBodyBytes }

    func send(_ bytes: ByteBuffer) {
        if self.waiting.readableBytes == 0 {
            self.waiting = bytes
        } else {
            self.waiting.discardReadBytes()
            self.waiting.writeImmutableBuffer(bytes)
        }
        self.sendPacket()
    }

    /// The origin has taken some of the body.
    func proceed() { self.sendPacket() }

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
        let count = min(self.packet, self.waiting.readableBytes)
        if count > 0 {
            guard self.transfer.unsentBodyBytes < Exchange.window else { return }
            // A copy: a slice would keep all of a large body for as long as the packet waits.
            self.transfer.send(ByteBuffer(bytes: self.waiting.readableBytesView.prefix(count)))
            self.waiting.moveReaderIndex(forwardBy: count)
            if self.waiting.readableBytes > 0 || self.end == nil {
                return self.loop.arm(timer, at: self.loop.turnTime + self.delay)
            }
        }
        guard self.waiting.readableBytes == 0, let end else { return }
        self.transfer.finishBody(trailers: end)
        self.stop()
    }
}
