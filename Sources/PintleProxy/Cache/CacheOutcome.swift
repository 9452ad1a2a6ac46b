// SPDX-License-Identifier: Apache-2.0

/// The fate of a request where answers are kept.
enum CacheOutcome: String {
    /// It was answered with what is kept.
    case hit
    /// So it was, though that was stale.
    case stale
    /// So it was, after the origin has said that it still holds.
    case validated
    /// It was answered with the answer to an equal request.
    case merged
    /// It went to the origin.
    case miss
    /// It is none that a cache handles.
    case bypass

    /// True where the answer is one that the origin has just given.
    var isFromOrigin: Bool { self == .miss || self == .bypass }
}
