// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §4.2: how long a response is fresh.
let freshnessCases: [CacheCase] = [
    CacheCase(
        "4.2", "fresh as long as its lifetime is greater than its age", .reuseFresh,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            +59
            GET => hit age=59
            +1
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "s-maxage goes first in a shared cache", .sharedMaxAge, .maxAgeOverExpires,
        steps: """
            < 200 ~ Cache-Control: max-age=5, s-maxage=60 ~ Expires: @-1 => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "4.2.1", "and is none to the cache of one user", rules: .ofOneUser,
        steps: """
            < 200 ~ Cache-Control: max-age=5, s-maxage=60 => uri-miss stored
            +4
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "5.3", "max-age goes before Expires", .maxAgeOverExpires,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Expires: @-99 => uri-miss stored
            +59
            GET => hit
            """),
    CacheCase(
        "5.3", "even where Expires is later", .maxAgeOverExpires,
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ Expires: @+99 => uri-miss stored
            +5
            GET => stale
            """),
    CacheCase(
        "4.2.1", "Expires less Date",
        steps: """
            < 200 ~ Expires: @+60 => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "4.2.1", "the origin's clock may be wrong by years",
        steps: """
            < 200 ~ Date: @-99999999 ~ Expires: @-99999939 ~ Age: 0 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "a clock that is ahead: Expires is compared with its own Date",
        steps: """
            < 200 ~ Date: @+1000 ~ Expires: @+1060 => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "4.2.1", "without Date the time of arrival counts",
        steps: """
            < 200 ~ Date: none ~ Expires: @+60 => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "5.3", "Expires: 0", .invalidExpires,
        steps: """
            < 200 ~ Expires: 0 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "5.3", "Expires: -1", .invalidExpires,
        steps: """
            < 200 ~ Expires: -1 ~ ETag: "a" ~ Last-Modified: @-9999 => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "5.3", "an empty Expires", .invalidExpires,
        steps: """
            < 200 ~ Expires: ~ ETag: "a" ~ Last-Modified: @-9999 => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "5.3", "a date that does not exist", .invalidExpires,
        steps: """
            < 200 ~ Expires: Sun, 31 Feb 2040 00:00:00 GMT ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "5.3", "a date in another zone", .invalidExpires,
        steps: """
            < 200 ~ Expires: Sun, 01 Jan 2040 00:00:00 CET ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "of two Expires the earlier",
        steps: """
            < 200 ~ Expires: @+60 ~ Expires: @+5 => uri-miss stored
            +5
            GET => stale
            """),
    CacheCase(
        "4.2.1", "of two Expires one that is no date", .invalidExpires,
        steps: """
            < 200 ~ Expires: @+60 ~ Expires: 0 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "5.3", "Expires in the form of RFC 850",
        steps: """
            < 200 ~ Expires: Thursday, 01-Jan-26 00:01:00 GMT => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "9110 5.6.7", "a Date in the form of RFC 850 is one",
        steps: """
            < 200 ~ Date: @rfc850 ~ Expires: @+60 => uri-miss stored
            +59
            GET => hit
            """),
    CacheCase(
        "9110 5.6.7", "a Date in the form of asctime is one",
        steps: """
            < 200 ~ Date: @asctime ~ Expires: @+60 => uri-miss stored
            +59
            GET => hit
            """),
    CacheCase(
        "4.2.1", "of two max-age the smaller",
        steps: """
            < 200 ~ Cache-Control: max-age=60, max-age=5 => uri-miss stored
            +4
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "4.2.1", "also on two lines",
        steps: """
            < 200 ~ Cache-Control: max-age=5 ~ Cache-Control: max-age=60 => uri-miss stored
            +5
            GET => stale
            """),
    CacheCase(
        "4.2.1", "a max-age that cannot be read",
        steps: """
            < 200 ~ Cache-Control: max-age=abc ~ ETag: "a" ~ Last-Modified: @-9999 => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "one of two that cannot be read",
        steps: """
            < 200 ~ Cache-Control: max-age=60, max-age=x ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "a negative max-age",
        steps: """
            < 200 ~ Cache-Control: max-age=-60 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "max-age with a sign",
        steps: """
            < 200 ~ Cache-Control: max-age=+60 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "max-age with a fraction",
        steps: """
            < 200 ~ Cache-Control: max-age=60.5 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "max-age in hexadecimal",
        steps: """
            < 200 ~ Cache-Control: max-age=0x60 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "max-age without a number",
        steps: """
            < 200 ~ Cache-Control: max-age ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "max-age with nothing behind its sign",
        steps: """
            < 200 ~ Cache-Control: max-age= ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "max-age between the wrong marks",
        steps: """
            < 200 ~ Cache-Control: max-age='60' ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.1", "s-maxage that cannot be read goes before max-age",
        steps: """
            < 200 ~ Cache-Control: s-maxage=x, max-age=60 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "5.2", "max-age in quotation marks",
        steps: """
            < 200 ~ Cache-Control: max-age="60" => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "5.2", "directives in any case",
        steps: """
            < 200 ~ CACHE-CONTROL: Max-AGE=60 => uri-miss stored
            +59
            GET => hit
            """),
    CacheCase(
        "5.2", "zeros before a number",
        steps: """
            < 200 ~ Cache-Control: max-age=00060 => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale
            """),
    CacheCase(
        "5.2.3", "unknown directives are passed over", .unknownDirectives, .passDirectives,
        steps: """
            < 200 ~ Cache-Control: new, max-age=60, newer="a, no-store", s-max-age=1 => uri-miss stored
            +59
            GET => hit Cache-Control:new,_max-age=60,_newer="a,_no-store",_s-max-age=1
            """),
    CacheCase(
        "5.2.3", "immutable changes nothing here", .unknownDirectives,
        steps: """
            < 200 ~ Cache-Control: max-age=5, immutable ~ ETag: "a" => uri-miss stored
            +5
            GET => stale?
            """),
    CacheCase(
        "1.2.2", "a lifetime that is too large is the greatest", .overflow,
        steps: """
            < 200 ~ Cache-Control: max-age=99999999999999999999999999 => uri-miss stored
            +2147483647
            GET => hit age=2147483647
            +1
            GET => stale
            """),
    CacheCase(
        "1.2.2", "2^31 is the greatest", .overflow,
        steps: """
            < 200 ~ Cache-Control: max-age=2147483649 => uri-miss stored
            +2147483648
            GET => stale
            """),
    CacheCase(
        "1.2.2", "an Age that is too large is the greatest", .overflow,
        steps: """
            < 200 ~ Cache-Control: max-age=4294967296 ~ Age: 18446744073709551616 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "1.2.2", "an Age of 2^32 - 1 does not become small", .overflow,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Age: 4294967295 ~ ETag: "a" => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.2", "a tenth of the time since the last change",
        steps: """
            < 200 ~ Last-Modified: @-600 => uri-miss stored
            +59
            GET => hit
            +1
            GET => stale?
            """),
    CacheCase(
        "4.2.2", "at most a day",
        steps: """
            < 200 ~ Last-Modified: @-99999999 => uri-miss stored
            +86399
            GET => hit
            +1
            GET => stale?
            """),
    CacheCase(
        "4.2.2", "nothing where the last change is to come",
        steps: """
            < 200 ~ Last-Modified: @+600 => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.2", "a Last-Modified that is no date",
        steps: """
            < 200 ~ Last-Modified: yesterday => uri-miss not:never-usable
            """),
    CacheCase(
        "4.2.2", "two of them",
        steps: """
            < 200 ~ Last-Modified: @-600 ~ Last-Modified: @-9999 => uri-miss not:never-usable
            """),
    CacheCase(
        "4.2.2", "nothing is guessed beside max-age", .heuristicExplicit,
        steps: """
            < 200 ~ Cache-Control: max-age=0 ~ Last-Modified: @-9999 => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.2", "nothing is guessed beside Expires", .heuristicExplicit,
        steps: """
            < 200 ~ Expires: @-1 ~ Last-Modified: @-9999 => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.2", "nothing is guessed beside s-maxage", .heuristicExplicit,
        steps: """
            < 200 ~ Cache-Control: s-maxage=0 ~ Last-Modified: @-9999 => uri-miss stored
            GET => stale?
            """),
    CacheCase(
        "4.2.2", "nothing is guessed for a 302", .heuristicStatus,
        steps: """
            < 302 ~ Last-Modified: @-9999 => uri-miss not:no-lifetime
            """),
    CacheCase(
        "4.2.2", "nothing is guessed for a 500", .heuristicStatus,
        steps: """
            < 500 ~ Last-Modified: @-9999 => uri-miss not:no-lifetime
            """),
    CacheCase(
        "4.2.2", "public allows to guess", .heuristicStatus,
        steps: """
            < 302 ~ Cache-Control: public ~ Last-Modified: @-600 => uri-miss stored
            +59
            GET => hit 302
            """),
    CacheCase(
        "4.2.2", "a query is no reason not to guess",
        steps: """
            /a?b < 200 ~ Last-Modified: @-600 => uri-miss stored
            /a?b => hit
            """),
]
