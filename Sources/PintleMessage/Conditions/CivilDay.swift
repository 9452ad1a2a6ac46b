// SPDX-License-Identifier: Apache-2.0

/// A day of the Gregorian calendar, also before there was one, in the years from 1 on.
package struct CivilDay: Hashable {
    let year: Int64
    /// From 1.
    let month: Int
    /// From 1.
    let day: Int64

    /// - Returns: nil for a day that does not exist.
    package init?(year: Int64, month: Int, day: Int64) {
        guard 1...9999 ~= year, 1...12 ~= month, 1...Self.length(ofMonth: month, year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// - Parameter days: since 1970 began; within the years 1 to 9999.
    init(daysSince1970 days: Int64) {
        precondition(-719_162..<2_932_897 ~= days, "BUG: a day outside the years 1 to 9999")
        let count = days + Self.daysBefore(1970)
        // 400 years have 146,097 days, but leap days are not spread evenly: this is the year, or one beside it.
        var year = count * 400 / 146_097 + 1
        if Self.daysBefore(year) > count { year -= 1 }
        if Self.daysBefore(year + 1) <= count { year += 1 }
        var month = 1
        var rest = count - Self.daysBefore(year)
        while rest >= Self.length(ofMonth: month, year) {
            rest -= Self.length(ofMonth: month, year)
            month += 1
        }
        (self.year, self.month, self.day) = (year, month, rest + 1)
    }

    /// The days from 1 January 1970 to this one.
    package var daysSince1970: Int64 {
        let leapDay: Int64 = Self.isLeap(self.year) && self.month > 2 ? 1 : 0
        return Self.daysBefore(self.year) - Self.daysBefore(1970) + Self.daysBeforeMonth[self.month - 1] + leapDay
            + self.day - 1
    }

    private static let daysBeforeMonth: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]

    /// The days from the beginning of the year 1 to that of `year`.
    private static func daysBefore(_ year: Int64) -> Int64 {
        let past = year - 1
        return past * 365 + past / 4 - past / 100 + past / 400
    }

    private static func length(ofMonth month: Int, _ year: Int64) -> Int64 {
        let leapDay: Int64 = Self.isLeap(year) && month == 2 ? 1 : 0
        return Self.daysBeforeMonth[month] - Self.daysBeforeMonth[month - 1] + leapDay
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}
