// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A response as it is stored, without its body.
///
/// It has nothing of the client that asked for it, but for the values of the fields that Vary names, and these never
/// are credentials in a shared cache. ``CacheRules/stored(_:to:at:length:)`` makes it; ``encoded()`` is its form on a disk.
package struct StoredResponse: Sendable, Equatable {
    /// Status, reason and the fields that may be stored: none that belong to a connection, no framing, no Age; always a
    /// Date. What came as 206 has status 200 here and no Content-Range: it is the head of the whole representation.
    package var head: ResponseHead
    /// When the request was sent.
    package var requestTime: CacheTime
    /// When the response's head arrived.
    package var responseTime: CacheTime
    /// How old the response was when it arrived, in seconds, 0…2^31: RFC 9111's corrected initial age (§4.2.3).
    package var initialAge: Int64
    /// The fields that Vary names, each once, in the order of Vary.
    package var selecting: [SelectingField]
    /// The length of the complete representation, in bytes.
    package var length: UInt64
    /// The bytes that are held of the representation, never none; nil where all are.
    package var range: Range<UInt64>?
    /// The surrogate keys that it can be purged by, each once.
    package var tags: [String]

    /// Makes a stored response.
    package init(
        head: ResponseHead, requestTime: CacheTime, responseTime: CacheTime, initialAge: Int64 = 0,
        selecting: [SelectingField] = [], length: UInt64, range: Range<UInt64>? = nil, tags: [String] = []
    ) {
        self.head = head
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.initialAge = initialAge
        self.selecting = selecting
        self.length = length
        self.range = range
        self.tags = tags
    }

    /// True where the whole representation is held.
    package var isComplete: Bool { self.range == nil }

    /// The number of bytes that are held.
    package var heldLength: UInt64 { self.range.map { $0.upperBound - $0.lowerBound } ?? self.length }

    /// How old it is at `now`, in seconds, 0…2^31 (RFC 9111 §4.2.3).
    package func age(at now: CacheTime) -> Int64 {
        min(self.initialAge.addingSaturated(now.seconds(since: self.responseTime)), CacheTime.longest)
    }

    /// Its Date, or the time of its arrival where that cannot be read.
    package var date: CacheTime {
        self.head.fields[.date].flatMap { HTTPDate.seconds(anyForm: $0, near: self.responseTime.seconds) }
            .map(CacheTime.init) ?? self.responseTime
    }
}
