// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §7.1: attempts to store an answer for other clients, by input that the origin sees and the key lacks.
let poisoningCases: [CacheCase] =
    [
        "X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method", "X-Original-URL", "X-Rewrite-URL",
        "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Port", "X-Forwarded-Prefix",
        "X-Forwarded-Server", "X-Forwarded-SSL", "X-Host", "X-Original-Host", "Forwarded", "Front-End-Https",
        "X-URL-Scheme", "x-forwarded-HOST", "Upgrade", "X_Forwarded_Host", "X-Forwarded_Host",
    ].map { name in
        CacheCase(
            "7.1", "an unkeyed field: \(name)",
            steps: """
                ~ \(name): evil < 200 ~ Cache-Control: max-age=60, public => bypass not:unkeyed-field
                GET => uri-miss
                < 200 ~ Cache-Control: max-age=60 => uri-miss stored
                ~ \(name): x => bypass
                ~ \(name): => bypass
                ~ \(name): x ~ Cache-Control: only-if-cached => 504
                GET => hit
                """)
    } + [
        CacheCase(
            "7.1", "a GET with a body",
            steps: """
                ~ Content-Length: 5 < 200 ~ Cache-Control: max-age=60 => bypass not:request-body
                ~ Transfer-Encoding: chunked < 200 ~ Cache-Control: max-age=60 => bypass not:request-body
                ~ Content-Length: 0 < 200 ~ Cache-Control: max-age=60 => uri-miss stored
                ~ Content-Length: 5 => bypass
                ~ Content-Length: 00 => bypass
                """),
        CacheCase(
            "7.1", "other spellings of a path", .reuseURI,
            steps: """
                /a%2Fb < 200 ~ Cache-Control: max-age=60 => uri-miss stored
                /a/b => uri-miss
                /a%2fb => uri-miss
                /a%252Fb => uri-miss
                /a//b => uri-miss
                /x/../a%2Fb => uri-miss
                /./a%2Fb => uri-miss
                /a%2Fb;x => uri-miss
                /a%2Fb/ => uri-miss
                /a%2Fb => hit
                """),
        CacheCase(
            "7.1", "a parameter twice", .reuseURI,
            steps: """
                /a?b=1&b=evil < 200 ~ Cache-Control: max-age=60 => uri-miss stored
                /a?b=1 => uri-miss
                /a?b=evil&b=1 => uri-miss
                /a?b=1;b=evil => uri-miss
                """),
        CacheCase(
            "7.1", "a parameter with escapes", .reuseURI,
            steps: """
                /a?b=%31 < 200 ~ Cache-Control: max-age=60 => uri-miss stored
                /a?b=1 => uri-miss
                /a?%62=1 => uri-miss
                /a?b=1%00 => uri-miss
                /a?b=1%0d%0aX => uri-miss
                """),
        CacheCase(
            "7.1", "a parameter that looks as if it was for measuring", .reuseURI,
            steps: """
                /a?utm_source=evil < 200 ~ Cache-Control: max-age=60 => uri-miss stored
                /a => uri-miss
                """),
        CacheCase(
            "7.1", "the case of a field that Vary names", .reuseVary,
            steps: """
                ~ x-LANG: evil < 200 ~ Cache-Control: max-age=60 ~ Vary: X-Lang => uri-miss stored
                GET => vary-miss
                ~ X-Lang: good => vary-miss
                """),
        CacheCase(
            "7.1", "a second line of a field that Vary names", .reuseVary,
            steps: """
                ~ X: good ~ X: evil < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
                ~ X: good => vary-miss
                ~ X: good,evil => vary-miss
                ~ X: evil => vary-miss
                """),
        CacheCase(
            "7.1", "bytes that read alike", .reuseVary,
            steps: """
                ~ X: \u{E9} < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
                ~ X: e\u{301} => vary-miss
                ~ X: \u{E9} => hit
                """),
        CacheCase(
            "7.1", "a range outside, answered with 416", .storeUnderstood,
            steps: """
                ~ Range: bytes=999-
                    < 416 ~ Cache-Control: max-age=60, public ~ Content-Range: bytes */100
                    => uri-miss not:status
                GET => uri-miss
                """),
        CacheCase(
            "7.1", "a condition that fails, answered with 412",
            steps: """
                ~ If-Match: "x" < 412 ~ Cache-Control: max-age=60, public => request not:status
                GET => uri-miss
                """),
        CacheCase(
            "7.1", "a head that is too long, answered with 400, 413 and 431",
            steps: """
                ~ X: \(String(repeating: "x", count: 9000)) < 400 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 431 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 413 ~ Cache-Control: public, max-age=60 => uri-miss not:status
                GET => uri-miss
                """),
        CacheCase(
            "6585 3-6", "statuses that are never stored",
            steps: """
                < 428 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 429 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 511 ~ Cache-Control: max-age=60 => uri-miss not:status
                GET => uri-miss
                """),
        CacheCase(
            "7.1", "statuses about this request's credentials, form and connection",
            steps: """
                < 401 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 407 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 406 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 408 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 417 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 421 ~ Cache-Control: max-age=60 => uri-miss not:status
                < 425 ~ Cache-Control: max-age=60 => uri-miss not:status
                """),
        CacheCase(
            "7.1", "a part that asks to be the whole", .incompleteNotWhole,
            steps: """
                ~ Range: bytes=0-0
                    < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-0/100
                    => uri-miss stored
                GET => partial
                """),
        CacheCase(
            "7.1", "a directive that hides in a quotation", .storeNoStore,
            steps: """
                < 200 ~ Cache-Control: x="a, max-age=60", no-store => uri-miss not:no-store
                < 200 ~ Cache-Control: max-age=60, x="a, no-store" => uri-miss stored
                """),
        CacheCase(
            "7.1", "directives that two readers take for different ones",
            steps: """
                < 200 ~ Cache-Control: max-age=60; no-store => uri-miss not:malformed-cache-control
                < 200 ~ Cache-Control: max-age=60, x=" => uri-miss not:malformed-cache-control
                < 200 ~ Cache-Control: max-age = 60 => uri-miss not:malformed-cache-control
                < 200 ~ Cache-Control: max-age=60 private => uri-miss not:malformed-cache-control
                < 200 ~ Cache-Control: max-age=60, =x => uri-miss not:malformed-cache-control
                < 200 ~ Cache-Control: max-age=60, x="a"b => uri-miss not:malformed-cache-control
                < 200 ~ Cache-Control: max-age=60, x="a\\ => uri-miss not:malformed-cache-control
                GET => uri-miss
                """),
        CacheCase(
            "7.1", "lists that only take time",
            steps: """
                < 200 ~ Cache-Control: \(String(repeating: "public,", count: 65))max-age=60
                    => uri-miss not:malformed-cache-control
                < 200 ~ Cache-Control: \(String(repeating: "x,", count: 9000))max-age=60 => uri-miss stored
                GET => hit
                /b < 200 ~ Cache-Control: max-age=60 ~ Vary: \(String(repeating: "X,", count: 65))
                    => uri-miss not:vary-too-many
                /b < 200 ~ Cache-Control: max-age=60 ~ Cache-Tag: \(String(repeating: "x,", count: 1025))
                    => uri-miss not:tags
                /b < 200 ~ Cache-Control: max-age=60, private="\(String(repeating: "x,", count: 513))"
                    => uri-miss not:private
                """),
        CacheCase(
            "7.1", "a field that Connection would take away", .keepFields,
            steps: """
                < 200 ~ Cache-Control: max-age=5 ~ Connection: Cache-Control, Vary ~ Vary: X => uri-miss stored
                ~ X: 1 => hit Cache-Control:max-age=5
                """),
    ]
