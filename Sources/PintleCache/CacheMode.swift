// SPDX-License-Identifier: Apache-2.0

/// The use of the cache for a request. The modes correspond to AFNetworking's cache policies.
package enum CacheMode: String, Sendable, Hashable, CaseIterable {
    /// Stored responses answer if RFC 9111 allows it.
    case `protocol`
    /// Stored responses never answer; the new response is stored.
    case ignoreLocal = "ignore_local"
    /// Stored responses answer regardless of their age; the origin is asked only if there is none.
    case preferCache = "prefer_cache"
    /// Stored responses answer regardless of their age; if there is none, the answer is 504, and the origin is not asked.
    case onlyCache = "only_cache"

    /// True if the age of a stored response does not matter.
    var ignoresAge: Bool { self == .preferCache || self == .onlyCache }
}
