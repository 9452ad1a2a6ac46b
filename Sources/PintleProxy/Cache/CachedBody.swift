// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache

/// The body of a cached response, as one client reads it.
struct CachedBody {
    private enum Source {
        /// The whole body is in memory, as long as the `SharedBody` exists.
        case pieces(ArraySlice<ByteBuffer>, SharedBody)
        /// The body is on disk.
        case stored(SharedBody, SharedBody.Reader)
        /// The body arrives from the origin.
        case fetched(FetchedResponse<ProxyCacheHost>, SharedBody.Reader)
    }

    private var source: Source
    /// The bytes still to be skipped, and those still to be delivered.
    private var skipped: UInt64 = 0
    private var left = UInt64.max

    /// A part of a stored body.
    init(_ entry: SharedCache.Entry, _ range: Range<UInt64>) {
        self.left = range.upperBound - range.lowerBound
        if entry.isInMemory {
            self.source = .pieces(entry.pieces[...], entry.body)
            self.skipped = range.lowerBound
        } else {
            guard let reader = entry.body.open(at: range.lowerBound) else {
                preconditionFailure("BUG: a body on disk has no beginning")
            }
            self.source = .stored(entry.body, reader)
        }
    }

    init(_ response: FetchedResponse<ProxyCacheHost>, _ reader: SharedBody.Reader) {
        self.source = .fetched(response, reader)
    }

    /// Takes the next piece.
    ///
    /// - Parameter wake: called once, on any thread, when there is more; only if the result is `.wait`.
    mutating func next(wake: @escaping @Sendable () -> Void) -> SharedBody.Next {
        while self.left > 0 {
            let next = self.nextOfSource(wake)
            guard case .piece(var piece) = next else { return next }
            let skipped = min(self.skipped, UInt64(piece.readableBytes))
            piece.moveReaderIndex(forwardBy: Int(skipped))
            self.skipped -= skipped
            if UInt64(piece.readableBytes) > self.left {
                piece.moveWriterIndex(to: piece.readerIndex + Int(self.left))
            }
            self.left -= UInt64(piece.readableBytes)
            if piece.readableBytes > 0 { return .piece(piece) }
        }
        return .end(nil)
    }

    private mutating func nextOfSource(_ wake: @escaping @Sendable () -> Void) -> SharedBody.Next {
        switch self.source {
        case .pieces(var pieces, let body):
            guard let piece = pieces.popFirst() else { return .end(nil) }
            self.source = .pieces(pieces, body)
            return .piece(piece)
        case .stored(let body, let reader): return body.next(reader, wake: wake)
        case .fetched(let response, let reader): return response.body.next(reader, wake: wake)
        }
    }

    /// Closes the reader.
    func close(in cache: SharedCache, at key: CacheKey?) {
        switch self.source {
        case .pieces: break
        case .stored(let body, let reader): _ = body.close(reader)
        case .fetched(let response, let reader):
            guard let key else { preconditionFailure("BUG: a response without a key was fetched") }
            cache.close(reader, of: response, at: key)
        }
    }
}
