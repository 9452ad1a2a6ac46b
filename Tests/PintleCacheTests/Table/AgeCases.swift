// SPDX-License-Identifier: Apache-2.0

import PintleCache

/// §4.2.3 and §5.1: how old a response is.
let ageCases: [CacheCase] = [
    CacheCase(
        "4.2.3", "Age is added to the time that passes", .age,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Age: 30 => uri-miss stored
            +29
            GET => hit age=59 Age:59
            +1
            GET => stale
            """),
    CacheCase(
        "4.2.3", "an Age that was received is not sent on as it was", .age,
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Age: 7 => uri-miss stored
            GET => hit Age:7
            +1
            GET => hit Age:8
            """),
    CacheCase(
        "4.2.3", "a Date in the past makes an age",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Date: @-40 => uri-miss stored
            GET => hit age=40
            +20
            GET => stale
            """),
    CacheCase(
        "4.2.3", "the greater of both counts",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Date: @-40 ~ Age: 50 => uri-miss stored
            GET => hit age=50
            """),
    CacheCase(
        "4.2.3", "a Date in the future makes none",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Date: @+40 => uri-miss stored
            GET => hit age=0
            """),
    CacheCase(
        "4.2.3", "the way of the response is part of its age",
        steps: """
            < 200 delay=10 ~ Cache-Control: max-age=60 ~ Age: 5 => uri-miss stored
            +10
            GET => hit age=15
            """),
    CacheCase(
        "5.1", "the first member of a list of ages",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Age: 30, 5 => uri-miss stored
            GET => hit age=30
            """),
    CacheCase(
        "5.1", "an Age that is no number is none",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Age: -5 => uri-miss stored
            GET => hit age=0
            """),
    CacheCase(
        "5.1", "an Age with a fraction is none",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Age: 30.5 => uri-miss stored
            GET => hit age=0
            """),
    CacheCase(
        "9110 6.6.1", "a response without Date gets one",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Date: none => uri-miss stored
            +5
            GET => hit age=5 Date:Thu,_01_Jan_2026_00:00:00_GMT
            """),
    CacheCase(
        "9110 6.6.1", "a Date that is none is replaced",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Date: today => uri-miss stored
            +5
            GET => hit Date:Thu,_01_Jan_2026_00:00:00_GMT
            """),
    CacheCase(
        "4.2.3", "a clock that is set back makes nobody younger: the step counts as age",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ Age: 10 => uri-miss stored
            +-20
            GET => hit age=30
            +-1000
            GET => stale
            """),
    CacheCase(
        "4.2.3", "a response that arrived when the clock was years ahead is validated",
        steps: """
            < 200 ~ Cache-Control: max-age=60 ~ ETag: "a" => uri-miss stored
            +-99999999
            GET < 304 ~ ETag: "a" => stale? freshened
            GET => hit
            """),
]
