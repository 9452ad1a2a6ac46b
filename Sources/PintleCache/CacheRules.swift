// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The rules of an HTTP cache (RFC 9111): pure functions of a request, of stored responses and of the time.
///
/// Requests are looked at as they go to the origin, since that is what the origin answers: after the rules of a route
/// have added credentials, for example. The owner finds the stored responses of a ``CacheKey``, asks
/// ``decision(for:among:mode:now:)``, and tells what came of it: ``stored(_:to:at:length:)`` for a new response,
/// ``freshened(_:by:to:at:)`` for a 304, ``joined(_:with:at:mode:)`` for a part, ``updates(of:by:to:at:mode:)`` for an
/// answer that went past the cache, ``invalidated(by:key:response:)`` for any answer to another method. ``answer(to:from:age:)`` makes what the client gets.
package struct CacheRules: Sendable, Equatable {
    /// True for a cache that answers several users. Default true.
    package var isShared = true
    /// The name of the field with directives for this cache alone (RFC 9213); nil for none.
    package var targetedName: String? = "Pintle-Cache-Control"
    /// The part of the time since the last change for which a response without a lifetime counts as fresh (RFC 9111
    /// §4.2.2), in percent. Default 10.
    package var heuristicPercent: Int64 = 10
    /// The longest lifetime that is guessed, in seconds. Default a day.
    package var longestHeuristic: Int64 = 86_400
    /// The most bytes of a head, and of the values of its selecting fields, that is stored. Default 64 KiB.
    package var longestHead = 65_536
    /// The most stored responses that are looked at for a request. Default 32.
    package var variantLimit = 32

    /// Makes the rules of a shared cache.
    package init() {}
}

/// When a request was sent and its response came.
package struct ExchangeTimes: Sendable, Equatable {
    /// When the request was sent.
    package var request: CacheTime
    /// When the head of the response arrived.
    package var response: CacheTime

    /// Makes times.
    package init(request: CacheTime, response: CacheTime) {
        self.request = request
        self.response = response
    }
}
