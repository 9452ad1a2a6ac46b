// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import PintleMessage
internal import PintleSession

/// A stream that is used as a tunnel (RFC 9113 §8.5).
extension HTTP2ClientStream {
    /// Sends the response head, and turns the stream into a socket for a tunnel, with the bytes that have arrived.
    func becomeTunnel(answering head: ResponseHead) -> HTTP2StreamSocket {
        self.write(.headers(.init(headers: HPACKHeaders(head, length: nil))))
        var bytes: CircularBuffer<ByteBuffer> = []
        for piece in self.waiting {
            switch piece {
            case .bytes(let piece): bytes.append(piece)
            case .end: self.input = .taken
            }
        }
        self.waiting.removeAll()
        self.took(self.untaken)
        let socket = HTTP2StreamSocket(self, on: self.worker.loop, waiting: bytes, hasEnded: self.isTaken)
        self.socket = socket
        self.expectation = .nothing
        if bytes.isEmpty || self.isTaken { self.ask() }
        return socket
    }

    func takeMore() { self.ask() }

    func sendThroughTunnel(_ bytes: UnsafeRawBufferPointer) { self.write(content: bytes) }

    func endTunnelOutput() {
        let sent = self.worker.loop.makePromise(of: Void.self)
        self.tunnelEnd = sent.futureResult
        self.write(.end, promise: sent)
    }

    /// Closes the tunnel's end: its output is complete, and no more input is read.
    ///
    /// - Parameter hasInput: true if the client has not ended its side.
    func closeTunnel(hasInput: Bool) {
        self.socket = nil
        if hasInput, let tunnelEnd { self.stopInput(when: tunnelEnd) }
    }

    /// Resets the stream, because the tunnel broke off.
    func breakTunnel() {
        self.socket = nil
        self.reset(.connectError)
    }
}
