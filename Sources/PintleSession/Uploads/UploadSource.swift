// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
public import NIOCore
public import PintleMessage

/// Where the bytes of a request's body come from.
///
/// A body may have to be sent more than once: after a redirect that keeps the method, a challenge, or a connection that
/// broke. Bytes, files, forms and sequences that can be made again are; for any other the hook
/// ``SessionHooks/needsBody`` is asked.
public enum UploadSource: Sendable {
    /// They are in memory.
    case bytes(ByteBuffer)
    /// They are in a regular file, read as they are sent.
    case file(path: String)
    /// They arrive while the task runs.
    case stream(BodyStream)
    /// Parts of `multipart/form-data` (RFC 7578). Content-Type is set unless the request has one.
    case multipart(MultipartForm)
}

/// A body that arrives piece by piece.
public struct BodyStream: Sendable {
    /// In bytes; nil while it is unknown, and the body goes chunked. A stream that ends early fails the task, as does one
    /// that has more before the server has answered.
    public let length: UInt64?
    private let source: Source

    private enum Source: Sendable {
        case once(NIOLockedValueBox<(@Sendable () -> any BodyReader)?>)
        case again(@Sendable () -> any BodyReader)
    }

    /// Makes a body of a sequence that can be read once.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: UInt64? = nil)
    where Pieces.Element == ByteBuffer, Pieces.AsyncIterator: SendableMetatype {
        self.length = length
        let open: @Sendable () -> any BodyReader = { SequenceReader(pieces.makeAsyncIterator()) }
        self.source = .once(NIOLockedValueBox(open))
    }

    /// Makes a body of a sequence that can be made again.
    public init<Pieces: AsyncSequence & SendableMetatype>(
        length: UInt64? = nil, making pieces: @escaping @Sendable () -> Pieces
    )
    where Pieces.Element == ByteBuffer, Pieces.AsyncIterator: SendableMetatype {
        self.length = length
        self.source = .again { SequenceReader(pieces().makeAsyncIterator()) }
    }

    /// Whether the body can be had more than once.
    var isReplayable: Bool {
        if case .again = self.source { true } else { false }
    }

    /// A reader from the beginning, or nil where the only one is used up.
    func open() -> (any BodyReader)? {
        switch self.source {
        case .again(let make): return make()
        case .once(let box):
            let make = box.withLockedValue { make in
                defer { make = nil }
                return make
            }
            return make?()
        }
    }
}
