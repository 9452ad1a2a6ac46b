// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Reads a service's news three times: by HTTP's rules, ignoring the cache, and without asking the service.
func readNews(at base: String) async throws {
    let cache = HTTPCache(capacity: 8 << 20, preferredUsageAfterPurge: 4 << 20)
    var configuration = SessionConfiguration()
    configuration.cache = cache
    let client = try HTTPSession(base: base, configuration: configuration)
    let news = try await client.get("news").text
    let latest = try await client.get("news") { $0.cachePolicy = .ignoreLocal }.text
    let kept = try await client.get("news") { $0.cachePolicy = .onlyCache }.text
    print("\(news), \(latest), \(kept)")
    print("\(cache.count) responses take \(cache.usage) bytes")
    cache.remove(try HTTPURL("\(base)/news"))
    cache.removeAll()
}
