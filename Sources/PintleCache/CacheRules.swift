// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The rules of an HTTP cache (RFC 9111): pure functions of a request, of stored responses and of the time.
///
/// Requests are judged in the form in which the origin gets them, for example after a route's rules have added credentials. The
/// owner finds the stored responses of a ``CacheKey``, calls ``decision(for:among:mode:now:)``, and applies the result:
/// ``stored(_:to:at:length:)`` for a new response, ``freshened(_:by:to:at:)`` for a 304, ``joined(_:with:at:mode:)`` for a
/// part, ``updates(of:by:to:at:mode:)`` for a response that bypassed the cache, ``invalidated(by:key:response:)`` for a
/// response to another method. ``answer(to:from:age:)`` makes the client's response.
package struct CacheRules: Sendable, Equatable {
    /// True for a cache that serves several users. Default true.
    package var isShared = true
    /// The name of the field with directives for this cache alone (RFC 9213); nil for none.
    package var targetedName: String? = "Pintle-Cache-Control"
    /// The heuristic lifetime in percent of the time since Last-Modified, for a response without an explicit lifetime (RFC 9111
    /// §4.2.2). Default 10.
    package var heuristicPercent: Int64 = 10
    /// The longest heuristic lifetime, in seconds. Default one day.
    package var longestHeuristic: Int64 = 86_400
    /// The longest head that is stored, in bytes; also the limit for the values of its selecting fields. Default 64 KiB.
    package var longestHead = 65_536
    /// The most stored responses that are considered for a request. Default 32.
    package var variantLimit = 32

    /// Makes the rules of a shared cache.
    package init() {}
}

/// The times of an exchange.
package struct ExchangeTimes: Sendable, Equatable {
    /// The time when the request was sent.
    package var request: CacheTime
    /// The time when the head of the response arrived.
    package var response: CacheTime

    /// Makes the times.
    package init(request: CacheTime, response: CacheTime) {
        self.request = request
        self.response = response
    }
}
