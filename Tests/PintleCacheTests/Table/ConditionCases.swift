// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §4.3.1 and §4.3.2: the conditions of the cache, and those of clients.
let conditionCases: [CacheCase] = [
    CacheCase(
        "4.3.1", "the stored tag is sent", .validateTag,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ ETag: "a,b" => uri-miss stored
            GET => stale? sent.If-None-Match:"a,b" !sent.If-Modified-Since
            """),
    CacheCase(
        "4.3.1", "a weak tag, too", .validateTag,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ ETag: W/"a" => uri-miss stored
            GET => stale? sent.If-None-Match:W/"a"
            """),
    CacheCase(
        "4.3.1", "the stored date is sent as it was written",
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT => uri-miss stored
            GET => stale? sent.If-Modified-Since:Sunday,_06-Nov-94_08:49:37_GMT !sent.If-None-Match
            """),
    CacheCase(
        "4.3.1", "both are sent", .validateTag,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ ETag: "a" ~ Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT => uri-miss stored
            GET => stale? sent.If-None-Match:"a" sent.If-Modified-Since:Sun,_06_Nov_1994_08:49:37_GMT
            """),
    CacheCase(
        "4.3.1", "the client's conditions and range give way", .validateTag,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ ETag: "a" => uri-miss stored
            ~ If-None-Match: "old" ~ If-Modified-Since: @-5 ~ Range: bytes=0-1 ~ If-Range: "old"
                => stale? sent.If-None-Match:"a" !sent.If-Modified-Since !sent.Range !sent.If-Range
            """),
    CacheCase(
        "4.3.1", "without a validator nothing is asked",
        steps: """
            < 200 ~ Cache-Control: max-age=5 => uri-miss stored
            +5
            ~ If-None-Match: "c" => stale sent.If-None-Match:"c"
            """),
    CacheCase(
        "4.3.1", "a tag without quotation marks is none",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: a => uri-miss stored
            +5
            GET => stale !sent.If-None-Match
            """),
    CacheCase(
        "4.3.1", "two different tags are none",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" ~ ETag: "b" => uri-miss stored
            +5
            GET => stale !sent.If-None-Match
            """),
    CacheCase(
        "4.3.2", "If-None-Match with the stored tag",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Type: a/b ~ Vary: X ~ X-Y: z => uri-miss stored
            +3
            ~ If-None-Match: "a" => hit 304 no-body ETag:"a" Cache-Control:max-age=60 Vary:X Age:3 !Content-Type
            HEAD ~ If-None-Match: "a" => hit 304
            """),
    CacheCase(
        "4.3.2", "with another tag",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ If-None-Match: "b" => hit 200 body=0..<100
            """),
    CacheCase(
        "4.3.2", "with a list, on several lines",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a,b" => uri-miss stored
            ~ If-None-Match: "b", "a" , W/"a,b" => hit 304
            ~ If-None-Match: "b" ~ If-None-Match: "a,b" => hit 304
            ~ If-None-Match: "a", "b" => hit 200
            """),
    CacheCase(
        "4.3.2", "weak and strong are the same here",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: W/"a" => uri-miss stored
            ~ If-None-Match: "a" => hit 304
            ~ If-None-Match: W/"a" => hit 304
            """),
    CacheCase(
        "4.3.2", "with a star",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ If-None-Match: * => hit 304
            ~ If-None-Match: "*" => hit 200
            """),
    CacheCase(
        "4.3.2", "with what is no list of tags",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ If-None-Match: a => hit 200
            ~ If-None-Match: "a => hit 200
            ~ If-None-Match: => hit 200
            """),
    CacheCase(
        "4.3.2", "If-None-Match goes before If-Modified-Since",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Last-Modified: @-60 => uri-miss stored
            ~ If-None-Match: "b" ~ If-Modified-Since: @+0 => hit 200
            ~ If-None-Match: "a" ~ If-Modified-Since: @-99 => hit 304
            """),
    CacheCase(
        "4.3.2", "If-Modified-Since at and before the last change",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Last-Modified: @-60 => uri-miss stored
            ~ If-Modified-Since: @-60 => hit 304 Last-Modified:Wed,_31_Dec_2025_23:59:00_GMT
            ~ If-Modified-Since: @-59 => hit 304
            ~ If-Modified-Since: @-61 => hit 200
            """),
    CacheCase(
        "4.3.2", "without Last-Modified the Date counts",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ If-Modified-Since: @+0 => hit 304
            ~ If-Modified-Since: @-1 => hit 200
            """),
    CacheCase(
        "4.3.2", "an If-Modified-Since in an old form",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ If-Modified-Since: @rfc850 => hit 304
            ~ If-Modified-Since: @asctime => hit 304
            """),
    CacheCase(
        "4.3.2", "what is no date is passed over",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ If-Modified-Since: tomorrow => hit 200
            ~ If-Modified-Since: @+5 ~ If-Modified-Since: @+5 => hit 200
            """),
    CacheCase(
        "4.3.2", "conditions are for successes",
        steps: """
            < 404 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ If-None-Match: "a" => hit 404
            """),
    CacheCase(
        "4.3.2", "conditions for the origin's state go to the origin", .originConditions,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ If-Match: "a" => request sent.If-Match:"a"
            ~ If-Unmodified-Since: @+0 => request
            ~ If-Match: "b" ~ Cache-Control: only-if-cached => 504
            """),
]
