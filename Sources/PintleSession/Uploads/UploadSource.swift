// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleSerialization
internal import PintleSystem

/// The source of the bytes of a request's body.
///
/// A body may have to be sent more than once: after a redirect that keeps the method, after a challenge, or after a
/// connection broke. Bytes, files, forms and sequences that can be made again are read again; for any other source the
/// hook ``SessionHooks/needsBody`` is asked.
public enum UploadSource: Sendable {
    /// Bytes in memory.
    case bytes(ByteBuffer)
    /// A regular file, read while it is sent.
    case file(path: String)
    /// Bytes that arrive while the task runs.
    case stream(BodyStream)
    /// Parts of `multipart/form-data` (RFC 7578). Content-Type is set unless the request has one.
    case multipart(MultipartForm)
}

/// A body that arrives piece by piece.
public struct BodyStream: Sendable {
    /// Length in bytes; if nil, it is unknown and the body is sent chunked. The task fails if the stream ends early, or
    /// if it has more bytes before the server has answered.
    public let length: UInt64?
    private let source: Source

    private enum Source: Sendable {
        case once(Locked<(@Sendable () -> any UploadReader)?>)
        case again(@Sendable () -> any UploadReader)
    }

    /// Makes a body of a sequence that can be read once.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: UInt64? = nil)
    where Pieces.Element == ByteBuffer, Pieces.AsyncIterator: SendableMetatype {
        self.length = length
        let open: @Sendable () -> any UploadReader = { SequenceReader(pieces.makeAsyncIterator()) }
        self.source = .once(Locked(open))
    }

    /// Makes a body of a sequence that can be made again.
    public init<Pieces: AsyncSequence & SendableMetatype>(
        length: UInt64? = nil, making pieces: @escaping @Sendable () -> Pieces
    )
    where Pieces.Element == ByteBuffer, Pieces.AsyncIterator: SendableMetatype {
        self.length = length
        self.source = .again { SequenceReader(pieces().makeAsyncIterator()) }
    }

    /// True if the body can be read more than once.
    var isReplayable: Bool {
        if case .again = self.source { true } else { false }
    }

    /// Returns a reader from the beginning, or nil if the only one is used up.
    func open() -> (any UploadReader)? {
        switch self.source {
        case .again(let make): return make()
        case .once(let box):
            let make = box.withLock { make in
                defer { make = nil }
                return make
            }
            return make?()
        }
    }
}
