// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintlePolicy
internal import PintleSession
internal import PintleWebSocket

/// Masks the messages of a WebSocket whose server may repeat the values of credentials.
///
/// Stars are as long as what they cover, so frames keep their headers. A value may be divided among the fragments of a message: then
/// the first of them waits for the others, and so does all that came after it.
final class MessageMask {
    /// The payloads of one kind: those of data frames, or those of control frames.
    private struct Lane {
        var mask: EchoMask
        /// The places in `waiting` of the bytes that the mask has not passed on.
        var places: CircularBuffer<Range<Int>> = []

        mutating func take(_ piece: UnsafeRawBufferPointer, endsMessage: Bool, _ waiting: inout [UInt8]) {
            let start = waiting.count
            waiting += piece
            if !piece.isEmpty { self.places.append(start..<waiting.count) }
            var places: CircularBuffer<Range<Int>> = []
            swap(&places, &self.places)
            self.mask.take(piece) { Self.write($0, to: &places, of: &waiting) }
            if endsMessage { self.mask.finish { Self.write($0, to: &places, of: &waiting) } }
            swap(&places, &self.places)
        }

        /// Writes masked bytes in their places.
        private static func write(
            _ bytes: UnsafeRawBufferPointer, to places: inout CircularBuffer<Range<Int>>, of waiting: inout [UInt8]
        ) {
            var rest = bytes
            while !rest.isEmpty {
                let place = places.removeFirst()
                let count = min(place.count, rest.count)
                let end = place.lowerBound + count
                waiting.replaceSubrange(place.lowerBound..<end, with: rest.prefix(count))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                if end < place.upperBound { places.prepend(end..<place.upperBound) }
            }
        }

        mutating func moveForward(by count: Int) {
            for index in self.places.indices {
                let place = self.places[index]
                self.places[index] = place.lowerBound - count..<place.upperBound - count
            }
        }
    }

    private var walk = FrameWalk()
    private var messages: Lane
    private var controls: Lane
    /// The bytes that have come and were not passed on.
    private var waiting: [UInt8] = []

    /// The most bytes that wait: far more than a value and the frames that it may be divided among.
    private static let mostWaiting = 64 << 10

    /// - Parameter mask: makes a mask for a stream of bytes.
    init(_ mask: () -> EchoMask) { (self.messages, self.controls) = (Lane(mask: mask()), Lane(mask: mask())) }
}

extension MessageMask: HandedOverFilter {
    func take(_ bytes: ByteBuffer) throws(HandedOverRefusal) -> ByteBuffer {
        let taken = bytes.withUnsafeReadableBytes { bytes in
            Result { () throws(WebSocketViolation) in try self.walk(through: bytes) }
        }
        if case .failure(let violation) = taken {
            throw HandedOverRefusal("its messages cannot be searched for credentials: \(violation)")
        }
        let end = min(
            self.messages.places.first?.lowerBound ?? self.waiting.count,
            self.controls.places.first?.lowerBound ?? self.waiting.count)
        guard self.waiting.count - end <= Self.mostWaiting else {
            throw HandedOverRefusal("a message is divided so that it cannot be searched for credentials")
        }
        let passed = ByteBuffer(bytes: self.waiting[..<end])
        self.waiting.removeFirst(end)
        self.messages.moveForward(by: end)
        self.controls.moveForward(by: end)
        return passed
    }

    private func walk(through bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        var rest = bytes
        while let part = try self.walk.next(in: rest) {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(part.count))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
            switch part {
            case .header: self.waiting += piece
            case .payload(_, isControl: true, let endsMessage):
                self.controls.take(piece, endsMessage: endsMessage, &self.waiting)
            case .payload(_, isControl: false, let endsMessage):
                self.messages.take(piece, endsMessage: endsMessage, &self.waiting)
            }
        }
    }
}
