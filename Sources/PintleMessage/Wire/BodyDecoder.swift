// SPDX-License-Identifier: Apache-2.0

/// Takes the body of one message out of bytes as they are on the wire.
package struct BodyDecoder: Sendable {
    /// The end of the body, as far as it is known.
    private enum State: Sendable {
        case unlimited
        case length(left: UInt64)
        case chunks(ChunkedDecoder)
        /// The end was there, and perhaps something behind it.
        case over(hasExcess: Bool)
    }

    private var state: State
    /// The fields behind the body.
    package private(set) var trailers = Fields()

    /// - Parameters:
    ///   - kind: of the message.
    ///   - limits: for what stands between chunks and behind them.
    package init(_ framing: BodyFraming, of kind: MessageKind, limits: HeadLimits) {
        switch framing {
        case .none, .length(0): self.state = .over(hasExcess: false)
        case .length(let length): self.state = .length(left: length)
        case .chunked: self.state = .chunks(ChunkedDecoder(of: kind, limits: limits))
        case .untilClose: self.state = .unlimited
        }
    }

    /// Takes the next piece out of `bytes` from `offset` on, which is moved past what was understood; nil when there is no
    /// more in them.
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

    /// The bytes that are missing of a body whose length is known; nil where there is none, or no end of it is known.
    package var missingBytes: UInt64? { if case .length(let left) = self.state { left } else { nil } }

    /// Notes that so many bytes went another way, at most those that are missing.
    package mutating func skip(_ count: Int) {
        guard case .length(let left) = self.state, UInt64(count) <= left else {
            preconditionFailure("BUG: bytes are left out that are not missing")
        }
        self.state = left > UInt64(count) ? .length(left: left - UInt64(count)) : .over(hasExcess: false)
    }

    /// True where the end of the connection is the end of the body.
    package var isUnlimited: Bool { if case .unlimited = self.state { true } else { false } }

    /// True where chunks are missing.
    package var lacksChunks: Bool { if case .chunks = self.state { true } else { false } }

    /// True where the end of the body was there, by its length or in its chunks.
    package var isOver: Bool { if case .over = self.state { true } else { false } }

    /// True where bytes were looked at that are behind the end of the body.
    package var hasExcess: Bool { if case .over(hasExcess: true) = self.state { true } else { false } }
}
