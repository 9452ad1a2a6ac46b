// SPDX-License-Identifier: Apache-2.0

/// `cache`: the size and place of the store for origins' responses. Routes say whether they use it.
package struct CacheConfiguration: Sendable, Equatable {
    /// Bytes of responses in memory, index included. Default 100 MiB.
    package var memory = 100 << 20
    /// Bytes that are left in memory after a purge. Default 60 MiB; at most `memory`.
    package var memoryAfterPurge = 60 << 20
    /// Bytes of responses on disk. Default 150 MiB; zero keeps none there.
    package var disk = 150 << 20
    /// The folder of the responses on disk; nil for `pintle/cache` in the user's state folder.
    package var folder: String?

    package init() {}
}

/// `routes[].cache.policy`: how the requests of a route use the cache.
package enum RouteCachePolicy: String, Sendable, CaseIterable {
    /// Requests do not use the cache.
    case off
    /// Requests use the cache by the rules of RFC 9111.
    case `protocol`
    /// The cache is not asked for a response, but stores the new one.
    case ignoreLocal = "ignore_local"
    /// A stored response is used, however old it is.
    case preferCache = "prefer_cache"
    /// A stored response is used, however old it is; without one the request is answered with `cache-miss`.
    case onlyCache = "only_cache"
}

/// `routes[].coalesce`: identical requests in flight share one transfer.
package struct CoalescingRules: Sendable, Equatable {
    /// The order in which waiting requests are sent.
    package enum Order: String, Sendable, CaseIterable {
        /// First come, first served.
        case fifo
        /// Last come, first served.
        case lifo
    }

    /// The most requests of the route in flight to origins at a time; nil for any number. Default nil.
    package var maxActive: Int?
    /// The order in which waiting requests are sent. Default `fifo`.
    package var order = Order.fifo

    package init() {}
}
