// SPDX-License-Identifier: Apache-2.0

/// Reads dates as HTTP spells them today (IMF-fixdate, RFC 9110 §5.6.7).
enum HTTPDateReader {
    /// The seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`; nil for other forms, the obsolete ones included, and
    /// for days that do not exist. The name of the day is not compared with the date.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count == 29, parts.count == 6, Self.days.contains(parts[0]), parts[5] == "GMT",
            let day = Self.number(parts[1], digits: 2), let month = Self.months.firstIndex(of: parts[2]),
            let year = Self.number(parts[3], digits: 4),
            let date = CivilDay(year: year, month: month + 1, day: day)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = Self.number(clock[0], digits: 2), hour < 24,
            let minute = Self.number(clock[1], digits: 2), minute < 60,
            // 60 is a leap second.
            let second = Self.number(clock[2], digits: 2), second <= 60
        else { return nil }
        return ((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
    }

    private static let days: [Substring] = ["Sun,", "Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,"]
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
