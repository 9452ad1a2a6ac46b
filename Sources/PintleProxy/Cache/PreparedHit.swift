// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage

/// The head of a response that the cache delivers in one piece, within the call that asks for it.
///
/// It does not hold the body; so a remembered head does not keep memory that the cache could free.
final class PreparedHit: Sendable {
    /// The head as the cache gives it.
    let received: ResponseHead
    /// The head as the client gets it, without framing.
    let forwarded: ResponseHead
    /// The length in bytes that the client is told for the body that follows, or would follow a GET; nil if it has none.
    let length: UInt64?
    let outcome: CacheOutcome
    /// The part of the pieces that is the body.
    private let range: Range<UInt64>
    /// The cached response, and the second in which this head is valid.
    private let judged: JudgedResponse
    private let time: CacheTime

    init(
        _ answer: CachedAnswer, to method: String, forwarded: ResponseHead, of entry: SharedCache.Entry,
        at time: CacheTime
    ) {
        (self.received, self.forwarded) = (answer.head, forwarded)
        self.length = answer.head.lengthToTell(to: method, answer.length)
        (self.outcome, self.range) = (answer.outcome, answer.range)
        (self.judged, self.time) = (entry.judged, time)
    }

    /// True if the head is small enough to be remembered with each request that it answers.
    var isSmall: Bool { self.received.fields.byteCount + self.forwarded.fields.byteCount <= 4096 }

    /// True if the only cached response would get exactly this head again; ages are whole seconds.
    func isOf(_ entries: [SharedCache.Entry], at time: CacheTime) -> Bool {
        entries.count == 1 && entries[0].judged === self.judged && self.time == time
    }

    /// Calls `give` with the bytes of the body, piece by piece.
    func forEachPiece(of pieces: [ByteBuffer], _ give: (UnsafeRawBufferPointer) -> Void) {
        var (skipped, left) = (Int(self.range.lowerBound), self.range.count)
        for piece in pieces where left > 0 {
            piece.withUnsafeReadableBytes { bytes in
                let bytes = bytes.dropFirst(skipped).prefix(left)
                skipped = max(0, skipped - piece.readableBytes)
                left -= bytes.count
                if !bytes.isEmpty { give(UnsafeRawBufferPointer(rebasing: bytes)) }
            }
        }
    }
}

extension ResponseHead {
    /// The length that the client is told: that of the body, or, for a response without body, the length that the origin
    /// declares.
    func lengthToTell(to method: String, _ length: UInt64?) -> UInt64? {
        self.forbidsBody(to: method) ? (try? self.fields.declaredLength()) ?? nil : length
    }
}
