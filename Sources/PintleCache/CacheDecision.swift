// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The decision of a cache on a request.
package enum CacheDecision: Sendable, Equatable {
    /// The stored response at `index` answers, `age` seconds old. `staleness` is its age less its lifetime in
    /// seconds: below zero it is fresh, and that many seconds are left. With `revalidate` the origin is asked as
    /// well, while nobody waits (RFC 5861 §3).
    case answer(index: Int, age: Int64, staleness: Int64, revalidate: Bool)
    /// The origin is asked whether the stored response at `index` still holds: the request goes on with these fields,
    /// as ``CacheRules/validating(_:with:)`` makes it (RFC 9111 §4.3).
    case validate(index: Int, fields: Fields, reason: ForwardReason)
    /// The request goes to the origin as it is.
    case forward(ForwardReason)
    /// Nobody may be asked, and nothing that is stored answers: 504 (RFC 9111 §5.2.1.7).
    case miss
}

/// Why a request goes to the origin, as Cache-Status says it (RFC 9211 §2.2).
package enum ForwardReason: String, Sendable, Hashable, CaseIterable {
    /// The request is none that the cache handles.
    case bypass
    /// The method is none that the cache answers.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// The responses stored for the URL answer requests with other fields.
    case varyMiss = "vary-miss"
    /// The client wants no stored response, or a fresher one.
    case request
    /// The stored response is stale, or must be validated each time.
    case stale
    /// Only parts are stored that do not have what was asked for.
    case partial
}

/// Why the origin did not answer as it should.
package enum OriginFailure: Sendable, Equatable {
    /// There was no response: no connection, or none that held.
    case unreachable
    /// There was a response with this status.
    case status(UInt16)
}

/// A stored response that answers although the origin failed.
package struct StaleAnswer: Sendable, Equatable {
    /// Its age in seconds.
    package let age: Int64
    /// Its age less its lifetime, in seconds.
    package let staleness: Int64
}
