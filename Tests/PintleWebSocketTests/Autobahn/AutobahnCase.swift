// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// A case of the Autobahn test suite for WebSockets, by its number there: the frames that a peer sends to an end that
/// echoes every message, and those it must get.
struct AutobahnCase: Sendable, CustomTestStringConvertible {
    typealias Frame = WebSocketPeer.Frame

    enum Step: Sendable {
        /// Frames that are sent together, or cut into pieces of this many bytes.
        case send([Frame], pieces: Int? = nil)
        /// Bytes that are no whole frame, of a payload that is masked with the others of its frame.
        case part(Frame, Range<Int>)
        /// Waits until this many replies have come.
        case await(Int)
    }

    enum Ending: Sendable {
        /// The peer closes with 1000 when the replies are there, and must be answered with it.
        case byPeer
        /// The peer has closed as its last step, and is answered with one of these codes; nil for a Close without a code.
        case answered([UInt16?])
        /// The other end must close, with one of these codes.
        case failed([UInt16])
        /// The other end may do anything, as long as there is an end.
        case any
    }

    let number: String
    let steps: [Step]
    let replies: [Frame]
    let ending: Ending

    init(_ number: String, _ steps: [Step], replies: [Frame] = [], _ ending: Ending = .byPeer) {
        (self.number, self.steps, self.replies, self.ending) = (number, steps, replies, ending)
    }

    var testDescription: String { self.number }
}

/// The outcome of a case.
struct AutobahnOutcome: Sendable {
    /// Messages, pongs and other frames but for the Close, with the fragments of a message put together.
    var replies: [WebSocketPeer.Frame] = []
    /// The Close that came; nil if none did.
    var close: WebSocketPeer.Frame?
    /// Frames that came after a Close.
    var late: [WebSocketPeer.Frame] = []
    /// A message whose last fragment has not come.
    private var begun: WebSocketPeer.Frame?

    mutating func take(_ frame: WebSocketPeer.Frame) {
        var frame = frame
        frame.mask = []
        if self.close != nil {
            self.late.append(frame)
        } else if frame.opcode == 8 {
            self.close = frame
        } else if frame.opcode >= 8 {
            self.replies.append(frame)
        } else {
            var message = self.begun ?? frame
            if self.begun != nil { message.payload += frame.payload }
            message.isFinal = frame.isFinal
            self.begun = frame.isFinal ? nil : message
            if frame.isFinal { self.replies.append(message) }
        }
    }

    /// Compares the result with the demands of the case.
    func check(_ test: AutobahnCase, sourceLocation: SourceLocation = #_sourceLocation) {
        switch test.ending {
        case .any: return
        case .byPeer:
            #expect(self.close?.code == 1000, "\(test.number): \(self)", sourceLocation: sourceLocation)
        case .answered(let codes):
            #expect(
                self.close.map { codes.contains($0.code) } == true, "\(test.number): \(self)",
                sourceLocation: sourceLocation)
        case .failed(let codes):
            #expect(
                self.close.map { $0.code.map(codes.contains) ?? false } == true, "\(test.number): \(self)",
                sourceLocation: sourceLocation)
        }
        #expect(self.replies == test.replies, "\(test.number)", sourceLocation: sourceLocation)
        #expect(self.late.isEmpty, "\(test.number): \(self)", sourceLocation: sourceLocation)
    }
}

extension WebSocketPeer.Frame {
    static func text(_ text: String, isFinal: Bool = true, reserved: UInt8 = 0) -> Self {
        Self(1, Array(text.utf8), isFinal: isFinal, reserved: reserved)
    }

    static func text(_ bytes: [UInt8], isFinal: Bool = true) -> Self { Self(1, bytes, isFinal: isFinal) }

    static func binary(_ bytes: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0) -> Self {
        Self(2, bytes, isFinal: isFinal, reserved: reserved)
    }

    static func more(_ text: String, isFinal: Bool = true) -> Self { Self(0, Array(text.utf8), isFinal: isFinal) }
    static func more(_ bytes: [UInt8], isFinal: Bool = true) -> Self { Self(0, bytes, isFinal: isFinal) }
    static func ping(_ text: String = "", isFinal: Bool = true) -> Self { Self(9, Array(text.utf8), isFinal: isFinal) }
    static func ping(_ bytes: [UInt8]) -> Self { Self(9, bytes) }
    static func pong(_ text: String = "", isFinal: Bool = true) -> Self { Self(10, Array(text.utf8), isFinal: isFinal) }
    static func pong(_ bytes: [UInt8]) -> Self { Self(10, bytes) }

    /// `payload` in fragments of `size` bytes.
    static func fragments(of payload: [UInt8], opcode: UInt8, size: Int) -> [Self] {
        let starts = payload.isEmpty ? [0] : Array(stride(from: 0, to: payload.count, by: size))
        return starts.map { start in
            let end = min(start + size, payload.count)
            return Self(start == 0 ? opcode : 0, Array(payload[start..<end]), isFinal: end == payload.count)
        }
    }
}

/// A payload of this many bytes, made of a pattern.
func repeated(_ pattern: [UInt8], _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + pattern.count)
    while bytes.count < count { bytes += pattern }
    return Array(bytes.prefix(count))
}

func repeated(_ pattern: String, _ count: Int) -> [UInt8] { repeated(Array(pattern.utf8), count) }
