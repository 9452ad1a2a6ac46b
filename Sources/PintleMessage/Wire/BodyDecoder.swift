// SPDX-License-Identifier: Apache-2.0

/// Extracts the body of one message from the bytes on the wire.
package struct BodyDecoder: Sendable {
    /// The framing of the rest of the body.
    private enum State: Sendable {
        case unlimited
        case length(left: UInt64)
        case chunks(ChunkedDecoder)
        /// The end of the body has been read; `hasExcess` is true if bytes follow it.
        case over(hasExcess: Bool)
    }

    private var state: State
    /// The fields after the body.
    package private(set) var trailers = Fields()

    /// - Parameters:
    ///   - kind: the kind of the message.
    ///   - limits: limits for the bytes between chunks and for the trailers.
    package init(_ framing: BodyFraming, of kind: MessageKind, limits: HeadLimits) {
        switch framing {
        case .none, .length(0): self.state = .over(hasExcess: false)
        case .length(let length): self.state = .length(left: length)
        case .chunked: self.state = .chunks(ChunkedDecoder(of: kind, limits: limits))
        case .untilClose: self.state = .unlimited
        }
    }

    /// Returns the next piece of the body in `bytes` from `offset` on, and moves `offset` past the bytes it has read; nil
    /// if there is no more in them.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(WireError) -> Range<Int>? {
        switch self.state {
        case .unlimited:
            defer { offset = bytes.count }
            return offset < bytes.count ? offset..<bytes.count : nil
        case .length(let left):
            guard offset < bytes.count else { return nil }
            let count = Int(min(left, UInt64(bytes.count - offset)))
            let piece = offset..<offset + count
            offset += count
            self.state = left > UInt64(count) ? .length(left: left - UInt64(count)) : .over(hasExcess: false)
            return piece
        case .chunks(var chunks):
            let step = try chunks.next(bytes, from: &offset)
            switch step {
            case .data(let piece):
                self.state = .chunks(chunks)
                return piece
            case .needMore:
                self.state = .chunks(chunks)
                return nil
            case .end(let end, let trailers):
                self.trailers = trailers
                self.state = .over(hasExcess: end < bytes.count)
                return nil
            }
        case .over(let hasExcess):
            self.state = .over(hasExcess: hasExcess || offset < bytes.count)
            return nil
        }
    }

    /// The number of missing bytes of a body with a known length; nil if none are missing, or the length is unknown.
    package var missingBytes: UInt64? { if case .length(let left) = self.state { left } else { nil } }

    /// Notes that `count` bytes of the body, at most the missing ones, were transferred without this decoder.
    package mutating func skip(_ count: Int) {
        guard case .length(let left) = self.state, UInt64(count) <= left else {
            preconditionFailure("BUG: bytes are left out that are not missing")
        }
        self.state = left > UInt64(count) ? .length(left: left - UInt64(count)) : .over(hasExcess: false)
    }

    /// True if the body ends when the connection ends.
    package var isUnlimited: Bool { if case .unlimited = self.state { true } else { false } }

    /// True if chunks are missing.
    package var lacksChunks: Bool { if case .chunks = self.state { true } else { false } }

    /// True if the end of the body was read, by its length or in its chunks.
    package var isOver: Bool { if case .over = self.state { true } else { false } }

    /// True if there were bytes after the end of the body.
    package var hasExcess: Bool { if case .over(hasExcess: true) = self.state { true } else { false } }
}
