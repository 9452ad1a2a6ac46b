// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §3.3 and §3.4, RFC 9110 §14: parts of complete responses, and parts that become complete.
let partCases: [CacheCase] = [
    CacheCase(
        "9110 14.2", "a range of a complete response", .partMarked,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Content-Type: a/b => uri-miss stored
            ~ Range: bytes=10-19 => hit 206 body=10..<20 length=10 Content-Range:bytes_10-19/100 Content-Type:a/b Age:0
            """),
    CacheCase(
        "9110 14.1.2", "from a place on",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: bytes=90- => hit 206 body=90..<100 Content-Range:bytes_90-99/100
            """),
    CacheCase(
        "9110 14.1.2", "the last bytes",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: bytes=-10 => hit 206 body=90..<100
            ~ Range: bytes=-1000 => hit 206 body=0..<100
            """),
    CacheCase(
        "9110 14.1.2", "an end beyond the end",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: bytes=99-99999999999999999999999 => hit 206 body=99..<100
            """),
    CacheCase(
        "9110 15.5.17", "a range outside",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Type: a/b => uri-miss stored
            ~ Range: bytes=100- => hit 416 no-body Content-Range:bytes_*/100 Cache-Control:no-store !ETag !Content-Type
            ~ Range: bytes=-0 => hit 416
            ~ Range: bytes=99999999999999999999999- => hit 416
            """),
    CacheCase(
        "9110 14.2", "of nothing there is no first byte",
        steps: """
            < 200 length=0 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: bytes=0- => hit 416
            ~ Range: bytes=-5 => hit 200 body=0..<0
            GET => hit 200 body=0..<0
            """),
    CacheCase(
        "9110 14.2", "several ranges are answered with the whole",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: bytes=0-1,5-6 => hit 200 body=0..<100
            ~ Range: bytes=0-1 ~ Range: bytes=5-6 => hit 200 body=0..<100
            """),
    CacheCase(
        "9110 14.2", "what is no range is passed over",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: lines=0-1 => hit 200
            ~ Range: bytes=5-1 => hit 200
            ~ Range: bytes=- => hit 200
            ~ Range: bytes=a-b => hit 200
            ~ Range: bytes 0-1 => hit 200
            ~ Range: bytes=0x0-1 => hit 200
            ~ Range: bytes=+0-1 => hit 200
            ~ Range: bytes=0-1-2 => hit 200
            ~ Range: => hit 200
            """),
    CacheCase(
        "9110 14.2", "the unit is compared without case",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: BYTES=0-0 => hit 206 body=0..<1
            """),
    CacheCase(
        "9110 14.2", "HEAD has no ranges",
        steps: """
            < 200 ~ Cache-Control: max-age=60 => uri-miss stored
            HEAD ~ Range: bytes=0-0 => hit 200 length=100 no-body
            """),
    CacheCase(
        "9110 14.2", "other statuses have none",
        steps: """
            < 404 ~ Cache-Control: max-age=60 => uri-miss stored
            ~ Range: bytes=0-0 => hit 404 body=0..<100
            """),
    CacheCase(
        "9110 13.1.5", "If-Range with the stored tag",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Range: bytes=0-0 ~ If-Range: "a" => hit 206
            ~ Range: bytes=0-0 ~ If-Range: "b" => hit 200 body=0..<100
            ~ Range: bytes=100- ~ If-Range: "b" => hit 200
            """),
    CacheCase(
        "9110 13.1.5", "a weak tag never holds",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: W/"a" => uri-miss stored
            ~ Range: bytes=0-0 ~ If-Range: W/"a" => hit 200
            """),
    CacheCase(
        "9110 13.1.5", "If-Range with the stored date",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT => uri-miss stored
            ~ Range: bytes=0-0 ~ If-Range: Sun, 06 Nov 1994 08:49:37 GMT => hit 206
            ~ Range: bytes=0-0 ~ If-Range: Sun, 06 Nov 1994 08:49:38 GMT => hit 200
            """),
    CacheCase(
        "9110 13.1.5", "a date that is that of the response is weak",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Date: Sun, 06 Nov 1994 08:49:37 GMT
                ~ Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT
                => uri-miss stored
            ~ Cache-Control: max-stale ~ Range: bytes=0-0 ~ If-Range: Sun, 06 Nov 1994 08:49:37 GMT => stale-hit 200
            """),
    CacheCase(
        "9110 13.2.2", "If-None-Match goes before Range",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            ~ Range: bytes=0-0 ~ If-None-Match: "a" => hit 304
            ~ Range: bytes=0-0 ~ If-None-Match: "b" => hit 206
            """),
    CacheCase(
        "3.3", "a part answers for ranges in it", .incompleteNotWhole, .partMarked,
        steps: """
            ~ Range: bytes=10-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 10-49/100
                => uri-miss 206 stored held=10..<50
            ~ Range: bytes=10-49 => hit 206 body=10..<50 Content-Range:bytes_10-49/100
            ~ Range: bytes=20-29 => hit 206 body=20..<30 length=10
            ~ Range: bytes=10-50 => partial
            ~ Range: bytes=9-20 => partial
            ~ Range: bytes=40- => partial
            ~ Range: bytes=-10 => partial
            """),
    CacheCase(
        "3.3", "and for nothing else", .incompleteNotWhole,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            GET => partial
            HEAD => partial
            ~ Range: bytes=0-1,4-5 => partial
            ~ Range: bytes=0-9 ~ If-Range: "b" => partial
            ~ Range: bytes=0-9 ~ If-Range: "a" => hit 206
            ~ Cache-Control: only-if-cached => 504
            ~ Range: bytes=100- => partial
            """),
    CacheCase(
        "3.3", "a part that is the whole is complete",
        steps: """
            ~ Range: bytes=0-
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-99/100
                => uri-miss stored held=all
            GET => hit 200 body=0..<100 !Content-Range
            """),
    CacheCase(
        "3.3", "a body that breaks off is recorded as a part", .incompleteMarked, .incompleteNotWhole,
        steps: """
            < 200 received=40 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored held=0..<40
            GET => partial
            ~ Range: bytes=0-39 => hit 206
            """),
    CacheCase(
        "3.3", "without a strong validator it is not kept", .incompleteMarked,
        steps: """
            < 200 received=40 ~ Cache-Control: max-age=60 ~ ETag: W/"a" => uri-miss not:incomplete
            < 200 received=0 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss not:incomplete
            GET => uri-miss
            """),
    CacheCase(
        "3.3", "a part without a strong validator is not stored", .combineStrong,
        steps: """
            ~ Range: bytes=0-9 < 206 ~ Cache-Control: max-age=60 ~ Content-Range: bytes 0-9/100 => uri-miss not:partial
            ~ Range: bytes=0-9
                < 206 ~ Cache-Control: max-age=60 ~ ETag: W/"a" ~ Content-Range: bytes 0-9/100
                => uri-miss not:partial
            """),
    CacheCase(
        "3.3", "a part of something of unknown length is not stored",
        steps: """
            ~ Range: bytes=0-9
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-9/*
                => uri-miss not:partial
            """),
    CacheCase(
        "3.3", "a Content-Range that is none, or there twice",
        steps: """
            ~ Range: bytes=0-9 < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss not:partial
            ~ Range: bytes=0-9
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 9-0/100
                => uri-miss not:partial
            ~ Range: bytes=0-9
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-9/100
                ~ Content-Range: bytes 5-14/100
                => uri-miss not:partial
            """),
    CacheCase(
        "3.3", "a body of another length than its Content-Range",
        steps: """
            ~ Range: bytes=0-9
                < 206 length=9 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-9/100
                => uri-miss not:length
            """),
    CacheCase(
        "9110 15.3.7", "a part to If-Range may lack fields and is not stored alone",
        steps: """
            ~ Range: bytes=50- ~ If-Range: "a"
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 50-99/100
                => uri-miss not:partial
            """),
    CacheCase(
        "3.4", "two parts that meet become the whole", .combineStrong,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-49/100 ~ Content-Type: a/b
                => uri-miss stored
            ~ Range: bytes=50-
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 50-99/100
                => partial combined held=all
            GET => hit 200 body=0..<100 Content-Type:a/b
            """),
    CacheCase(
        "3.4", "two parts that overlap",
        steps: """
            ~ Range: bytes=20-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 20-49/100
                => uri-miss stored
            ~ Range: bytes=10-29
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 10-29/100
                => partial combined held=10..<50
            """),
    CacheCase(
        "3.4", "fields of the later part replace", .updateFields,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ X: 1 ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            +30
            ~ Range: bytes=50-
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ X: 2 ~ Content-Range: bytes 50-99/100
                => partial combined
            GET => hit X:2 age=0
            """),
    CacheCase(
        "3.4", "parts with a gap between them are not joined",
        steps: """
            ~ Range: bytes=0-9
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-9/100
                => uri-miss stored
            ~ Range: bytes=11-19
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 11-19/100
                => partial unrelated stored held=11..<20
            """),
    CacheCase(
        "3.4", "parts with other strong validators are not joined", .combineStrong,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            ~ Range: bytes=50-
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "b" ~ Content-Range: bytes 50-99/100
                => partial outdated stored held=50..<100
            ~ Range: bytes=0-9 => partial
            """),
    CacheCase(
        "3.4", "parts with weak validators are not joined", .combineStrong,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            ~ Range: bytes=50-
                < 206 ~ Cache-Control: max-age=60 ~ ETag: W/"a" ~ Content-Range: bytes 50-99/100
                => partial unrelated not:partial
            """),
    CacheCase(
        "3.4", "parts of wholes of other lengths are not joined", .combineStrong,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            ~ Range: bytes=50-
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 50-98/99
                => partial outdated
            """),
    CacheCase(
        "3.4", "a part that kept to If-Range needs no validator", .combineStrong,
        steps: """
            < 200 received=50 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored held=0..<50
            ~ Range: bytes=50- ~ If-Range: "a"
                < 206 ~ Cache-Control: max-age=60 ~ Content-Range: bytes 50-99/100
                => partial combined held=all
            """),
    CacheCase(
        "3.4", "a part for another state than If-Range names", .combineStrong,
        steps: """
            < 200 received=50 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored held=0..<50
            ~ Range: bytes=50- ~ If-Range: "b"
                < 206 ~ Cache-Control: max-age=60 ~ Content-Range: bytes 50-99/100
                => partial unrelated not:partial
            """),
    CacheCase(
        "3.4", "a part with no-store completes nothing that stays", .noStore,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            ~ Range: bytes=50-
                < 206 ~ Cache-Control: no-store ~ ETag: "a" ~ Content-Range: bytes 50-99/100
                => partial once:no-store
            ~ Range: bytes=0-9 => uri-miss
            """),
    CacheCase(
        "3.4", "a full response takes the place of a part", .fullResponse,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=60 ~ ETag: "a" ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            GET < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => partial stored held=all
            GET => hit 200
            """),
    CacheCase(
        "3.3", "a stale part is validated for its range", .reuseFresh,
        steps: """
            ~ Range: bytes=0-49
                < 206 ~ Cache-Control: max-age=5 ~ ETag: "a" ~ Content-Range: bytes 0-49/100
                => uri-miss stored
            +5
            ~ Range: bytes=0-9 < 304 => stale? freshened 206 body=0..<10 !sent.Range
            """),
]
