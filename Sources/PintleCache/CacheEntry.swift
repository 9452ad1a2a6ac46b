// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A stored response with its body.
package struct CacheEntry<Body: Sendable>: Sendable {
    package let judged: JudgedResponse
    package let body: Body
    /// The memory that the body takes, in bytes.
    package let bodyCost: Int
    /// Unique in this process. It stays the same if another response updates the head (RFC 9111 §4.3.4).
    package let id: UInt64

    package init(_ judged: JudgedResponse, _ body: Body, bodyCost: Int) {
        self.init(judged, body, bodyCost: bodyCost, id: EntryIDs.next())
    }

    private init(_ judged: JudgedResponse, _ body: Body, bodyCost: Int, id: UInt64) {
        (self.judged, self.body, self.bodyCost, self.id) = (judged, body, bodyCost, id)
    }

    package var response: StoredResponse { self.judged.response }

    /// The memory that the entry takes, in bytes; a generous estimate.
    package var cost: Int { Self.fixedCost + self.judged.cost + self.bodyCost }

    /// The memory of its objects, and its share of the tables, in bytes; measured with small responses.
    private static var fixedCost: Int { 2048 }

    /// The number of stored bytes.
    package var byteCount: Int { Int(clamping: self.response.heldLength) }

    /// Returns this body with an updated head.
    package func with(_ judged: JudgedResponse) -> CacheEntry {
        CacheEntry(judged, self.body, bodyCost: self.bodyCost, id: self.id)
    }

    /// True if it answers the same requests as another response.
    package func isLike(_ other: CacheEntry) -> Bool { self.response.isLike(other.response) }
}

private enum EntryIDs {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { self.last.wrappingAdd(1, ordering: .relaxed).newValue }
}
