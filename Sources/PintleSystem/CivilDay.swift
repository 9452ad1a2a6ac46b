// SPDX-License-Identifier: Apache-2.0

/// A day of the Gregorian calendar, which is applied to the time before 1582, too.
package struct CivilDay: Sendable, Hashable {
    /// From 1 to 9999.
    package let year: Int64
    /// From 1 to 12.
    package let month: Int
    /// From 1 to 31.
    package let day: Int64

    /// - Returns: nil for a day that does not exist, and outside the years 1 to 9999.
    package init?(year: Int64, month: Int, day: Int64) {
        guard 1...9999 ~= year, 1...12 ~= month, 1...Self.length(ofMonth: month, year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Converts a day number. Counts from 1 March of year 0, so that the leap day ends a year and the month lengths repeat
    /// every five months.
    ///
    /// - Parameter days: days since 1 January 1970, negative before.
    /// - Returns: nil outside the years 1 to 9999.
    package init?(daysSince1970 days: Int64) {
        guard -719_162..<2_932_897 ~= days else { return nil }
        let (era, dayOfEra) = (days + Self.daysTo1970).quotientAndRemainder(dividingBy: 146_097)
        // Removes the leap days: one every 4 years, none every 100, one every 400.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // The five months from March on have 153 days, as have the next five.
        let marchMonth = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        self.month = Int(marchMonth < 10 ? marchMonth + 3 : marchMonth - 9)
        self.year = era * 400 + yearOfEra + (marchMonth < 10 ? 0 : 1)
    }

    /// The days from 1 January 1970 to this one, negative before.
    package var daysSince1970: Int64 {
        let isInOldYear = self.month <= 2
        let marchYear = isInOldYear ? self.year - 1 : self.year
        let marchMonth = Int64(isInOldYear ? self.month + 9 : self.month - 3)
        let dayOfYear = (153 * marchMonth + 2) / 5 + self.day - 1
        return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - Self.daysTo1970
    }

    /// The days from 1 March of year 0 to 1 January 1970.
    private static let daysTo1970: Int64 = 719_468

    private static func length(ofMonth month: Int, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
