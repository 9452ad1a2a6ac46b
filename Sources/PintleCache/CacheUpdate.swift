// SPDX-License-Identifier: Apache-2.0

/// The consequence of a response for one that is stored.
package enum CacheUpdate: Sendable, Equatable {
    /// This one answers, and takes the place of the stored one.
    case store(StoredResponse)
    /// This one answers the request that was made, and is not stored for this reason. The stored one stays as it was
    /// where the reason lies in the request alone; else it goes.
    case answerOnce(StoredResponse, Storability.Reason, keepsStored: Bool)
    /// The stored response is no longer what the origin has.
    case outdated
    /// The response says nothing about the stored one. A 304 then answers nobody: the origin is asked once more,
    /// without conditions.
    case unrelated
}
