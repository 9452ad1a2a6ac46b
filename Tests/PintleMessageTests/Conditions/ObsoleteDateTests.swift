// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@Suite struct ObsoleteDateTests {
    /// 1 January 2026.
    private static let now: Int64 = 1_767_225_600

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994",
    ])
    func `the three forms of a date are read`(text: String) {
        #expect(HTTPDate.seconds(anyForm: text, near: Self.now) == 784_111_777)
    }

    @Test(arguments: [
        ("Monday, 06-Nov-75 08:49:37 GMT", "Mon, 06 Nov 2075 08:49:37 GMT"),
        ("Monday, 06-Nov-76 08:49:37 GMT", "Mon, 06 Nov 1976 08:49:37 GMT"),
        ("Monday, 29-Feb-00 00:00:00 GMT", "Mon, 29 Feb 2000 00:00:00 GMT"),
    ])
    func `a year of two digits is at most 50 years ahead`(text: String, date: String) {
        #expect(HTTPDate.seconds(anyForm: text, near: Self.now) == HTTPDate.seconds(date))
    }

    @Test(arguments: [
        "", "0", "-1", "Sunday, 06-Nov-94 08:49:37", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 31-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT", "Sun Nov  16 08:49:37 1994",
        "Sun Nov 6  08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov  6 24:49:37 1994",
        "  Nov  6 08:49:37 1994",
        "Sunday, 06-Nov-94 08:49:37 UTC", "Sunday, 06-Nov-9\u{664} 08:49:37 GMT", "Sunday, --94 08:49:37 GMT",
        "                        ", "Sunday, +6-Nov-94 08:49:37 GMT",
    ])
    func `anything else is no date`(text: String) {
        #expect(HTTPDate.seconds(anyForm: text, near: Self.now) == nil)
        #expect(HTTPDate.seconds(anyForm: text, near: .max) == nil)
        #expect(HTTPDate.seconds(anyForm: text, near: .min) == nil)
    }
}
