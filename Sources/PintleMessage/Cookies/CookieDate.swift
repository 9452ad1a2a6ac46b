// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Reads the dates of cookies, which come in many forms (RFC 6265 §5.1.1).
enum CookieDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Returns the seconds since 1970; nil if the text has no day, month, year and time of day.
    static func read(_ text: String) -> Int64? {
        var (day, month, year): (Int64?, Int?, Int64?) = (nil, nil, nil)
        var time: Int64?
        for token in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != ":" }) {
            let token = token.lowercased()
            if time == nil, let found = Self.timeOfDay(token) {
                time = found
            } else if day == nil, token.utf8.count <= 2, let number = Int64(token) {
                day = number
            } else if month == nil, let place = Self.months.firstIndex(where: token.hasPrefix) {
                month = place + 1
            } else if year == nil, (2...4).contains(token.utf8.count), let number = Int64(token) {
                year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
            }
        }
        guard let day, let month, let year, let time, year >= 1601,
            let date = CivilDay(year: year, month: month, day: day)
        else { return nil }
        return date.daysSince1970 * 86_400 + time
    }

    private static func timeOfDay(_ token: String) -> Int64? {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ (1...2).contains($0.utf8.count) }) else { return nil }
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] < 60 else { return nil }
        return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    }
}
