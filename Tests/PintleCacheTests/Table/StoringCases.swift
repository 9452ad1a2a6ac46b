// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §3: responses that are stored, and the users who may get them.
let storingCases: [CacheCase] = [
    CacheCase(
        "3", "a GET that is answered with a lifetime is stored", .storeMethod,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss 200 stored held=all
            GET => hit 200 age=0 body=0..<100
            """),
    CacheCase(
        "3", "another method is not understood", .storeMethod,
        steps: """
            PROPFIND < 200 ~ Cache-Control: max-age=60 => method 200 not:method
            GET => uri-miss
            """),
    CacheCase(
        "3", "a POST is not stored though it has a lifetime", .storeMethod,
        steps: """
            POST < 200 ~ Cache-Control: max-age=60 ~ Content-Location: /a => method not:method
            GET => uri-miss
            """),
    CacheCase(
        "3", "methods are compared with their case", .storeMethod,
        steps: """
            get < 200 ~ Cache-Control: max-age=60 => method not:method
            GET => uri-miss
            """),
    CacheCase(
        "3", "HEAD by itself leaves nothing that could answer", .reuseMethod,
        steps: """
            HEAD < 200 ~ Cache-Control: max-age=60 => uri-miss 200
            GET => uri-miss
            HEAD => uri-miss
            """),
    CacheCase(
        "3", "a switch of protocols is no final response", .storeFinal,
        steps: """
            < 101 ~ Cache-Control: max-age=60 => uri-miss not:status
            GET => uri-miss
            """),
    CacheCase(
        "3", "an interim status is no final response", .storeFinal,
        steps: """
            < 199 ~ Cache-Control: max-age=60 => uri-miss not:status
            GET => uri-miss
            """),
    CacheCase(
        "3", "a status beyond HTTP's classes is not stored",
        steps: """
            < 600 ~ Cache-Control: max-age=60 => uri-miss not:status
            GET => uri-miss
            """),
    CacheCase(
        "3", "a 304 that nobody here asked for is not stored", .storeUnderstood,
        steps: """
            ~ If-None-Match: "x" < 304 ~ Cache-Control: max-age=60 ~ ETag: "x" => uri-miss 304 not:status
            GET => uri-miss
            """),
    CacheCase(
        "3", "a 206 to a request without a range is not stored", .storeUnderstood,
        steps: """
            < 206 ~ Cache-Control: max-age=60 ~ ETag: "x" ~ Content-Range: bytes 0-9/100 => uri-miss not:partial
            GET => uri-miss
            """),
    CacheCase(
        "3", "several ranges in one 206 are not stored", .storeUnderstood,
        steps: """
            ~ Range: bytes=0-1,4-5
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "x" ~ Content-Type: multipart/byteranges
                => uri-miss not:partial
            """),
    CacheCase(
        "3", "a status that nobody knows is stored with a lifetime",
        steps: """
            < 299 ~ Cache-Control: max-age=60 => uri-miss stored
            GET => hit 299
            """),
    CacheCase(
        "3", "and with Expires",
        steps: """
            < 299 ~ Expires: @+60 => uri-miss stored
            GET => hit 299
            """),
    CacheCase(
        "5.2.2.3", "must-understand: a status that nobody knows is not stored", .mustUnderstand, .storeUnderstood,
        steps: """
            < 299 ~ Cache-Control: max-age=60, must-understand => uri-miss not:status
            GET => uri-miss
            """),
    CacheCase(
        "5.2.2.3", "must-understand: no-store is for those who do not know the status",
        steps: """
            < 200 ~ Cache-Control: max-age=60, must-understand, no-store => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "5.2.2.3", "must-understand with an argument is another directive",
        steps: """
            < 200 ~ Cache-Control: max-age=60, must-understand=1, no-store => uri-miss not:no-store
            """),
    CacheCase(
        "3", "no-store of the response", .storeNoStore, .noStore,
        steps: """
            < 200 ~ Cache-Control: no-store, max-age=60 => uri-miss not:no-store
            GET => uri-miss
            """),
    CacheCase(
        "5.2.2.5", "no-store in capitals, on a line of its own", .noStore,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ cache-control: NO-STORE => uri-miss not:no-store
            GET => uri-miss
            """),
    CacheCase(
        "5.2.2.5", "no-store with an argument is one nevertheless", .noStore,
        steps: """
            < 200 ~ Cache-Control: max-age=60, no-store="x" => uri-miss not:no-store
            """),
    CacheCase(
        "5.2.2.5", "no-store removes nothing that was stored before", .noStore,
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Cache-Control: no-cache < 200 ~ Cache-Control: no-store => request not:no-store
            GET => hit
            """),
    CacheCase(
        "5.2.1.5", "no-store of the request", .requestNoStore, .storeNoStore,
        steps: """
            ~ Cache-Control: no-store < 200 ~ Cache-Control: max-age=60 => uri-miss not:request-no-store
            GET => uri-miss
            """),
    CacheCase(
        "5.2.1.5", "no-store of a request may be answered by what is stored",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Cache-Control: no-store => hit
            """),
    CacheCase(
        "5.2.2.7", "private in a shared cache", .isPrivate, .storePrivate,
        steps: """
            < 200 ~ Cache-Control: private, max-age=60 => uri-miss not:private
            GET => uri-miss
            """),
    CacheCase(
        "5.2.2.7", "private goes before public and s-maxage", .isPrivate,
        steps: """
            < 200 ~ Cache-Control: public, s-maxage=60, Private => uri-miss not:private
            """),
    CacheCase(
        "5.2.2.7", "private in the cache of one user", rules: .ofOneUser,
        steps: """
            < 200 ~ Cache-Control: private, max-age=60 => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "5.2.2.7", "private with names: the rest is stored", .dropNamedFields,
        steps: """
            < 200 ~ Cache-Control: max-age=60, private="X-User, x-token" ~ X-User: me ~ X-Token: t ~ X-Other: o
                => uri-miss stored
            GET => hit !X-User !X-Token X-Other:o
            """),
    CacheCase(
        "5.2.2.7", "private with names holds nothing back from one user", rules: .ofOneUser,
        steps: """
            < 200 ~ Cache-Control: max-age=60, private="X-User" ~ X-User: me => uri-miss stored
            GET => hit X-User:me
            """),
    CacheCase(
        "5.2.2.7", "private with an empty list is private", .isPrivate,
        steps: """
            < 200 ~ Cache-Control: max-age=60, private="" => uri-miss not:private
            """),
    CacheCase(
        "5.2.2.7", "private with names that are none is private", .isPrivate,
        steps: """
            < 200 ~ Cache-Control: max-age=60, private="X User" => uri-miss not:private
            """),
    CacheCase(
        "5.2.2.7", "private that names what a response cannot be without is private", .isPrivate,
        steps: """
            < 200 ~ Cache-Control: max-age=60, private="vary" ~ Vary: Accept => uri-miss not:private
            """),
    CacheCase(
        "5.2.2.7", "private as a token names a field, too", .dropNamedFields,
        steps: """
            < 200 ~ Cache-Control: max-age=60, private=X-User ~ X-User: me => uri-miss stored
            GET => hit !X-User
            """),
    CacheCase(
        "5.2.2.4", "no-cache with names: these are not stored", .dropNamedFields,
        steps: """
            < 200 ~ Cache-Control: max-age=60, no-cache="x-user" ~ X-User: me => uri-miss X-User:me stored
            GET => hit 200 !X-User
            """),
    CacheCase(
        "3", "nothing says that it may be stored", .storeLifetime,
        steps: """
            < 302 ~ Location: /b => uri-miss not:no-lifetime
            GET => uri-miss
            """),
    CacheCase(
        "3", "a status for guessing, but nothing to guess from",
        steps: """
            < 200 => uri-miss not:never-usable
            GET => uri-miss
            """),
    CacheCase(
        "3", "public allows any status", .storeLifetime,
        steps: """
            < 299 ~ Cache-Control: public ~ Last-Modified: @-1000 => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "3", "public=1 says nothing", .storeLifetime,
        steps: """
            < 299 ~ Cache-Control: public=1 ~ Last-Modified: @-1000 => uri-miss not:no-lifetime
            """),
    CacheCase(
        "3", "max-age allows a redirect to be stored",
        steps: """
            < 302 ~ Location: /b ~ Cache-Control: max-age=5 => uri-miss stored
            GET => hit 302 Location:/b
            """),
    CacheCase(
        "3", "s-maxage allows it in a shared cache",
        steps: """
            < 302 ~ Cache-Control: s-maxage=5 => uri-miss stored
            GET => hit 302
            """),
    CacheCase(
        "3", "and says nothing to the cache of one user", rules: .ofOneUser,
        steps: """
            < 302 ~ Cache-Control: s-maxage=5 => uri-miss not:no-lifetime
            """),
    CacheCase(
        "3", "what is stale at once and has no validator is of no use",
        steps: """
            < 200 ~ Cache-Control: max-age=0 => uri-miss not:never-usable
            """),
    CacheCase(
        "3", "no-cache without a validator is of no use",
        steps: """
            < 200 ~ Cache-Control: no-cache, max-age=60 => uri-miss not:never-usable
            """),
    CacheCase(
        "3", "no-cache with a validator is stored",
        steps: """
            < 200 ~ Cache-Control: no-cache ~ ETag: "a" => uri-miss stored
            """),
    CacheCase(
        "3", "max-age=0 with stale-while-revalidate is of use",
        steps: """
            < 200 ~ Cache-Control: max-age=0, stale-while-revalidate=9 => uri-miss stored
            GET => hit+revalidate
            """),
    CacheCase(
        "3", "what is stale at once is stored where age does not matter", mode: .preferCache,
        steps: """
            < 200 => uri-miss stored
            +999
            GET => stale-hit 200 age=999
            """),
    CacheCase(
        "3.1", "unknown fields are stored", .keepFields,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ X-Odd: 1 ~ X-Odd: 2 ~ Content-Type: a/b => uri-miss stored
            GET => hit X-Odd:1|2 Content-Type:a/b
            """),
    CacheCase(
        "3.1", "fields of the connection are not", .dropConnectionFields,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Connection: X-Hop, close ~ X-Hop: 1 ~ Keep-Alive: a ~ Upgrade: b ~ TE: c
                ~ Trailer: d
                => uri-miss stored
            GET => hit !Connection !X-Hop !Keep-Alive !Upgrade !TE !Trailer
            """),
    CacheCase(
        "3.1", "the framing of one message is not stored", .dropConnectionFields,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Transfer-Encoding: chunked => uri-miss stored
            GET => hit !Transfer-Encoding length=100
            """),
    CacheCase(
        "3.1", "fields for a proxy are not stored", .dropProxyFields,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Proxy-Authenticate: Basic ~ Proxy-Authentication-Info: x
                ~ Proxy-Connection: x
                => uri-miss stored
            GET => hit !Proxy-Authenticate !Proxy-Authentication-Info !Proxy-Connection
            """),
    CacheCase(
        "3.1", "a proof for one client's credentials is not stored",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Authentication-Info: rspauth="x" => uri-miss stored
            GET => hit !Authentication-Info
            """),
    CacheCase(
        "3.1", "a head that is too long is not stored",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ X: \(String(repeating: "x", count: 65_536)) => uri-miss not:head-too-long
            GET => uri-miss
            """),
    CacheCase(
        "3.1", "selecting values that are too long are not stored",
        steps: """
            ~ X: \(String(repeating: "x", count: 65_537))
                < 200 ~ Cache-Control: max-age=60 ~ Vary: X
                => uri-miss not:head-too-long
            """),
    CacheCase(
        "3.5", "an answer to Authorization is not shared", .authorized,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: max-age=60 => uri-miss not:authorization
            GET => uri-miss
            """),
    CacheCase(
        "3.5", "not even if Vary names it", .authorized,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: max-age=60 ~ Vary: Authorization => uri-miss not:authorization
            """),
    CacheCase(
        "3.5", "public allows to share it", .authorized,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: max-age=60, public => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "3.5", "s-maxage allows it", .authorized,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: s-maxage=60 => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "3.5", "must-revalidate allows it", .authorized,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: max-age=60, must-revalidate => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "3.5", "proxy-revalidate does not", .authorized,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: max-age=60, proxy-revalidate => uri-miss not:authorization
            """),
    CacheCase(
        "3.5", "nor does no-cache", .authorized,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: no-cache ~ ETag: "a" => uri-miss not:authorization
            """),
    CacheCase(
        "3.5", "the cache of one user may keep it", rules: .ofOneUser,
        steps: """
            ~ Authorization: Basic x < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "3.5", "Authorization may be answered by what was stored without",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Authorization: Basic x => hit
            """),
    CacheCase(
        "7.3", "a response that sets a cookie is not stored",
        steps: """
            < 200 ~ Cache-Control: max-age=60, public ~ Set-Cookie: a=b => uri-miss not:set-cookie
            GET => uri-miss
            """),
    CacheCase(
        "7.3", "the cache of one user stores it without the cookie", rules: .ofOneUser,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ set-cookie: a=b => uri-miss stored
            GET => hit !Set-Cookie
            """),
    CacheCase(
        "7.3", "an answer to a cookie needs a lifetime of its own",
        steps: """
            ~ Cookie: a=b < 200 ~ Last-Modified: @-1000 => uri-miss not:no-lifetime
            GET => uri-miss
            """),
    CacheCase(
        "7.3", "but for one user, whose cookie it is", rules: .ofOneUser,
        steps: """
            ~ Cookie: a=b < 200 ~ Last-Modified: @-1000 => uri-miss stored
            GET => hit
            """),
    CacheCase(
        "7.3", "public is none",
        steps: """
            ~ Cookie: a=b < 200 ~ Cache-Control: public ~ Last-Modified: @-1000 => uri-miss not:no-lifetime
            """),
    CacheCase(
        "7.3", "max-age is one",
        steps: """
            ~ Cookie: a=b < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            GET => hit
            """),
]
