// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleMessage

/// The head of an answer that the cache gives in one piece, within the call that asks for it.
///
/// The body is not held: who remembers a head keeps no memory from the cache.
final class PromptAnswer: Sendable {
    /// The head as the cache gives it.
    let received: ResponseHead
    /// The head as the client gets it, without framing.
    let forwarded: ResponseHead
    /// Of the body that follows, or would follow, in bytes; nil where none can.
    let length: UInt64?
    let outcome: CacheOutcome
    /// The part of the pieces that is the body.
    private let range: Range<UInt64>
    /// The number of the answer that is kept, and the second in which this is its head.
    private let number: UInt64
    private let time: CacheTime

    init(_ answer: CachedAnswer, to method: String, forwarded: ResponseHead, of kept: KeptAnswer, at time: CacheTime) {
        (self.received, self.forwarded) = (answer.head, forwarded)
        self.length = answer.head.lengthToTell(to: method, answer.length)
        (self.outcome, self.range) = (answer.outcome, answer.range)
        (self.number, self.time) = (kept.number, time)
    }

    /// True where it may be remembered with each request that it answers.
    var isSmall: Bool { self.received.fields.byteCount + self.forwarded.fields.byteCount <= 4096 }

    /// True where the only answer that is kept would have this very head again: ages are whole seconds.
    func isOf(_ kept: [KeptAnswer], at time: CacheTime) -> Bool {
        kept.count == 1 && kept[0].number == self.number && self.time == time
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
    /// The length that a client is told of: that of the body, or what the origin says of the one that there would be.
    func lengthToTell(to method: String, _ length: UInt64?) -> UInt64? {
        self.forbidsBody(to: method) ? (try? self.fields.declaredLength()) ?? nil : length
    }
}
