// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §4: which requests a stored response answers, and §4.1: which of several.
let reuseCases: [CacheCase] = [
    CacheCase(
        "4", "another path is another URI", .reuseURI,
        steps: """
            /a < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            /b => uri-miss
            """),
    CacheCase(
        "4", "another query is another URI", .reuseURI,
        steps: """
            /a?b=1 < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            /a?b=2 => uri-miss
            /a => uri-miss
            /a? => uri-miss
            /a?b=1& => uri-miss
            /a?b=1 => hit
            """),
    CacheCase(
        "4", "queries in another order are another URI", .reuseURI,
        steps: """
            /a?b=1&c=2 < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            /a?c=2&b=1 => uri-miss
            """),
    CacheCase(
        "4", "a path in another case is another URI", .reuseURI,
        steps: """
            /a < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            /A => uri-miss
            """),
    CacheCase(
        "4", "HEAD is answered by what GET brought", .reuseMethod,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            +5
            HEAD => hit 200 age=5 no-body length=100
            """),
    CacheCase(
        "4", "no other method is", .reuseMethod, .writeThrough,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            OPTIONS => method
            TRACE => method
            """),
    CacheCase(
        "4", "methods that are not safe go to the origin", .writeThrough,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            POST => method
            PUT => method
            DELETE => method
            PATCH => method
            get => method
            """),
    CacheCase(
        "4", "even if nobody may be asked", .writeThrough,
        steps: """
            POST ~ Cache-Control: only-if-cached => 504
            """),
    CacheCase(
        "5.1", "an answer that was not validated has Age", .age,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss !Age
            GET => hit Age:0
            +7
            GET => hit Age:7
            HEAD => hit Age:7
            """),
    CacheCase(
        "5.2", "the directives of what is stored are passed on", .passDirectives,
        steps: """
            < 200 ~ Cache-Control: max-age=60, s-maxage=30 ~ Cache-Control: public => uri-miss stored
            GET => hit Cache-Control:max-age=60,_s-maxage=30|public
            """),
    CacheCase(
        "5.2", "those of a request are passed on", .passDirectives,
        steps: """
            ~ Cache-Control: max-age=5, x => uri-miss sent.Cache-Control:max-age=5,_x
            """),
    CacheCase(
        "3", "status and fields are those that were stored",
        steps: """
            < 404 ~ Cache-Control: max-age=60 ~ X: y => uri-miss 404 stored
            GET => hit 404 X:y body=0..<100
            """),
    CacheCase(
        "3", "a response without content has none",
        steps: """
            < 204 length=0 ~ Cache-Control: max-age=60 => uri-miss stored
            GET => hit 204 no-body
            """),
    CacheCase(
        "4", "a newer response takes the place of the older", .mostRecent,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ X: 1 => uri-miss stored
            ~ Cache-Control: no-cache < 200 ~ Cache-Control: max-age=60 ~ X: 2 => request stored
            GET => hit X:2
            """),
    CacheCase(
        "4.1", "the field that Vary names must be the same", .reuseVary,
        steps: """
            ~ X: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
            ~ X: 1 => hit
            ~ X: 2 => vary-miss
            GET => vary-miss
            """),
    CacheCase(
        "4.1", "a field that was absent must be absent", .reuseVary,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
            GET => hit
            ~ X: => vary-miss
            ~ X: 1 => vary-miss
            """),
    CacheCase(
        "4.1", "an empty field is not an absent one", .reuseVary,
        steps: """
            ~ X: < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
            ~ X: => hit
            GET => vary-miss
            """),
    CacheCase(
        "4.1", "all fields that Vary names must be the same", .reuseVary,
        steps: """
            ~ X: 1 ~ Y: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X, Y => uri-miss stored
            ~ Y: 1 ~ X: 1 => hit
            ~ X: 1 => vary-miss
            ~ X: 1 ~ Y: 2 => vary-miss
            """),
    CacheCase(
        "4.1", "Vary on two lines", .reuseVary,
        steps: """
            ~ X: 1 ~ Y: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X ~ Vary: Y => uri-miss stored
            ~ X: 1 ~ Y: 2 => vary-miss
            ~ X: 1 ~ Y: 1 => hit
            """),
    CacheCase(
        "4.1", "names in any case", .reuseVary,
        steps: """
            ~ x-A: 1 < 200 ~ Cache-Control: max-age=60 ~ vary: X-a => uri-miss stored
            ~ X-A: 1 => hit
            ~ X-A: 2 => vary-miss
            """),
    CacheCase(
        "4.1", "values with their case", .reuseVary,
        steps: """
            ~ X: a < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
            ~ X: A => vary-miss
            """),
    CacheCase(
        "4.1", "a name that is there twice is one", .reuseVary,
        steps: """
            ~ X: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X, x,, X => uri-miss stored
            ~ X: 1 => hit
            """),
    CacheCase(
        "4.1", "Vary: * never matches", .varyAny,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: * => uri-miss not:vary-any
            GET => uri-miss
            """),
    CacheCase(
        "4.1", "also among names", .varyAny,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: X, *, Y => uri-miss not:vary-any
            """),
    CacheCase(
        "4.1", "also on a second line", .varyAny,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: X ~ Vary: * => uri-miss not:vary-any
            """),
    CacheCase(
        "4.1", "also behind more names than are compared",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: \((1...17).map { "x\($0)" }.joined(separator: ",")) ~ Vary: *
                => uri-miss not:vary-too-many
            """),
    CacheCase(
        "4.1", "what is no name could be anything", .varyAny,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: X Y => uri-miss not:vary-any
            < 200 ~ Cache-Control: max-age=60 ~ Vary: "X" => uri-miss not:vary-any
            < 200 ~ Cache-Control: max-age=60 ~ Vary: X; => uri-miss not:vary-any
            """),
    CacheCase(
        "4.1", "an empty Vary names nothing",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: , => uri-miss stored
            ~ X: 1 => hit
            """),
    CacheCase(
        "4.1", "16 names are compared", .reuseVary,
        steps: """
            ~ x16: 1
                < 200 ~ Cache-Control: max-age=60 ~ Vary: \((1...16).map { "x\($0)" }.joined(separator: ","))
                => uri-miss stored
            ~ x16: 1 => hit
            ~ x16: 2 => vary-miss
            ~ x16: 1 ~ x1: 1 => vary-miss
            """),
    CacheCase(
        "4.1", "17 are not",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: \((1...17).map { "x\($0)" }.joined(separator: ","))
                => uri-miss not:vary-too-many
            """),
    CacheCase(
        "4.1", "two variants side by side", .reuseVary,
        steps: """
            ~ X: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X ~ V: 1 => uri-miss stored
            ~ X: 2 < 200 ~ Cache-Control: max-age=60 ~ Vary: X ~ V: 2 => vary-miss stored
            ~ X: 1 => hit V:1
            ~ X: 2 => hit V:2
            ~ X: 3 => vary-miss
            """),
    CacheCase(
        "4.1", "lines of one name are one value",
        steps: """
            ~ X: 1 ~ X: 2 < 200 ~ Cache-Control: max-age=60 ~ Vary: X => uri-miss stored
            ~ X: 1, 2 => hit
            ~ X: 2, 1 => vary-miss
            """),
    CacheCase(
        "4.1", "white space of a known list means nothing",
        steps: """
            ~ Accept-Encoding: gzip;q=0.5 , br
                < 200 ~ Cache-Control: max-age=60 ~ Vary: Accept-Encoding
                => uri-miss stored
            ~ Accept-Encoding: gzip ;\tq=0.5,br => hit
            ~ Accept-Encoding: gzip;q=0.5 ~ Accept-Encoding: br => hit
            ~ Accept-Encoding: ,gzip;q=0.5,,br, => hit
            ~ Accept-Encoding: br, gzip;q=0.5 => vary-miss
            ~ Accept-Encoding: GZIP;q=0.5, br => vary-miss
            """),
    CacheCase(
        "4.1", "white space between quotation marks means something",
        steps: """
            ~ Accept: a/b;c="d, e" < 200 ~ Cache-Control: max-age=60 ~ Vary: Accept => uri-miss stored
            ~ Accept: a/b; c="d, e" => hit
            ~ Accept: a/b;c="d,e" => vary-miss
            ~ Accept: a/b;c="d ,e" => vary-miss
            """),
    CacheCase(
        "4.1", "white space of other fields means something",
        steps: """
            ~ User-Agent: a,b < 200 ~ Cache-Control: max-age=60 ~ Vary: User-Agent => uri-miss stored
            ~ User-Agent: a,b => hit
            ~ User-Agent: a, b => vary-miss
            ~ User-Agent: a ,b => vary-miss
            """),
    CacheCase(
        "4.1", "a response that varies goes before one that forgot to say so", .mostRecent,
        steps: """
            ~ X: 1 < 200 ~ Cache-Control: max-age=60 ~ Vary: X ~ V: x => uri-miss stored
            +1
            ~ X: 2 < 200 ~ Cache-Control: max-age=60 ~ V: default => vary-miss stored
            ~ X: 1 => hit V:x
            ~ X: 2 => hit V:default
            """),
    CacheCase(
        "4.1", "of two that match the more recent by Date", .mostRecent,
        steps: """
            ~ X: 1 ~ Y: 1 < 200 ~ Cache-Control: max-age=600 ~ Vary: X ~ V: x => uri-miss stored
            ~ X: 2 ~ Y: 1 < 200 ~ Cache-Control: max-age=600 ~ Vary: Y ~ Date: @-60 ~ V: y => vary-miss stored
            ~ X: 1 ~ Y: 1 => hit V:x
            ~ X: 3 ~ Y: 1 => hit V:y
            """),
    CacheCase(
        "4.1", "credentials are not kept to be compared",
        steps: """
            ~ Authorization: Basic x
                < 200 ~ Cache-Control: max-age=60, public ~ Vary: Authorization
                => uri-miss not:vary-secret
            ~ Cookie: a=b < 200 ~ Cache-Control: max-age=60 ~ Vary: Cookie => uri-miss not:vary-secret
            """),
    CacheCase(
        "4.1", "but in the cache of one user they are", rules: .ofOneUser,
        steps: """
            ~ Authorization: Basic x
                < 200 ~ Cache-Control: max-age=60 ~ Vary: Authorization
                => uri-miss stored
            ~ Authorization: Basic x => hit
            ~ Authorization: Basic y => vary-miss
            GET => vary-miss
            """),
    CacheCase(
        "4.1", "their absence is", .reuseVary,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Vary: Cookie => uri-miss stored
            GET => hit
            ~ Cookie: a=b => vary-miss
            """),
    CacheCase(
        "4.1", "coded content depends on Accept-Encoding though Vary is silent",
        steps: """
            ~ Accept-Encoding: gzip < 200 ~ Cache-Control: max-age=60 ~ Content-Encoding: gzip => uri-miss stored
            GET => vary-miss
            ~ Accept-Encoding: br => vary-miss
            ~ Accept-Encoding: gzip => hit
            """),
    CacheCase(
        "4.1", "what allows one origin depends on Origin though Vary is silent",
        steps: """
            ~ Origin: https://a
                < 200 ~ Cache-Control: max-age=60 ~ Access-Control-Allow-Origin: https://a
                => uri-miss stored
            ~ Origin: https://b => vary-miss
            GET => vary-miss
            ~ Origin: https://a => hit
            """),
    CacheCase(
        "4.1", "what allows all origins does not",
        steps: """
            ~ Origin: https://a < 200 ~ Cache-Control: max-age=60 ~ Access-Control-Allow-Origin: * => uri-miss stored
            ~ Origin: https://b => hit
            GET => hit
            """),
]
