// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// Sends a request's body at a route's pace: packets of a fixed size, with a pause after each.
///
/// It asks the client for more when a packet was sent, and is used on one event loop. Bytes that the origin has not taken count
/// as waiting, too, so that a slow origin does not cause a body to pile up.
final class BodyThrottle {
    private let packet: Int
    private let delay: TimeAmount
    private let origin: any OriginStream
    private let client: any ClientStream
    private let loop: Loop
    private var waiting = ByteBuffer()
    /// The trailers, once the body has ended.
    private var end: Fields?
    private var timer: LoopTimer?

    /// Keeps the streams until ``stop()`` or the end of the body.
    ///
    /// - Returns: nil if the route has no pace.
    init?(_ route: Route?, to origin: any OriginStream, on loop: Loop, client: any ClientStream) {
        guard let pace = route?.configuration.request.throttle else { return nil }
        self.packet = pace.packet
        self.delay = TimeAmount(pace.delay)
        self.origin = origin
        self.client = client
        self.loop = loop
        self.timer = LoopTimer { [weak self] in self?.rested() }
    }

    /// The waiting bytes, here and in the origin's stream.
    var waitingBytes: Int { self.waiting.readableBytes + self.origin.unsentBodyBytes }

    func send(_ bytes: ByteBuffer) {
        if self.waiting.readableBytes == 0 {
            self.waiting = bytes
        } else {
            self.waiting.discardReadBytes()
            self.waiting.writeImmutableBuffer(bytes)
        }
        self.sendPacket()
    }

    /// Continues when the origin has taken some of the body.
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
        self.client.resumeBody()
    }

    private func sendPacket() {
        // The throttle was stopped, or the next packet is not due yet.
        guard let timer, !timer.isArmed else { return }
        let count = min(self.packet, self.waiting.readableBytes)
        if count > 0 {
            // `proceed` is called when the origin has taken some bytes.
            guard self.origin.unsentBodyBytes < RequestUpload.window else { return }
            // A copy, because a slice would keep the whole of a large body while the packet waits.
            let packet = ByteBuffer(bytes: self.waiting.readableBytesView.prefix(count))
            self.waiting.moveReaderIndex(forwardBy: count)
            self.origin.send(packet)
            // The origin may have ended the exchange within this call.
            if self.timer == nil { return }
            if self.waiting.readableBytes > 0 || self.end == nil {
                return self.loop.arm(timer, at: self.loop.turnTime + self.delay)
            }
        }
        // More bytes will come, or the timer will send those that wait.
        guard self.waiting.readableBytes == 0, let end else { return }
        self.origin.finishBody(trailers: end)
        self.stop()
    }
}
