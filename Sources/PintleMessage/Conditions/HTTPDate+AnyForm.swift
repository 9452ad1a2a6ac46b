// SPDX-License-Identifier: Apache-2.0

extension HTTPDate {
    /// Returns the seconds since 1970 of a date in any form that a recipient must accept (RFC 9110 §5.6.7): today's, that
    /// of RFC 850, `Sunday, 06-Nov-94 08:49:37 GMT`, and that of C's asctime, `Sun Nov  6 08:49:37 1994`.
    ///
    /// - Parameter now: seconds since 1970. A year of two digits that would be more than 50 years after it is the last past
    ///   year with these digits.
    /// - Returns: nil for everything else, and for days that do not exist. The name of the day is not compared with the
    ///   date.
    package static func seconds(anyForm text: String, near now: Int64) -> Int64? {
        // The longest form is that of RFC 850 on a Wednesday.
        guard text.utf8.count <= 33 else { return nil }
        if let seconds = Self.seconds(text) { return seconds }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        // asctime pads a day of one digit with a space.
        if text.utf8.count == 24, parts.count == (parts.count > 2 && parts[2].isEmpty ? 6 : 5) {
            let day = parts[2].isEmpty ? "0" + parts[3] : String(parts[2])
            let clock = parts[parts.count - 2]
            return Self.seconds("\(parts[0]), \(day) \(parts[1]) \(parts[parts.count - 1]) \(clock) GMT")
        }
        guard parts.count == 4, parts[3] == "GMT", Self.longDays.contains(parts[0]) else { return nil }
        let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, date[2].utf8.count == 2, date[2].utf8.allSatisfy(ASCII.isDigit),
            let digits = Int64(date[2])
        else { return nil }
        // Any name of a day will do: it is not compared with the date.
        func seconds(_ year: Int64) -> Int64? { Self.seconds("Mon, \(date[0]) \(date[1]) \(year) \(parts[2]) GMT") }
        let time = min(max(now, 0), 100_000_000_000)
        let thisYear = 1970 + time / 31_556_952
        let year = thisYear - thisYear % 100 + digits
        let fiftyYears: Int64 = 50 * 31_556_952
        return [year + 100, year, year - 100].lazy.compactMap(seconds).first { $0 <= time + fiftyYears }
    }

    private static let longDays: [Substring] = [
        "Sunday,", "Monday,", "Tuesday,", "Wednesday,", "Thursday,", "Friday,", "Saturday,",
    ]
}
