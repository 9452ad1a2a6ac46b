// SPDX-License-Identifier: Apache-2.0

/// Reads `cache`, and the keys `cache` and `coalesce` of routes.
enum CacheReader {
    /// Size in bytes; a smaller cache could hold no useful response.
    private static let least = 1 << 20
    private static let most = 1 << 50

    static func read(_ map: StrictMap) -> CacheConfiguration {
        var cache = CacheConfiguration()
        map.read("memory", into: &cache.memory) { $0.byteCount(Self.least...Self.most) }
        if map["memory_after_purge"] == nil { cache.memoryAfterPurge = min(cache.memoryAfterPurge, cache.memory) }
        map.read("memory_after_purge", into: &cache.memoryAfterPurge) { $0.byteCount(0...Self.most) }
        if let node = map["memory_after_purge"], cache.memoryAfterPurge > cache.memory {
            node.report("is over cache.memory, \(cache.memory.spelledAsBytes): nothing would ever be purged")
        }
        map.read("disk", into: &cache.disk) { node in node.isOff ? 0 : node.byteCount(Self.least...Self.most) }
        map.read("path", into: &cache.folder) { node in
            guard let text = node.nonEmptyString() else { return nil }
            return .some(text == "default" ? nil : node.resolve(text))
        }
        if let node = map["path"], cache.disk == 0 { node.report("is never used; disk is off") }
        return cache
    }

    static func policy(_ node: StrictNode) -> RouteCachePolicy? {
        if node.isOff { return .off }
        guard let map = node.map(.routeCache) else { return nil }
        guard map["policy"] != nil else {
            node.report("the key \"policy\" is missing; protocol keeps to RFC 9111")
            return nil
        }
        var policy = RouteCachePolicy.off
        map.read("policy", into: &policy) { node in node.isOff ? .off : node.choice() }
        return policy
    }

    static func coalescing(_ node: StrictNode) -> CoalescingRules?? {
        if node.isOff { return .some(nil) }
        guard let map = node.map(.coalesce) else { return nil }
        var rules = CoalescingRules()
        map.read("max_active", into: &rules.maxActive) { node in node.int(1...65_535).map { .some($0) } }
        map.read("order", into: &rules.order) { $0.choice() }
        if let node = map["order"], rules.maxActive == nil { node.report("needs max_active: nothing waits without it") }
        return rules
    }
}
