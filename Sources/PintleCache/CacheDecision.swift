// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The decision of a cache on a request.
package enum CacheDecision: Sendable, Equatable {
    /// The stored response at `index` answers; its age is `age` seconds. `staleness` is its age minus its freshness lifetime in
    /// seconds: a negative value means fresh, and is the time left. If `revalidate` is true, the response is also revalidated
    /// in the background (RFC 5861 §3).
    case answer(index: Int, age: Int64, staleness: Int64, revalidate: Bool)
    /// The stored response at `index` is validated by the origin (RFC 9111 §4.3). The request gets these conditional fields,
    /// see ``CacheRules/validating(_:with:)``.
    case validate(index: Int, fields: Fields, reason: ForwardReason)
    /// The request goes to the origin unchanged.
    case forward(ForwardReason)
    /// The origin may not be asked, and no stored response answers: 504 (RFC 9111 §5.2.1.7).
    case miss
}

/// The reason why a request goes to the origin, as in Cache-Status (RFC 9211 §2.2).
package enum ForwardReason: String, Sendable, Hashable, CaseIterable {
    /// The cache does not handle such requests.
    case bypass
    /// The cache does not answer this method.
    case method
    /// No response is stored for the URL.
    case uriMiss = "uri-miss"
    /// The responses stored for the URL answer requests with other field values.
    case varyMiss = "vary-miss"
    /// The client does not accept a stored response, or wants a fresher one.
    case request
    /// The stored response is stale, or must be validated each time.
    case stale
    /// Only parts are stored, and they lack the requested bytes.
    case partial
}

/// The kind of failure of an origin.
package enum OriginFailure: Sendable, Equatable {
    /// There was no response: no connection, or one that broke.
    case unreachable
    /// There was a response with this status.
    case status(UInt16)
}

/// A stored response that answers although it is stale, because the origin has failed.
package struct StaleAnswer: Sendable, Equatable {
    /// Its age in seconds.
    package let age: Int64
    /// Its age minus its freshness lifetime, in seconds.
    package let staleness: Int64
}
