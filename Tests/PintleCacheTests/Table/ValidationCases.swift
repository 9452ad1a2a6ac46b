// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §3.2, §4.3.3 and §4.3.4: changes by the origin's answer to a validation.
let validationCases: [CacheCase] = [
    CacheCase(
        "4.3.3", "304 brings what is stored up to date", .freshenFields, .updateFields,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" ~ X: old ~ Y: kept => uri-miss stored
            +5
            GET
                < 304 ~ ETag: "a" ~ Cache-Control: max-age=50 ~ X: new ~ Z: added
                => stale? freshened 200 X:new Y:kept Z:added !Age body=0..<100
            +49
            GET => hit 200 age=49 X:new Y:kept Z:added
            +1
            GET => stale?
            """),
    CacheCase(
        "3.2", "all lines of a name are replaced", .updateFields,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ ETag: "a" ~ X: 1 ~ x: 2 => uri-miss stored
            GET < 304 ~ X: 3 ~ X: 4 => stale? freshened X:3|4
            """),
    CacheCase(
        "3.2", "what describes the content stays", .updateNotLength,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ ETag: "a" ~ Content-Type: a/b ~ Content-Encoding: gzip => uri-miss stored
            GET
                < 304 ~ Content-Type: c/d ~ Content-Encoding: br ~ Content-Length: 7 ~ Content-Range: bytes 0-1/2
                => stale? freshened 200 Content-Type:a/b Content-Encoding:gzip !Content-Range length=100
            """),
    CacheCase(
        "3.2", "fields of the connection do not come in by a 304", .updateNotLength, .dropConnectionFields,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ ETag: "a" => uri-miss stored
            GET
                < 304 ~ Connection: X-Hop ~ X-Hop: 1 ~ Proxy-Authenticate: Basic ~ Age: 3
                => stale? freshened !Connection !X-Hop !Proxy-Authenticate !Age
            """),
    CacheCase(
        "3.2", "nor does a cookie", .updateNotLength,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 304 ~ Set-Cookie: a=b => stale? freshened !Set-Cookie
            GET => hit !Set-Cookie
            """),
    CacheCase(
        "3.2", "nor a field that private names", .dropNamedFields,
        steps: """
            < 200 ~ Cache-Control: max-age=5, private="X-User" ~ ETag: "a" ~ X-User: me => uri-miss stored
            +5
            GET < 304 ~ X-User: you => stale? freshened !X-User
            GET => hit !X-User
            """),
    CacheCase(
        "4.3.3", "the age of a 304 counts",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            +60
            GET < 304 ~ Age: 50 => stale? freshened
            GET => hit age=50
            +10
            GET => stale?
            """),
    CacheCase(
        "4.3.3", "Expires of the old head does not live on",
        steps: """
            < 200 ~ Expires: @+60 ~ ETag: "a" => uri-miss stored
            +60
            GET < 304 => stale? freshened
            GET => stale?
            """),
    CacheCase(
        "4.3.3", "a full response answers and takes the place", .fullResponse,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 200 ~ Cache-Control: max-age=5 ~ ETag: "b" => stale? 200 stored ETag:"b"
            GET => hit ETag:"b"
            """),
    CacheCase(
        "4.3.3", "so does a 404", .fullResponse,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 404 ~ Cache-Control: max-age=5 => stale? 404 stored
            GET => hit 404
            """),
    CacheCase(
        "4.3.4", "another strong tag updates nothing", .freshenStrong,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" ~ X: 1 => uri-miss stored
            +5
            GET < 304 ~ ETag: "b" ~ X: 2 => stale? unrelated
            GET => stale?
            """),
    CacheCase(
        "4.3.4", "a strong tag for a weak one updates nothing", .freshenStrong,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: W/"a" => uri-miss stored
            +5
            GET < 304 ~ ETag: "a" => stale? unrelated
            """),
    CacheCase(
        "4.3.4", "a tag where none was stored updates nothing", .freshenStrong,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ Last-Modified: @-9 => uri-miss stored
            +5
            GET < 304 ~ ETag: "a" => stale? unrelated
            """),
    CacheCase(
        "4.3.4", "the same weak tag", .freshenFields,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: W/"a" => uri-miss stored
            +5
            GET < 304 ~ ETag: W/"a" => stale? freshened ETag:W/"a"
            GET => hit
            """),
    CacheCase(
        "4.3.4", "a tag that became weak does not weaken what is stored",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 304 ~ ETag: W/"a" => stale? freshened ETag:"a"
            """),
    CacheCase(
        "4.3.4", "the same date", .freshenFields,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT => uri-miss stored
            +5
            GET < 304 ~ Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT => stale? freshened
            GET => hit
            """),
    CacheCase(
        "4.3.4", "another date",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT => uri-miss stored
            +5
            GET < 304 ~ Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT => stale? unrelated
            """),
    CacheCase(
        "4.3.4", "no validator at all is about what was asked for",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 304 => stale? freshened ETag:"a"
            GET => hit
            """),
    CacheCase(
        "4.3.4", "no-store in a 304", .noStore,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 304 ~ Cache-Control: no-store => stale? once:no-store 200
            GET => uri-miss
            """),
    CacheCase(
        "4.3.4", "private in a 304", .isPrivate,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 304 ~ Cache-Control: private => stale? once:private 200
            GET => uri-miss
            """),
    CacheCase(
        "4.3.4", "Vary: * in a 304", .varyAny,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            GET < 304 ~ Vary: * => stale? once:vary-any 200
            GET => uri-miss
            """),
    CacheCase(
        "4.3.4", "another Vary in a 304", .reuseVary,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            ~ X: 1 < 304 ~ Vary: X => stale? freshened 200
            ~ X: 1 => hit
            ~ X: 2 => vary-miss
            """),
    CacheCase(
        "4.3.4", "a 304 to a request with Authorization", .authorized,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            ~ Authorization: Basic x < 304 => stale? once:authorization 200
            GET => stale?
            """),
    CacheCase(
        "5.2.1.5", "a 304 to a request with no-store", .requestNoStore,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" ~ X: 1 => uri-miss stored
            +5
            ~ Cache-Control: no-store < 304 ~ X: 2 => stale? once:request-no-store 200 X:2
            GET < 304 => stale? freshened X:1
            """),
    CacheCase(
        "4.3.4", "a 304 to a request with a cookie, for what has a guessed lifetime",
        steps: """
            < 200 ~ Last-Modified: @-100 => uri-miss stored
            +10
            ~ Cookie: a=b < 304 => stale? once:no-lifetime 200
            GET => stale?
            """),
    CacheCase(
        "4.3.4", "the client's own condition is answered after a 304",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ ETag: "a" => uri-miss stored
            +5
            ~ If-None-Match: "a" < 304 => stale? freshened 304
            ~ Cache-Control: no-cache ~ Range: bytes=0-9 < 304 => request? freshened 206 body=0..<10
            """),
]
