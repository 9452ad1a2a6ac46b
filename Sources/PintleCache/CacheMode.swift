// SPDX-License-Identifier: Apache-2.0

/// How a request may use the cache: AFNetworking's cache policies by name.
package enum CacheMode: String, Sendable, Hashable, CaseIterable {
    /// Stored responses answer where RFC 9111 allows it.
    case `protocol`
    /// Stored responses never answer; the response is stored.
    case ignoreLocal = "ignore_local"
    /// Stored responses answer however old they are; only where there is none is the origin asked.
    case preferCache = "prefer_cache"
    /// Stored responses answer however old they are; where there is none, nobody is asked (504).
    case onlyCache = "only_cache"

    /// True where a stored response's age does not matter.
    var ignoresAge: Bool { self == .preferCache || self == .onlyCache }
}
