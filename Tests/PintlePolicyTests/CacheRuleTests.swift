// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// `cache`, `routes[].cache`, `routes[].coalesce` and `placeholder_after`, as they are read.
struct CacheRuleTests {
    @Test func `nothing is kept unless a route says so`() throws {
        let configuration = try load("version: 1\nroutes: [{name: a}, {name: b, cache: off, coalesce: off}]")
        #expect(configuration.cache == CacheConfiguration())
        #expect(configuration.cache.memory == 100 << 20 && configuration.cache.memoryAfterPurge == 60 << 20)
        #expect(configuration.cache.disk == 150 << 20 && configuration.cache.folder == nil)
        for route in configuration.routes { #expect(route.cache == .off && route.coalescing == nil) }
    }

    @Test func `sizes, folder, policies and order are read`() throws {
        let configuration = try load(
            """
            version: 1
            cache: {memory: 2MiB, disk: off}
            routes:
              - {name: a, cache: {policy: prefer_cache}, coalesce: {}}
              - {name: b, cache: {policy: off}, coalesce: {max_active: 4, order: lifo}}
            """)
        #expect(configuration.cache.memory == 2 << 20 && configuration.cache.memoryAfterPurge == 2 << 20)
        #expect(configuration.cache.disk == 0)
        #expect(configuration.routes.map(\.cache) == [.preferCache, .off])
        #expect(configuration.routes[0].coalescing == CoalescingRules())
        #expect(
            configuration.routes[1].coalescing?.maxActive == 4 && configuration.routes[1].coalescing?.order == .lifo)
    }

    @Test(arguments: [
        (
            "cache: {memory: 1MiB, memory_after_purge: 2MiB}",
            "2:43: cache.memory_after_purge: is over cache.memory, 1MiB: nothing would ever be purged"
        ),
        ("cache: {disk: off, path: kept}", "2:26: cache.path: is never used; disk is off"),
        (
            "routes: [{name: a, cache: {policy: always}}]",
            "2:36: routes[0].cache.policy: \"always\": must be off, protocol, ignore_local, prefer_cache or only_cache"
        ),
        (
            "routes: [{name: a, coalesce: {order: lifo}}]",
            "2:38: routes[0].coalesce.order: needs max_active: nothing waits without it"
        ),
        (
            "routes: [{name: a, response: {placeholder_after: 1s}}]",
            "2:50: routes[0].response.placeholder_after: needs placeholder: {file: …}"
        ),
    ])
    func `a wrong value is refused`(yaml: String, problem: String) {
        #expect(problems("version: 1\n" + yaml) == ["pintle.yaml:" + problem])
    }
}
