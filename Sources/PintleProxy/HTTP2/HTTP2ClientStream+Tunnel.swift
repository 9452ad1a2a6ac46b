// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import PintleMessage
internal import PintleSession

/// The stream as a tunnel's (RFC 9113 §8.5).
extension HTTP2ClientStream {
    /// Answers, and lets a tunnel have the bytes: those that have come, and those that follow.
    func becomeTunnel(answering head: ResponseHead) -> HTTP2StreamSocket {
        self.write(.headers(.init(headers: HPACKHeaders(head, length: nil))))
        var bytes: CircularBuffer<ByteBuffer> = []
        for piece in self.waiting {
            switch piece {
            case .bytes(let piece): bytes.append(piece)
            case .end: self.hasRequest = true
            }
        }
        self.waiting.removeAll()
        self.took(self.untaken)
        let socket = HTTP2StreamSocket(self, on: self.lane.loop, waiting: bytes, hasEnded: self.hasRequest)
        self.socket = socket
        self.expectation = .nothing
        if bytes.isEmpty || self.hasRequest { self.ask() }
        return socket
    }

    func takeMore() { self.ask() }

    func sendThroughTunnel(_ bytes: UnsafeRawBufferPointer) { self.write(content: bytes) }

    func endTunnelOutput() {
        let sent = self.lane.loop.makePromise(of: Void.self)
        self.tunnelEnd = sent.futureResult
        self.write(.end, promise: sent)
    }

    /// Nobody takes anything any more, and all that is sent is sent.
    ///
    /// - Parameter hasInput: whether the client has not ended its side.
    func closeTunnel(hasInput: Bool) {
        self.socket = nil
        if hasInput, let tunnelEnd { self.stopInput(when: tunnelEnd) }
    }

    /// The tunnel ended without an end in order.
    func breakTunnel() {
        self.socket = nil
        self.reset(.connectError)
    }
}
