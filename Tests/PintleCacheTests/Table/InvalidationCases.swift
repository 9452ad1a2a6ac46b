// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §4.3.5 and §4.4: the effect of HEAD and of unsafe methods on stored responses.
let invalidationCases: [CacheCase] = [
    CacheCase(
        "4.3.5", "HEAD with the same validator", .freshenFields,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" ~ X: 1 => uri-miss stored
            +5
            HEAD < 200 ~ ETag: "a" ~ X: 2 ~ Content-Length: 100 => stale? 200 freshened
            GET => hit X:2 age=0 body=0..<100
            """),
    CacheCase(
        "4.3.5", "HEAD with another tag",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            HEAD ~ Cache-Control: no-cache < 200 ~ ETag: "b" => request? 200 outdated
            GET => uri-miss
            """),
    CacheCase(
        "4.3.5", "HEAD with another date",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT => uri-miss stored
            HEAD ~ Cache-Control: no-cache < 200 ~ Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT => request? outdated
            GET => uri-miss
            """),
    CacheCase(
        "4.3.5", "HEAD with another length",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            HEAD ~ Cache-Control: no-cache < 200 ~ Content-Length: 99 => request outdated
            GET => uri-miss
            """),
    CacheCase(
        "4.3.5", "HEAD with the length alone",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            +9
            HEAD ~ Cache-Control: no-cache < 200 ~ Content-Length: 100 => request freshened
            GET => hit age=0
            """),
    CacheCase(
        "4.3.5", "HEAD that says nothing",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            +9
            HEAD ~ Cache-Control: no-cache < 200 => request unrelated
            GET => hit age=9
            """),
    CacheCase(
        "4.3.5", "HEAD with an error",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            HEAD ~ Cache-Control: no-cache < 403 ~ ETag: "b" => request? 403 unrelated
            GET => hit
            """),
    CacheCase(
        "4.3.5", "HEAD of another variant", .reuseVary,
        steps: """
            ~ X: 1 < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Vary: X => uri-miss stored
            HEAD ~ X: 2 < 200 ~ ETag: "b" => vary-miss 200
            ~ X: 1 => hit
            """),
    CacheCase(
        "4.3.5", "304 to HEAD", .freshenFields,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            HEAD < 304 => stale? freshened 200 no-body length=100
            GET => hit age=0
            """),
    CacheCase(
        "4.4", "a success of another method", .invalidateTarget,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            POST < 200 => method gone=/a
            GET => uri-miss
            """),
    CacheCase(
        "4.4", "each of them", .invalidateTarget,
        steps: """
            PUT < 201 => method gone=/a
            DELETE < 204 => method gone=/a
            PATCH < 200 => method gone=/a
            POST < 303 => method gone=/a
            """),
    CacheCase(
        "4.4", "a method whose safety is not known", .invalidateUnknown,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            FROB < 200 => method gone=/a
            GET => uri-miss
            """),
    CacheCase(
        "4.4", "an error invalidates nothing",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            POST < 400 => method
            PUT < 500 => method
            DELETE < error => method failed
            GET => hit
            """),
    CacheCase(
        "4.4", "safe methods invalidate nothing",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            OPTIONS < 200 ~ Content-Location: /a => method
            TRACE < 200 => method
            GET => hit
            """),
    CacheCase(
        "4.4", "all variants go", .invalidateTarget,
        steps: """
            ~ X: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
            ~ X: 2 < 200 ~ Cache-Control: max-age=60 ~ Vary: X => vary-miss stored
            POST < 200 => method gone=/a
            ~ X: 1 => uri-miss
            """),
    CacheCase(
        "4.4", "Location and Content-Location",
        steps: """
            /b < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            /c < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            POST < 201 ~ Location: http://h:80/b#x ~ Content-Location: c => method gone=/a gone=/b gone=/c
            /b => uri-miss
            /c => uri-miss
            """),
    CacheCase(
        "4.4", "not of another origin", .invalidateOrigin,
        steps: """
            /b < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            POST < 201 ~ Location: http://other/b ~ Content-Location: https://h/b => method invalid=1 gone=/a
            POST < 201 ~ Location: //h:81/b => method invalid=1 gone=/a
            /b => hit
            """),
    CacheCase(
        "4.4", "a Location that is no URL", .invalidateOrigin,
        steps: """
            POST < 201 ~ Location: http://[ ~ Content-Location: \\b => method invalid=1 gone=/a
            """),
]
