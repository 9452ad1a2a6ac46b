// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@Suite struct ContentRangeTests {
    @Test(arguments: [
        ("bytes 0-499/1234", ContentRange.bytes(0..<500, of: 1234)),
        ("bytes 0-0/1", .bytes(0..<1, of: 1)),
        ("bytes 500-1233/1234", .bytes(500..<1234, of: 1234)),
        ("bytes 0-499/*", .bytes(0..<500, of: nil)),
        ("bytes */1234", .unsatisfied(length: 1234)),
        ("bytes */0", .unsatisfied(length: 0)),
        (
            "bytes 9223372036854775805-9223372036854775805/9223372036854775806",
            .bytes(9_223_372_036_854_775_805..<9_223_372_036_854_775_806, of: 9_223_372_036_854_775_806)
        ),
    ])
    func `a range is read and written`(value: String, range: ContentRange) {
        #expect(ContentRange(value) == range)
        #expect(range.description == value)
    }

    @Test func `the unit is compared without regard to case, and zeros before a number do not count`() {
        #expect(ContentRange("BYTES 00-007/08") == .bytes(0..<8, of: 8))
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes=0-1/2", "bytes:0-1/2", "bytes  0-1/2", "bytes 0-1", "bytes 0-1/", "bytes /2",
        "bytes -1/2", "bytes 0-/2", "bytes 0/2", "bytes 1-0/2", "bytes 0-2/2", "bytes 0-1/2/3", "bytes 0-1-2/3",
        "bytes */*", "bytes 0-1/x", "bytes 0-+1/2", "bytes 0 - 1/2", "bytes 0-1 /2", " bytes 0-1/2", "bytes 0-1/2 ",
        "items 0-1/2", "bytes *-1/2", "bytes 0-*/2", "bytes 0x0-1/2", "bytes 0-9223372036854775807/*",
        "bytes 0-1/9223372036854775807", "bytes 0-18446744073709551615/*", "bytes 0-1/18446744073709551616",
        "bytes 0-99999999999999999999999999/*", "bytes \u{663}-\u{664}/9", "bytes */9223372036854775807",
    ])
    func `what is not as the grammar says is no range`(value: String) {
        #expect(ContentRange(value) == nil)
    }
}
