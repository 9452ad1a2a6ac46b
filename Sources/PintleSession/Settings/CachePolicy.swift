// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// The use that a task makes of its session's ``SessionConfiguration/cache``. Without a cache only ``onlyCache`` has an
/// effect.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// The cache answers if its rules allow it (those of RFC 9111 if it follows that).
    case `protocol`
    /// The cache is not asked, but the response is offered to it.
    case ignoreLocal = "ignore_local"
    /// The cache answers with a stored response of any age, except one that must be validated each time (`no-cache`). A
    /// request is made only without such a response.
    case preferCache = "prefer_cache"
    /// The cache answers, or the task fails as `cacheMiss`. So does a task that a cache never answers, such as a
    /// download. No request is made.
    case onlyCache = "only_cache"
}

/// A whole response as it is stored in a cache.
public struct CachedResponse: Sendable, Equatable {
    /// Status, reason and fields.
    public var head: ResponseHead
    /// The body.
    public var body: ByteBuffer
    /// Fields with which the origin is asked if the response is still valid, such as If-None-Match (RFC 9111 §4.3.1);
    /// the response may then be used only after a 304. If empty, which is the default, it is used at once.
    public var conditions: Fields
    /// The time of the request that the origin answered with this response, or by which it has last confirmed it. The
    /// age counts from then, plus the Age that came with the response (RFC 9111 §4.2.3). Meaningless in a response that
    /// a cache returns.
    public var requestTime: ContinuousClock.Instant
    /// True if the session has decoded the body: a strong ETag among the fields then belongs to other bytes than these,
    /// so that no part of them can answer a request with Range (RFC 9110 §8.8.3).
    public var isDecoded: Bool

    /// Makes an entry.
    ///
    /// - Parameter requestTime: the time of the request; default now. Pass it with a response from an origin: otherwise
    ///   the cache would take the response for younger than it is, and miss a removal that happened while it was on its
    ///   way.
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

/// Stores responses for a session: an `HTTPCache`, or a type of the program's own.
///
/// A session asks before each request of a data task with GET, also after a redirect and with credentials that a
/// challenge demanded. It offers every complete response that is the result of such a task: not a redirect that was
/// followed, not a challenge that was answered, and not a response after which an interceptor repeated the request. The
/// cache decides if a response may be stored, and how long it may be used. The requests are as the origin sees them,
/// with the session's cookies. The cache is called from many tasks at once.
///
/// ``response(to:policy:)`` and ``store(_:to:)`` are enough for a cache. A cache whose responses are validated returns
/// them with ``CachedResponse/conditions``, and may update them in `confirmed(_:by:to:)`.
public protocol ResponseCache: Sendable {
    /// Returns the response that may answer `request` under `policy`, which is ``CachePolicy/protocol`` or
    /// ``CachePolicy/preferCache``; the latter also stands for `onlyCache`. If a request has
    /// `Cache-Control: only-if-cached` and no stored response may be used without validation, the session answers with
    /// 504.
    @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse?
    /// Stores a response, or declines it.
    @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async
    /// Notes a 304 to the conditions of `response`, which ``response(to:policy:)`` has returned.
    ///
    /// - Parameters:
    ///   - response: the returned one, with the `requestTime` of the validating request.
    ///   - head: the 304, without the fields that describe an encoded body.
    ///   - request: the request that was sent, without the conditions.
    /// - Returns: the task's response; by default `response` as it is. With nil, for a 304 that is about something
    ///   else, the request is made once more, without conditions.
    @concurrent func confirmed(
        _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
    ) async -> CachedResponse?
    /// Notes the response to a method that may have changed the stored content (RFC 9111 §4.4): any but GET, HEAD,
    /// OPTIONS and TRACE, with any status, in tasks of every kind. Also called for a redirect (3xx) of a GET whose
    /// response would be offered: if followed, the redirect is not offered, and the stored response to its request is
    /// out of date. By default does nothing.
    ///
    /// - Parameter requestTime: the time of a redirected GET, as in ``CachedResponse``; for other methods the present.
    @concurrent func invalidate(
        after response: ResponseHead, to request: SessionRequest, requestTime: ContinuousClock.Instant
    ) async
}

extension ResponseCache {
    /// Returns `response` as it is.
    @concurrent public func confirmed(
        _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
    ) async -> CachedResponse? { response }

    /// Does nothing.
    @concurrent public func invalidate(
        after response: ResponseHead, to request: SessionRequest, requestTime: ContinuousClock.Instant
    ) async {}
}
