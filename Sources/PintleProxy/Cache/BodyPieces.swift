// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache

/// A sequence of bytes in pieces that are not too small: each piece has overhead, and may hold a buffer longer than the piece.
struct BodyPieces {
    private(set) var all: [ByteBuffer] = []
    /// The number of bytes.
    private(set) var count = 0
    /// Pieces up to this size are copied to the end of the previous piece. Longer pieces stay as they are, however often they
    /// are joined, unless they use less than half of their buffer.
    private static let small = 4 << 10
    /// The most bytes that are copied together.
    private static let most = 16 << 10

    init() {}

    init(_ pieces: [ByteBuffer]) { for piece in pieces { self.append(piece) } }

    /// Adds a piece; does nothing if it is empty.
    mutating func append(_ piece: ByteBuffer) {
        guard piece.readableBytes > 0 else { return }
        self.count += piece.readableBytes
        let fills = piece.readableBytes >= piece.storageCapacity / 2
        guard piece.readableBytes <= Self.small || !fills else { return self.all.append(piece) }
        var last = ByteBuffer()
        // The buffer must have no other reference, or each write would copy it.
        if let held = self.all.last?.readableBytes, held + piece.readableBytes <= Self.most {
            last = self.all.removeLast()
        }
        last.writeImmutableBuffer(piece)
        self.all.append(last)
    }

    /// Adds the bytes of a part of a representation that come after those that are here.
    ///
    /// - Parameters:
    ///   - first: the offset of the part's first byte; nothing is added if there is a gap before it.
    ///   - start: the offset of the first byte that is here.
    mutating func append(_ pieces: [ByteBuffer], from first: UInt64, since start: UInt64) {
        guard first <= start + UInt64(self.count) else { return }
        var known = start + UInt64(self.count) - first
        for var piece in pieces {
            let skipped = min(known, UInt64(piece.readableBytes))
            piece.moveReaderIndex(forwardBy: Int(skipped))
            known -= skipped
            self.append(piece)
        }
    }
}

extension BodyPieces {
    /// Joins the bytes of a part with those of the entries that it adjoins or overlaps.
    ///
    /// - Parameter first: the offset of the part's first byte in the representation.
    init(_ joined: JoinedPart, _ first: UInt64, _ pieces: [ByteBuffer], with others: [CacheEntry<SharedBody>]) {
        let start = joined.response.range?.lowerBound ?? 0
        var parts = others.map { ($0.response.range?.lowerBound ?? 0, $0.body.whole ?? []) }
        parts.append((first, pieces))
        self.init()
        for (first, pieces) in parts.sorted(by: { $0.0 < $1.0 }) {
            self.append(pieces, from: first, since: start)
        }
    }
}
