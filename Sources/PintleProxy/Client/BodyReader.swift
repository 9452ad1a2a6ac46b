// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// Takes a body out of what is received: a request's, or that of an answer to an offer of another protocol.
struct BodyReader {
    enum Step {
        /// There is nothing to take yet.
        case waiting
        case data(ByteBuffer)
        case end(trailers: Fields)
    }

    private enum Framing {
        case length(left: UInt64)
        case chunked(ChunkedDecoder)
    }

    private var framing: Framing

    init(_ framing: BodyFraming, limits: HeadLimits) {
        switch framing {
        case .length(let length): self.framing = .length(left: length)
        case .chunked: self.framing = .chunked(ChunkedDecoder(limits: limits))
        case .none: self.framing = .length(left: 0)
        // The end is seen by who reads the connection.
        case .untilClose: self.framing = .length(left: .max)
        }
    }

    /// True where nothing but the end is left of a body with a length.
    var isAtEnd: Bool { if case .length(left: 0) = self.framing { true } else { false } }

    /// Takes one piece from the front of `inbox`.
    mutating func next(_ inbox: inout ByteBuffer) throws(WireError) -> Step {
        switch self.framing {
        case .length(let left):
            guard left > 0 else { return .end(trailers: Fields()) }
            let count = Int(min(left, UInt64(inbox.readableBytes)))
            guard count > 0, let piece = inbox.copiedSlice(count) else { return .waiting }
            self.framing = .length(left: left - UInt64(count))
            return .data(piece)
        case .chunked(var decoder):
            var offset = 0
            var result: Result<ChunkedDecoder.Step, WireError> = .success(.needMore)
            inbox.withUnsafeReadableBytes { bytes in
                result = Result { () throws(WireError) in try decoder.next(bytes, from: &offset) }
            }
            let step = try result.get()
            self.framing = .chunked(decoder)
            switch step {
            case .needMore:
                inbox.moveReaderIndex(forwardBy: offset)
                return .waiting
            case .data(let range):
                inbox.moveReaderIndex(forwardBy: range.lowerBound)
                return inbox.copiedSlice(range.count).map { .data($0) } ?? .waiting
            case .end(let end, let trailers):
                inbox.moveReaderIndex(forwardBy: end)
                return .end(trailers: trailers)
            }
        }
    }
}

extension ByteBuffer {
    /// Takes bytes out with memory of their own: the receive buffer is used again at once.
    fileprivate mutating func copiedSlice(_ count: Int) -> ByteBuffer? {
        guard let slice = self.readSlice(length: count) else { return nil }
        return slice.withUnsafeReadableBytes { ByteBuffer(bytes: $0) }
    }
}
