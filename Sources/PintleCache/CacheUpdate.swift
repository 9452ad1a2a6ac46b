// SPDX-License-Identifier: Apache-2.0

/// The effect of a response on a stored one.
package enum CacheUpdate: Sendable, Equatable {
    /// The updated response answers, and replaces the stored one.
    case store(StoredResponse)
    /// The updated response answers this request, but is not stored for the given reason. If the reason lies in the request
    /// alone, the stored response is kept; otherwise it is removed.
    case answerOnce(StoredResponse, Storability.Reason, keepsStored: Bool)
    /// The stored response is out of date.
    case outdated
    /// The response has no relation to the stored one. If it is a 304, it answers no client, and the origin is asked again
    /// without conditions.
    case unrelated
}
