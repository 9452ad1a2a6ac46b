// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// How a task uses its session's ``SessionConfiguration/cache``. Without a cache only ``onlyCache`` means anything.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// The cache answers where its rules allow it (RFC 9111 where it follows that).
    case `protocol`
    /// The cache is not asked; the response is offered to it.
    case ignoreLocal = "ignore_local"
    /// The cache answers with what it has, however old, unless that has to be validated each time (`no-cache`); only without an
    /// answer is a request made.
    case preferCache = "prefer_cache"
    /// The cache answers, or the task fails as `cacheMiss`; so does a task that a cache never answers, such as a
    /// download. No request is made.
    case onlyCache = "only_cache"
}

/// A whole response as a cache keeps it.
public struct CachedResponse: Sendable, Equatable {
    /// Status, reason and fields.
    public var head: ResponseHead
    /// The body.
    public var body: ByteBuffer
    /// Fields with which the origin is asked whether the response still holds, such as If-None-Match (RFC 9111 §4.3.1); the
    /// response answers after a 304 alone. Empty, as unless given, for one that answers at once.
    public var conditions: Fields
    /// When the request was sent that the origin answered with it, or has confirmed it by. Its age counts from then, with
    /// the Age that it came with (RFC 9111 §4.2.3). Of no meaning for a response that a cache returns.
    public var requestTime: ContinuousClock.Instant
    /// True where the session has undone the content codings of the body: a strong ETag among the fields stands for other bytes
    /// than these, so that no part of them answers a request with Range (RFC 9110 §8.8.3).
    public var isDecoded: Bool

    /// Makes an entry.
    ///
    /// - Parameter requestTime: unless given, now. A cache that is offered a response from an origin would count it as younger
    ///   than it is, and could not see that something was removed while it was on its way: give it the time of its request.
    public init(
        head: ResponseHead, body: ByteBuffer, conditions: Fields = Fields(),
        requestTime: ContinuousClock.Instant = .now, isDecoded: Bool = false
    ) {
        self.head = head
        self.body = body
        self.conditions = conditions
        self.requestTime = requestTime
        self.isDecoded = isDecoded
    }
}

/// Where a session keeps responses: an `HTTPCache`, or a type of the program's own.
///
/// A session asks before each request of a data task with GET, also after a redirect and with credentials that were asked for, and
/// offers every complete response that is the result of such a task: no redirect that was followed, no challenge that was answered,
/// and none after which an interceptor had the request made again. Whether it may be stored, and for how long it serves, is the
/// cache's decision. These requests are as the origin sees them, with the cookies of the session. It is called from many tasks at
/// once.
///
/// ``response(to:policy:)`` and ``store(_:to:)`` make a cache. One that has the origin confirm what is stored returns it with
/// ``CachedResponse/conditions``, and may bring it up to date in `confirmed(_:by:to:)`.
public protocol ResponseCache: Sendable {
    /// Returns what may answer `request` under `policy`, which is ``CachePolicy/protocol`` or
    /// ``CachePolicy/preferCache``, the latter for `onlyCache` too. A request with `Cache-Control: only-if-cached` that nothing
    /// answers without a condition is answered by the session, with 504.
    @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse?
    /// Takes, or declines, a response.
    @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async
    /// Takes a 304 to the conditions of `response`, which ``response(to:policy:)`` has returned.
    ///
    /// - Parameters:
    ///   - response: as it was returned, with the `requestTime` of the question.
    ///   - head: the 304, without what it says of a coded body.
    ///   - request: as it was sent, without the conditions.
    /// - Returns: the answer to the task: unless implemented, `response` as it is. With nil the request is made once more,
    ///   without conditions, for a 304 that is about something else.
    @concurrent func confirmed(
        _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
    ) async -> CachedResponse?
    /// Is told of the answer to a method that may have changed what is stored (RFC 9111 §4.4): any but GET, HEAD, OPTIONS and
    /// TRACE, with any status, of tasks of every kind. Also of a redirect (3xx) of a GET whose response would be offered: followed,
    /// it is not, and what is stored for its request is out of date. Unless implemented, nothing happens.
    @concurrent func invalidate(after response: ResponseHead, to request: SessionRequest) async
}

extension ResponseCache {
    /// Returns `response` as it is.
    @concurrent public func confirmed(
        _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
    ) async -> CachedResponse? { response }

    /// Does nothing.
    @concurrent public func invalidate(after response: ResponseHead, to request: SessionRequest) async {}
}
