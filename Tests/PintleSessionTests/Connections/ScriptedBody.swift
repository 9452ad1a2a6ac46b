// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage

@testable import PintleSession

/// A body whose bytes a test gives.
final class ScriptedBody {
    var pieces: [String]
    var isComplete = true
    var trailersToSend = Fields()

    init(for body: TransferRequest.Body, pieces: [String] = []) {
        switch body {
        case .none, .stream(length: 0): self.pieces = []
        case .bytes(let bytes): self.pieces = [String(buffer: bytes)]
        case .stream: self.pieces = pieces
        }
    }

    var nextStep: BodyStep { self.pieces.isEmpty ? self.isComplete ? .end : .wait : .bytes }

    func takeBody(_ body: (UnsafeRawBufferPointer) -> Int) -> Int {
        guard var first = self.pieces.first else { return 0 }
        let count = first.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        first.removeFirst(count)
        if first.isEmpty { self.pieces.removeFirst() } else { self.pieces[0] = first }
        return count
    }
}

/// The connection's part.
extension HTTP1Machine {
    /// Begins as the connection does: a small body goes with the head.
    func begin(_ asked: AskedRequest, sending source: ScriptedBody) {
        self.begin(asked, to: nil)
        if self.takesBodyWithHead, source.nextStep == .bytes { _ = source.takeBody { self.stageBody($0) } }
    }

    func output(of source: ScriptedBody) -> Output { self.output(self.asksForBody ? source.nextStep : .wait) }

    /// Sends to a socket that takes at most `room` bytes at once.
    ///
    /// - Returns: the bytes on the wire.
    func sendAll(of source: ScriptedBody, room: Int = .max, steps: Int = .max) -> [UInt8] {
        var wire: [UInt8] = []
        for _ in 0..<steps {
            switch self.output(of: source) {
            case .nothing, .cut: return wire
            case .chunk: _ = source.takeBody { self.stageChunk($0) }
            case .lastChunk: self.stageLastChunk(source.trailersToSend)
            case .staged:
                let bytes = self.staged.readableBytesView.prefix(room)
                wire += bytes
                self.sentStaged(bytes.count)
            case .body(let limit):
                let count = source.takeBody { bytes in
                    let taken = min(bytes.count, room, Int(clamping: limit))
                    wire += bytes.prefix(taken)
                    return taken
                }
                self.sentBody(count)
            }
        }
        return wire
    }
}
