// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession

/// Writes the response, in the framing of HTTP/1.1.
extension ClientConnection: ClientStream {
    var isSecure: Bool { self.tls != nil }
    var isWritable: Bool { self.channel.isWritable }

    func send(interim head: ResponseHead) {
        // HTTP/1.0 has none (RFC 9110 §15.2).
        if self.answer.minorVersion == 1 { self.write { $0.writeInterim(head) } }
    }

    func send(_ head: ResponseHead, length: UInt64?) {
        let mayKeepAlive = self.requests.mayContinue && !self.worker.isDraining
        let framing = self.answer.begin(head, length: length, mayKeepAlive: mayKeepAlive)
        let (keepsAlive, minorVersion) = (self.answer.keepsAlive, self.answer.minorVersion)
        self.write { $0.writeHead(head, framing: framing, keepAlive: keepsAlive, minorVersion: minorVersion) }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch self.answer.framing {
        case nil: preconditionFailure("BUG: a body is written before its head")
        case .some(.none): return 0
        case .length:
            self.answer.note(written: bytes.count)
            self.write { self.write(bytes, behind: &$0) }
        case .chunked:
            // An empty chunk would end the body.
            if bytes.count == 0 { return 0 }
            self.write { output in
                output.writeChunkSize(bytes.count)
                self.write(bytes, behind: &output)
                output.writeStaticString("\r\n")
            }
        case .untilClose: self.write { self.write(bytes, behind: &$0) }
        }
        return bytes.count
    }

    var takesPipes: Bool { if case .length = self.answer.framing { self.channel.takesPipes } else { false } }

    func send(_ piped: PipedBytes) -> Int {
        // Gathered bytes go first, and the end of the turn is awaited: then the exchange hears if the client lags or has left.
        self.write { _ in }
        // It has left already.
        if self.requests.hasEnded { return 0 }
        self.output.startSending()
        self.flush()
        let count = self.channel.send(piped)
        self.output.endSending()
        self.answer.note(written: count)
        return count
    }

    func finish(trailers: Fields) {
        self.answer.finish()
        if self.answer.framing == .chunked { self.write { $0.writeLastChunk(trailers) } }
        self.answered(keepAlive: self.answer.keepsAlive)
    }

    /// Ends the connection within a response, so that the client sees that it is incomplete (invariant 4).
    func cut() {
        switch self.answer.framing {
        case .length, .chunked, .some(.none):
            // The close contradicts the framing, so the response is visibly incomplete; sent bytes still arrive.
            self.flush()
            self.closeGently()
        case .untilClose, nil: self.abort()
        }
    }

    /// Resets the connection after it has sent what the system takes.
    func reset() {
        self.flush()
        self.abort()
    }

    func resumeBody() {
        self.process()
        self.channel.goOnMoving()
    }
}
