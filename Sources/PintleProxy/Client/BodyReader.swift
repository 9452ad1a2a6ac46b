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

    private var decoder: BodyDecoder

    init(_ framing: BodyFraming, limits: HeadLimits) {
        self.decoder = BodyDecoder(framing, of: .request, limits: limits)
    }

    /// True where nothing but the end is left of a body with a length.
    var isAtEnd: Bool { self.decoder.isOver }

    /// The bytes that are missing of a body whose length is known; nil if it is not, or nothing is missing.
    var missingBytes: UInt64? { self.decoder.missingBytes }

    /// Notes that bytes went another way, at most those that are missing.
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
    /// Takes bytes out with memory of their own: the receive buffer is used again at once.
    fileprivate mutating func copiedSlice(_ count: Int) -> ByteBuffer? {
        guard let slice = self.readSlice(length: count) else { return nil }
        return slice.withUnsafeReadableBytes { ByteBuffer(bytes: $0) }
    }
}
