// SPDX-License-Identifier: Apache-2.0

/// `cache`: how much is kept of what origins have answered, and where. Routes say whether they use it.
package struct CacheConfiguration: Sendable, Equatable {
    /// Bytes of answers in memory, with what it takes to find them. Default 100 MiB.
    package var memory = 100 << 20
    /// Bytes that are left in memory after a purge. Default 60 MiB; at most `memory`.
    package var memoryAfterPurge = 60 << 20
    /// Bytes of answers on disk. Default 150 MiB; zero keeps none there.
    package var disk = 150 << 20
    /// The folder of those; nil for `pintle/cache` in the user's state folder.
    package var folder: String?

    package init() {}
}

/// `routes[].cache.policy`: how the requests of a route use the cache.
package enum RouteCachePolicy: String, Sendable, CaseIterable {
    /// Not at all.
    case off
    /// By the rules of RFC 9111.
    case `protocol`
    /// The cache is not asked, and keeps what comes.
    case ignoreLocal = "ignore_local"
    /// The kept answer is given, however old it is.
    case preferCache = "prefer_cache"
    /// The kept answer is given, however old it is; without one the request is answered with `cache-miss`.
    case onlyCache = "only_cache"
}

/// `routes[].coalesce`: equal requests under way become one.
package struct CoalescingRules: Sendable, Equatable {
    /// Which of the requests that wait for their turn comes next.
    package enum Order: String, Sendable, CaseIterable {
        /// The one that came first.
        case fifo
        /// The one that came last.
        case lifo
    }

    /// Requests of the route that are under way to origins at a time; nil for any number. Default nil.
    package var maxActive: Int?
    /// Default `fifo`.
    package var order = Order.fifo

    package init() {}
}
