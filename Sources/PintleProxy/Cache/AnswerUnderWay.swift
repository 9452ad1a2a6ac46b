// SPDX-License-Identifier: Apache-2.0

internal import PintleCache

/// An answer on its way from an origin, of which the store may keep something.
///
/// Among answers to one key that one counts whose request was sent last: an answer that comes late is older news. Dates are
/// no help, since an origin gives them when it answers.
protocol AnswerUnderWay: AnyObject, Sendable {
    var key: CacheKey { get }
    /// The place of its request among those of the store.
    var number: UInt64 { get }
    /// Notes that the answer to a later request is kept.
    func outdate()
    /// True if a removal has met it, or the answer to a later request is kept.
    var isRevoked: Bool { get }
}
