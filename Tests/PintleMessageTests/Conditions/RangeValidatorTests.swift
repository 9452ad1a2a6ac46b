// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@Suite struct RangeValidatorTests {
    @Test(arguments: [
        ("\"abc\"", false, "abc"), ("W/\"abc\"", true, "abc"), ("\"\"", false, ""),
        ("\"a'b\\,\u{E4}\"", false, "a'b\\,ä"),
    ])
    func `an entity tag is read and written`(value: String, isWeak: Bool, opaque: String) throws {
        let tag = try #require(EntityTag(value))
        #expect(tag.isWeak == isWeak)
        #expect(tag.opaque == opaque)
        #expect(tag.description == value)
    }

    @Test(arguments: [
        "", "abc", "\"", "\"abc", "abc\"", "w/\"abc\"", "W/abc", "W/", "\"a\"b\"", "\"a b\"", "\"a\u{7F}\"",
        "\"a\", \"b\"", "*",
    ])
    func `what has no quotation marks around it is no entity tag`(value: String) {
        #expect(EntityTag(value) == nil)
    }

    /// The table of RFC 9110 §8.8.3.2.
    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false),
    ])
    func `weak tags never match strongly`(left: String, right: String, strongly: Bool, weakly: Bool) throws {
        let (left, right) = (try #require(EntityTag(left)), try #require(EntityTag(right)))
        #expect(left.stronglyMatches(right) == strongly)
        #expect(right.stronglyMatches(left) == strongly)
        #expect(left.weaklyMatches(right) == weakly)
    }

    private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let after = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        arguments: [
            (["ETag": "\"abc\""], "\"abc\""),
            (["ETag": "\"abc\"", "Last-Modified": before, "Date": after], "\"abc\""),
            (["Last-Modified": before, "Date": after], before),
            (["ETag": "W/\"abc\"", "Last-Modified": before, "Date": after], nil),
            (["ETag": "abc", "Last-Modified": before, "Date": after], nil),
            (["Last-Modified": before, "Date": before], nil),
            (["Last-Modified": after, "Date": before], nil),
            (["Last-Modified": before], nil),
            (["Last-Modified": "yesterday", "Date": after], nil),
            (["Last-Modified": before, "Date": "now"], nil),
            ([:], nil),
        ] as [([String: String], String?)])
    func `only a strong validator goes into If-Range`(lines: [String: String], value: String?) {
        var fields = Fields()
        for (name, text) in lines { fields.append(name, text) }
        #expect(RangeValidator.value(for: fields) == value)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:01 GMT"),
        ("Wed, 31 Dec 1969 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("Tue, 29 Feb 2000 23:59:59 GMT", "Wed, 01 Mar 2000 00:00:00 GMT"),
        ("Wed, 28 Feb 2024 23:59:59 GMT", "Thu, 29 Feb 2024 00:00:00 GMT"),
        ("Sat, 31 Dec 2016 23:59:59 GMT", "Sun, 01 Jan 2017 00:00:00 GMT"),
        ("Mon, 28 Feb 1900 23:59:59 GMT", "Thu, 01 Mar 1900 00:00:00 GMT"),
    ])
    func `a second later is later, over the ends of months and years too`(earlier: String, later: String) {
        #expect(RangeValidator.value(for: ["Last-Modified": earlier, "Date": later]) == earlier)
        #expect(RangeValidator.value(for: ["Last-Modified": later, "Date": earlier]) == nil)
    }

    @Test(arguments: [
        "Sunday, 06-Nov-94 08:49:36 GMT", "Sun Nov  6 08:49:36 1994", "Sun, 06 Nov 1994 08:49:36 UTC",
        "Sun, 06 Nov 1994 08:49:36", "Son, 06 Nov 1994 08:49:36 GMT", "Sun, 31 Nov 1993 08:49:36 GMT",
        "Sun, 00 Nov 1994 08:49:36 GMT", "Sun, 29 Feb 1900 08:49:36 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, +6 Nov 1994 08:49:36 GMT",
        "Sun, 6 Nov 01994 08:49:36 GMT", "Sun, 06 nov 1994 08:49:36 GMT", "Sun, 06 Nov 0000 08:49:36 GMT",
    ])
    func `a date in another form, or that does not exist, is no validator`(date: String) {
        #expect(RangeValidator.value(for: ["Last-Modified": date, "Date": "Tue, 21 Jan 2025 00:00:00 GMT"]) == nil)
    }
}
