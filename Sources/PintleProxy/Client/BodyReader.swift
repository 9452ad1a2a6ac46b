// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// Extracts the body of a request from received bytes.
struct BodyReader {
    enum Step {
        /// More bytes are needed.
        case waiting
        case data(ByteBuffer)
        case end(trailers: Fields)
    }

    private var decoder: BodyDecoder

    init(_ framing: BodyFraming, limits: HeadLimits) {
        self.decoder = BodyDecoder(framing, of: .request, limits: limits)
    }

    /// True if a body with a length is complete except for its end step.
    var isAtEnd: Bool { self.decoder.isOver }

    /// The number of missing bytes of a body whose length is known; nil if it is unknown, or if nothing is missing.
    var missingBytes: UInt64? { self.decoder.missingBytes }

    /// Notes that bytes of the body took another way; at most the missing ones.
    mutating func skip(_ count: Int) { self.decoder.skip(count) }

    /// Takes one piece from the front of `inbox`.
    mutating func next(_ inbox: inout ByteBuffer) throws(WireError) -> Step {
        var offset = 0
        var result: Result<Range<Int>?, WireError> = .success(nil)
        inbox.withUnsafeReadableBytes { bytes in
            result = Result { () throws(WireError) in try self.decoder.next(bytes, from: &offset) }
        }
        guard let piece = try result.get() else {
            inbox.moveReaderIndex(forwardBy: offset)
            return self.decoder.isOver ? .end(trailers: self.decoder.trailers) : .waiting
        }
        inbox.moveReaderIndex(forwardBy: piece.lowerBound)
        return inbox.copiedSlice(piece.count).map { .data($0) } ?? .waiting
    }
}

extension ByteBuffer {
    /// Copies bytes into memory of their own, because the receive buffer is reused at once.
    fileprivate mutating func copiedSlice(_ count: Int) -> ByteBuffer? {
        guard let slice = self.readSlice(length: count) else { return nil }
        return slice.withUnsafeReadableBytes { ByteBuffer(bytes: $0) }
    }
}
