// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// RFC 9213, the modes of a route, and purging.
let ownerCases: [CacheCase] = [
    CacheCase(
        "9213 2.2", "a targeted field goes before Cache-Control and Expires",
        steps: """
            < 200 ~ Cache-Control: no-store ~ Expires: 0 ~ Pintle-Cache-Control: max-age=60 => uri-miss stored
            +59
            GET => hit Cache-Control:no-store Pintle-Cache-Control:max-age=60
            +1
            GET => stale
            """),
    CacheCase(
        "9213 2.2", "it may be stricter",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Pintle-Cache-Control: no-store => uri-miss not:no-store
            """),
    CacheCase(
        "9213 2.2", "Expires is passed over beside it",
        steps: """
            < 200 ~ Expires: @+60 ~ Pintle-Cache-Control: max-age=0 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "9213 2.1", "an empty one is as if it was not there",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Pintle-Cache-Control: => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "9213 2.1", "one with an error is as if it was not there",
        steps: """
            < 200 ~ Cache-Control: no-store ~ Pintle-Cache-Control: max-age=60, => uri-miss not:no-store
            < 200 ~ Cache-Control: no-store ~ Pintle-Cache-Control: Max-Age=60 => uri-miss not:no-store
            < 200 ~ Cache-Control: no-store ~ Pintle-Cache-Control: max-age=60; no-store => uri-miss stored
            """),
    CacheCase(
        "9213 2.1", "numbers of another type are no lifetimes",
        steps: """
            < 200 ~ Pintle-Cache-Control: max-age=60.0 ~ ETag: "a" => uri-miss stored
            GET => stale?
            < 200 ~ Pintle-Cache-Control: max-age="60" ~ ETag: "a" => stale? stored
            GET => stale?
            """),
    CacheCase(
        "9213 2.1", "a negative number",
        steps: """
            < 200 ~ Pintle-Cache-Control: max-age=-60 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "9213 2.1", "parameters are passed over",
        steps: """
            < 200 ~ Pintle-Cache-Control: max-age=60;x;y="z", public => uri-miss stored
            +59
            GET => hit
            """),
    CacheCase(
        "8941 4.2", "lines are one dictionary, of one key the last counts",
        steps: """
            < 200 ~ Pintle-Cache-Control: max-age=5 ~ Pintle-Cache-Control: max-age=60 => uri-miss stored
            +59
            GET => hit
            """),
    CacheCase(
        "9213 2.1", "no-store with a value is no-store",
        steps: """
            < 200 ~ Pintle-Cache-Control: no-store=?0, max-age=60 => uri-miss not:no-store
            """),
    CacheCase(
        "9213 2.1", "names of fields in a string", .dropNamedFields,
        steps: """
            < 200 ~ Pintle-Cache-Control: max-age=60, private="X-User" ~ X-User: me => uri-miss stored
            GET => hit !X-User
            """),
    CacheCase(
        "9213 2.1", "an inner list is no list of names",
        steps: """
            < 200 ~ Pintle-Cache-Control: max-age=60, private=("a" b;c) => uri-miss not:private
            """),
    CacheCase(
        "9213 3.1", "fields for other caches say nothing",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ CDN-Cache-Control: no-store => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "9213 2.2", "requests have none",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Pintle-Cache-Control: no-cache => hit
            """),
    CacheCase(
        "cache.policy", "ignore_local forwards and stores", mode: .ignoreLocal,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => bypass stored
            GET => bypass
            ~ Cache-Control: only-if-cached => 504
            """),
    CacheCase(
        "cache.policy", "prefer_cache answers however old", mode: .preferCache,
        steps: """
            < 200 ~ Cache-Control: max-age=5, must-revalidate => uri-miss stored
            +9999
            GET => stale-hit age=9999
            ~ Cache-Control: no-cache => stale-hit
            /b => uri-miss
            """),
    CacheCase(
        "cache.policy", "prefer_cache keeps to Vary", .reuseVary, mode: .preferCache,
        steps: """
            ~ X: 1 < 200 ~ Vary: X => uri-miss stored
            ~ X: 2 => vary-miss
            ~ X: 1 => stale-hit
            < 200 ~ Vary: * => vary-miss not:vary-any
            """),
    CacheCase(
        "cache.policy", "prefer_cache keeps to no-cache", .noCache, mode: .preferCache,
        steps: """
            < 200 ~ Cache-Control: no-cache ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "cache.policy", "prefer_cache keeps to no-store and private", .noStore, mode: .preferCache,
        steps: """
            < 200 ~ Cache-Control: no-store => uri-miss not:no-store
            < 200 ~ Cache-Control: private => uri-miss not:private
            """),
    CacheCase(
        "cache.policy", "only_cache with nothing", mode: .onlyCache,
        steps: """
            GET => 504
            POST => 504
            ~ X-Forwarded-Host: x => 504
            """),
    CacheCase(
        "purging", "Cache-Tag is a list with commas",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Cache-Tag: one, two,,one ~ Cache-Tag: three
                => uri-miss stored tag=one tag=two tag=three
            """),
    CacheCase(
        "purging", "Surrogate-Key is one with spaces",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Surrogate-Key: one,x  two ~ Cache-Tag: two
                => uri-miss stored tag=one,x tag=two
            """),
    CacheCase(
        "purging", "what a purge would not find is not stored",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Cache-Tag: \((0...256).map(String.init).joined(separator: ","))
                => uri-miss not:tags
            < 200 ~ Cache-Control: max-age=60 ~ Cache-Tag: \(String(repeating: "x", count: 257)) => uri-miss not:tags
            < 200 ~ Cache-Control: max-age=60 ~ Cache-Tag: \u{E9} => uri-miss not:tags
            < 200 ~ Cache-Control: max-age=60 ~ Cache-Tag: \((1...256).map(String.init).joined(separator: ","))
                => uri-miss stored tag=256
            """),
]
