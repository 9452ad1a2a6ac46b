// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A response as it is stored, without its body.
///
/// It contains nothing of the client's request except the values of the fields that Vary names; in a shared cache these are
/// never credentials. ``CacheRules/stored(_:to:at:length:)`` makes it; ``encoded()`` is its form on disk.
package struct StoredResponse: Sendable, Equatable {
    /// Status, reason and the storable fields: always a Date, but no connection-specific fields, no framing, no Age. A response
    /// that arrived as 206 has status 200 and no Content-Range here: this is the head of the complete representation.
    package var head: ResponseHead
    /// The time when the request was sent.
    package var requestTime: CacheTime
    /// The time when the response's head arrived.
    package var responseTime: CacheTime
    /// The age of the response on arrival, in seconds, 0…2^31: the corrected initial age of RFC 9111 §4.2.3.
    package var initialAge: Int64
    /// The fields that Vary names, each once, in the order of Vary.
    package var selecting: [SelectingField]
    /// The length of the complete representation, in bytes.
    package var length: UInt64
    /// The stored bytes of the representation, never empty; nil if all are stored.
    package var range: Range<UInt64>?
    /// The surrogate keys by which it can be purged, each once.
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

    /// True if the complete representation is stored.
    package var isComplete: Bool { self.range == nil }

    /// The number of stored bytes.
    package var heldLength: UInt64 { self.range.map { $0.upperBound - $0.lowerBound } ?? self.length }

    /// True if it answers the same requests as another response for the URL.
    package func isLike(_ other: StoredResponse) -> Bool {
        self.selecting == other.selecting && self.range == other.range
    }

    /// The age at `now`, in seconds, 0…2^31 (RFC 9111 §4.2.3). If the clock was set back since the response arrived, the time that
    /// has passed is unknown; then the step counts as age, so that no response of a wrong time is fresh until the clock gets there.
    package func age(at now: CacheTime) -> Int64 {
        let resident = max(now.seconds(since: self.responseTime), self.responseTime.seconds(since: now))
        return min(self.initialAge.addingSaturated(resident), CacheTime.longest)
    }

    /// The time in Date, or the time of arrival if Date cannot be read.
    package var date: CacheTime {
        self.head.fields[.date].flatMap { HTTPDate.seconds(anyForm: $0, near: self.responseTime.seconds) }
            .map(CacheTime.init) ?? self.responseTime
    }
}
