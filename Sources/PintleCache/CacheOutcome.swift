// SPDX-License-Identifier: Apache-2.0

/// The result of a request's cache lookup.
package enum CacheOutcome: String, BitwiseCopyable, Sendable, CaseIterable {
    /// Answered with a fresh stored response.
    case hit
    /// Answered with a stale stored response.
    case stale
    /// Answered with a stored response after the origin has confirmed it.
    case validated
    /// Answered with the response to an identical request.
    case merged
    /// Forwarded to the origin.
    case miss
    /// Forwarded, because caches do not handle such requests.
    case bypass

    /// True if the origin gave the response for this request.
    package var isFromOrigin: Bool { self == .miss || self == .bypass }
}
