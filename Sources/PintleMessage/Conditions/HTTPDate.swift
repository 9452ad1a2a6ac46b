// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Dates in HTTP's current form (IMF-fixdate, RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Returns the seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`; nil for other forms, the obsolete ones included,
    /// and for days that do not exist. The name of the day is not compared with the date.
    package static func seconds(_ text: String) -> Int64? {
        // Checked first, so that a long text is not split.
        guard text.utf8.count == 29 else { return nil }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, Self.days.contains(parts[0]), parts[5] == "GMT",
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

    /// Returns `Sun, 06 Nov 1994 08:49:37 GMT` for seconds since 1970; within the years 1 to 9999.
    package static func text(_ seconds: Int64) -> String {
        let time = (seconds % 86_400 + 86_400) % 86_400
        let days = (seconds - time) / 86_400
        guard let date = CivilDay(daysSince1970: days) else {
            preconditionFailure("BUG: a date outside the years 1 to 9999")
        }
        // 1 January 1970 was a Thursday.
        let weekday = Self.days[Int(((days + 4) % 7 + 7) % 7)]
        let day = "\(weekday) \(Self.padded(date.day)) \(Self.months[date.month - 1]) \(date.year)"
        return "\(day) \(Self.padded(time / 3600)):\(Self.padded(time / 60 % 60)):\(Self.padded(time % 60)) GMT"
    }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let days: [Substring] = ["Sun,", "Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,"]
    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
