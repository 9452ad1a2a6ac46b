// SPDX-License-Identifier: Apache-2.0

/// Reads dates as HTTP spells them today (IMF-fixdate, RFC 9110 §5.6.7).
enum HTTPDateReader {
    /// The seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`; nil for other forms, the obsolete ones included, and
    /// for days that do not exist. The name of the day is not compared with the date.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count == 29, parts.count == 6, Self.days.contains(parts[0]), parts[5] == "GMT",
            let day = Self.number(parts[1], digits: 2), let month = Self.months.firstIndex(of: parts[2]),
            let year = Self.number(parts[3], digits: 4), year > 0, (1...Self.length(ofMonth: month, year)).contains(day)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = Self.number(clock[0], digits: 2), hour < 24,
            let minute = Self.number(clock[1], digits: 2), minute < 60,
            // 60 is a leap second.
            let second = Self.number(clock[2], digits: 2), second <= 60
        else { return nil }
        return ((Self.daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static let days: [Substring] = ["Sun,", "Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,"]
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let daysBeforeMonth: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]

    /// Months are counted from zero, days from one.
    private static func daysSince1970(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let leapDay: Int64 = Self.isLeap(year) && month > 1 ? 1 : 0
        return Self.daysBefore(year) - Self.daysBefore(1970) + Self.daysBeforeMonth[month] + leapDay + day - 1
    }

    /// The days from the beginning of the year 1 to that of `year`.
    private static func daysBefore(_ year: Int64) -> Int64 {
        let past = year - 1
        return past * 365 + past / 4 - past / 100 + past / 400
    }

    private static func length(ofMonth month: Int, _ year: Int64) -> Int64 {
        let leapDay: Int64 = Self.isLeap(year) && month == 1 ? 1 : 0
        return Self.daysBeforeMonth[month + 1] - Self.daysBeforeMonth[month] + leapDay
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
