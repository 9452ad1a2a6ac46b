// SPDX-License-Identifier: Apache-2.0

internal import PintleCache

/// A response on its way from an origin; the store may keep it, or parts of it.
///
/// Among the responses for one key, the one counts whose request was sent last: a late response to an earlier request is older
/// news. The Date field does not help, because an origin sets it when it answers.
protocol AnswerUnderWay: AnyObject, Sendable {
    var key: CacheKey { get }
    /// The sequence number of its request in the store.
    var number: UInt64 { get }
    /// Notes that the response to a later request is kept.
    func outdate()
    /// True if a removal has covered it, or if the response to a later request is kept.
    var isRevoked: Bool { get }
}
