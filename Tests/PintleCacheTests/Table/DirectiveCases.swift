// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §4.2.4, §5.2 and RFC 5861: directives of clients and origins about stored responses.
let directiveCases: [CacheCase] = [
    CacheCase(
        "5.2.1.1", "a greatest age below that of what is stored",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            +10
            ~ Cache-Control: max-age=10 => hit
            ~ Cache-Control: max-age=9 => request?
            """),
    CacheCase(
        "5.2.1.1", "max-age=0",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: max-age=0 => hit
            +1
            ~ Cache-Control: max-age=0 => request?
            """),
    CacheCase(
        "5.2.1.1", "a max-age that cannot be read is 0",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            +1
            ~ Cache-Control: max-age=x => request?
            """),
    CacheCase(
        "5.2.1.1", "of two the smaller",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            +10
            ~ Cache-Control: max-age=99, max-age=5 => request?
            """),
    CacheCase(
        "5.2.1.1", "max-age wants nothing stale",
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-while-revalidate=60 ~ ETag: "a" => uri-miss stored
            +10
            ~ Cache-Control: max-age=99 => stale?
            GET => hit+revalidate
            """),
    CacheCase(
        "5.2.1.2", "max-stale takes what is stale", .stalePermitted,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +15
            ~ Cache-Control: max-stale=10 => stale-hit age=15
            ~ Cache-Control: max-stale=9 => stale?
            """),
    CacheCase(
        "5.2.1.2", "max-stale limits what stale-while-revalidate allows",
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-while-revalidate=60 ~ ETag: "a" => uri-miss stored
            +15
            ~ Cache-Control: max-stale=9 => stale?
            ~ Cache-Control: max-stale=10 => stale-hit
            GET => hit+revalidate
            """),
    CacheCase(
        "5.2.1.2", "max-stale without a number takes anything", .stalePermitted,
        steps: """
            < 200 ~ Cache-Control: max-age=5 => uri-miss stored
            +999999
            ~ Cache-Control: max-stale => stale-hit
            """),
    CacheCase(
        "5.2.1.2", "of max-stale with and without a number that with one",
        steps: """
            < 200 ~ Cache-Control: max-age=5 => uri-miss stored
            +15
            ~ Cache-Control: max-stale, max-stale=3 => stale
            """),
    CacheCase(
        "5.2.1.2", "a max-stale that cannot be read takes nothing stale",
        steps: """
            < 200 ~ Cache-Control: max-age=5 => uri-miss stored
            +6
            ~ Cache-Control: max-stale=x => stale
            """),
    CacheCase(
        "5.2.1.2", "max-stale beside a greatest age",
        steps: """
            < 200 ~ Cache-Control: max-age=5 => uri-miss stored
            +8
            ~ Cache-Control: max-age=9, max-stale=9 => stale-hit
            ~ Cache-Control: max-age=7, max-stale=9 => stale
            """),
    CacheCase(
        "5.2.1.3", "min-fresh",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            +50
            ~ Cache-Control: min-fresh=10 => hit
            ~ Cache-Control: min-fresh=11 => request?
            """),
    CacheCase(
        "5.2.1.3", "a min-fresh that cannot be read is never met",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: min-fresh=x => request?
            ~ Cache-Control: min-fresh => request?
            """),
    CacheCase(
        "5.2.1.3", "min-fresh goes before max-stale",
        steps: """
            < 200 ~ Cache-Control: max-age=5 => uri-miss stored
            +6
            ~ Cache-Control: min-fresh=1, max-stale => stale
            """),
    CacheCase(
        "5.2.1.4", "no-cache of the request", .reuseFresh,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: no-cache => request? sent.If-None-Match:"a"
            """),
    CacheCase(
        "5.2.1.4", "without a validator the request goes on as it is",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Cache-Control: no-cache => request !sent.If-None-Match
            """),
    CacheCase(
        "5.2.1.4", "no-cache with an argument is one",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: no-cache="x" => request?
            """),
    CacheCase(
        "5.2.1.4", "directives of a request that cannot be read are no-cache and no-store",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: max-age=60; x => request?
            /b ~ Cache-Control: "x < 200 ~ Cache-Control: max-age=60 => uri-miss not:request-no-store
            """),
    CacheCase(
        "5.2.1.7", "only-if-cached with nothing stored",
        steps: """
            ~ Cache-Control: only-if-cached => 504
            """),
    CacheCase(
        "5.2.1.7", "only-if-cached with something fresh",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Cache-Control: only-if-cached => hit
            +60
            ~ Cache-Control: only-if-cached => 504
            ~ Cache-Control: only-if-cached, max-stale => stale-hit
            """),
    CacheCase(
        "5.2.1.7", "only-if-cached with another variant",
        steps: """
            ~ X: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
            ~ X: 2 ~ Cache-Control: only-if-cached => 504
            """),
    CacheCase(
        "5.2.1.7", "only-if-cached with no-cache",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: only-if-cached, no-cache => 504
            """),
    CacheCase(
        "5.4", "Pragma: no-cache",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Pragma: no-cache => request?
            ~ Pragma: x, No-Cache => request?
            ~ Pragma: no-store => hit
            """),
    CacheCase(
        "5.4", "Pragma beside Cache-Control is passed over",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Pragma: no-cache ~ Cache-Control: max-age=60 => hit
            """),
    CacheCase(
        "5.4", "Pragma of a response means nothing",
        steps: """
            < 200 ~ Pragma: no-cache ~ Cache-Control: max-age=60 => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "5.2.2.4", "no-cache of the response", .noCache, .reuseNoCache,
        steps: """
            < 200 ~ Cache-Control: no-cache, max-age=60 ~ ETag: "a" => uri-miss stored
            GET => stale?
            GET < 304 => stale? freshened 200
            GET => stale?
            """),
    CacheCase(
        "5.2.2.4", "not with max-stale either", .noCache, .staleForbidden,
        steps: """
            < 200 ~ Cache-Control: no-cache ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: max-stale => stale?
            """),
    CacheCase(
        "5.2.2.4", "no-cache that names what a response cannot be without holds for all of it", .noCache,
        steps: """
            < 200 ~ Cache-Control: no-cache="ETag", max-age=60 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "5.2.2.2", "must-revalidate: fresh it answers",
        steps: """
            < 200 ~ Cache-Control: max-age=60, must-revalidate => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "5.2.2.2", "must-revalidate: stale it does not", .mustRevalidate, .staleForbidden,
        steps: """
            < 200 ~ Cache-Control: max-age=5, must-revalidate, stale-while-revalidate=99 ~ ETag: "a" => uri-miss stored
            +5
            ~ Cache-Control: max-stale => stale?
            GET => stale?
            """),
    CacheCase(
        "5.2.2.2", "must-revalidate: not when the origin fails", .mustRevalidate,
        steps: """
            < 200 ~ Cache-Control: max-age=5, must-revalidate, stale-if-error=99 ~ ETag: "a" => uri-miss stored
            +5
            GET < error => stale? failed
            GET < 503 => stale? 503
            """),
    CacheCase(
        "5.2.2.8", "proxy-revalidate in a shared cache", .proxyRevalidate, .staleForbidden,
        steps: """
            < 200 ~ Cache-Control: max-age=5, proxy-revalidate ~ ETag: "a" => uri-miss stored
            +5
            ~ Cache-Control: max-stale => stale?
            """),
    CacheCase(
        "5.2.2.8", "proxy-revalidate in the cache of one user", rules: .ofOneUser,
        steps: """
            < 200 ~ Cache-Control: max-age=5, proxy-revalidate => uri-miss stored
            +5
            ~ Cache-Control: max-stale => stale-hit
            """),
    CacheCase(
        "5.2.2.10", "s-maxage forbids what is stale", .sharedMaxAge, .staleForbidden,
        steps: """
            < 200 ~ Cache-Control: s-maxage=5, stale-while-revalidate=99 ~ ETag: "a" => uri-miss stored
            +5
            ~ Cache-Control: max-stale => stale?
            GET => stale?
            """),
    CacheCase(
        "4.2.4", "nothing stale without permission", .stalePermitted, .reuseFresh,
        steps: """
            < 200 ~ Cache-Control: max-age=5 => uri-miss stored
            +5
            GET => stale
            """),
    CacheCase(
        "5.2.2.9", "public does not make longer",
        steps: """
            < 200 ~ Cache-Control: public, max-age=5 => uri-miss stored
            +5
            GET => stale
            """),
    CacheCase(
        "5861 3", "stale-while-revalidate", .stalePermitted,
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-while-revalidate=10 ~ ETag: "a" => uri-miss stored
            +4
            GET => hit
            +1
            GET => hit+revalidate age=5 Age:5
            +10
            GET => hit+revalidate age=15
            +1
            GET => stale?
            """),
    CacheCase(
        "5861 3", "of two the smaller, and what cannot be read is 0",
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-while-revalidate=10, stale-while-revalidate=x => uri-miss stored
            +6
            GET => stale
            """),
    CacheCase(
        "5861 3", "not for a client that wants it fresh",
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-while-revalidate=10 ~ ETag: "a" => uri-miss stored
            +6
            ~ Cache-Control: min-fresh=1 => stale?
            ~ Cache-Control: no-cache => request?
            """),
    CacheCase(
        "5861 4", "stale-if-error of the response", .stalePermitted,
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-if-error=10 ~ ETag: "a" => uri-miss stored
            +15
            GET < error => stale? stale-if-error 200 age=15
            GET < 500 => stale? stale-if-error 200
            GET < 502 => stale? stale-if-error
            GET < 503 => stale? stale-if-error
            GET < 504 => stale? stale-if-error
            +1
            GET < error => stale? failed
            GET < 503 => stale? 503
            """),
    CacheCase(
        "5861 4", "not after other errors",
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-if-error=10 ~ ETag: "a" => uri-miss stored
            +6
            GET < 501 => stale? 501
            GET < 404 => stale? 404
            GET < 429 => stale? 429
            """),
    CacheCase(
        "5861 4", "stale-if-error of the request", .stalePermitted,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +15
            ~ Cache-Control: stale-if-error=10 < error => stale? stale-if-error
            ~ Cache-Control: stale-if-error=9 < error => stale? failed
            GET < error => stale? failed
            """),
    CacheCase(
        "5861 4", "of both the shorter",
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-if-error=99 ~ ETag: "a" => uri-miss stored
            +15
            ~ Cache-Control: stale-if-error=9 < error => stale? failed
            """),
    CacheCase(
        "5861 4", "without a validator, too",
        steps: """
            < 200 ~ Cache-Control: max-age=5, stale-if-error=99 => uri-miss stored
            +15
            GET < 503 => stale stale-if-error 200
            """),
    CacheCase(
        "5861 4", "not for a client that wants it validated",
        steps: """
            < 200 ~ Cache-Control: max-age=60, stale-if-error=99 ~ ETag: "a" => uri-miss stored
            ~ Cache-Control: no-cache < error => request? failed
            """),
    CacheCase(
        "5861 4", "not against s-maxage", .sharedMaxAge,
        steps: """
            < 200 ~ Cache-Control: s-maxage=5, stale-if-error=99 ~ ETag: "a" => uri-miss stored
            +6
            GET < error => stale? failed
            """),
    CacheCase(
        "4.3.3", "a 503 to a validation is passed on",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +6
            GET < 503 => stale? 503
            GET < 304 => stale? freshened 200
            """),
]
