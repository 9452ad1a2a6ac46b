// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import Testing

@Suite struct TimestampTests {
    static let moments: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_767_323_045_678, "2026-01-02T03:04:05.678Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
        (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (Int64.max, "9999-12-31T23:59:59.999Z"),
        (-1, "1970-01-01T00:00:00.000Z"),
    ]

    @Test(arguments: Self.moments)
    func `a timestamp is RFC 3339 in UTC with milliseconds`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }

    @Test func `every day from 1970 to 2400 follows the one before`() {
        var (year, month, day) = (1970, 1, 1)
        for index in 0..<157_000 {
            let digits = "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
            let text = Timestamp(milliseconds: Int64(index) * 86_400_000).description
            guard text == digits + "T00:00:00.000Z" else {
                Issue.record("day \(index): \(text), not \(digits)")
                return
            }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            day += 1
            if day > lengths[month - 1] { (day, month) = (1, month + 1) }
            if month > 12 { (month, year) = (1, year + 1) }
        }
    }

    @Test func `now is after this was written`() {
        #expect(Timestamp.now() > Timestamp(milliseconds: 1_700_000_000_000))
    }
}
