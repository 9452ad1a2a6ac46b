// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

struct CivilDayTests {
    @Test(
        arguments: [
            (1970, 1, 1, 0), (1970, 12, 31, 364), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017),
            (1900, 3, 1, -25_508), (1, 1, 1, -719_162), (9999, 12, 31, 2_932_896), (2026, 11, 27, 20_784),
        ] as [(Int64, Int, Int64, Int64)])
    func `days since 1970 and back`(year: Int64, month: Int, day: Int64, days: Int64) throws {
        let date = try #require(CivilDay(year: year, month: month, day: day))
        #expect(date.daysSince1970 == days)
        #expect(CivilDay(daysSince1970: days) == date)
    }

    @Test func `every day is followed by the next one`() throws {
        // 400 years, after which all repeats, about 1970.
        for days: Int64 in -73_000...73_100 {
            let date = try #require(CivilDay(daysSince1970: days))
            let copy = try #require(CivilDay(year: date.year, month: date.month, day: date.day))
            #expect(copy.daysSince1970 == days)
        }
    }

    @Test(
        arguments: [
            (2001, 2, 29), (1900, 2, 29), (2000, 4, 31), (2000, 13, 1), (2000, 0, 1), (2000, 1, 0), (0, 1, 1),
            (10_000, 1, 1),
        ] as [(Int64, Int, Int64)])
    func `days that the calendar does not have`(year: Int64, month: Int, day: Int64) {
        #expect(CivilDay(year: year, month: month, day: day) == nil)
    }

    @Test(arguments: [-719_163, 2_932_897, .min, .max] as [Int64]) func `days outside the years 1 to 9999`(days: Int64)
    {
        #expect(CivilDay(daysSince1970: days) == nil)
    }
}
