// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// How a task uses its session's ``SessionConfiguration/cache``. Without a cache only ``onlyCache`` means anything.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// The cache answers where its rules allow it (RFC 9111 where it follows that).
    case `protocol`
    /// The cache is not asked; the response is offered to it.
    case ignoreLocal = "ignore_local"
    /// The cache answers whatever it has, however old; only without an answer is a request made.
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

    /// Makes an entry.
    public init(head: ResponseHead, body: ByteBuffer) {
        self.head = head
        self.body = body
    }
}

/// Where a session keeps responses.
///
/// A session offers every complete response to a data task with GET; whether it may be stored, and for how long it
/// serves, is the cache's decision. It is called from many tasks at once.
public protocol ResponseCache: Sendable {
    /// Returns what may answer `request` under `policy`, which is ``CachePolicy/protocol`` or
    /// ``CachePolicy/preferCache``, the latter for `onlyCache` too.
    @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse?
    /// Takes, or declines, a response.
    @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async
}
