// SPDX-License-Identifier: Apache-2.0

/// Dates with a time of day in the form of ISO 8601 and RFC 3339, as seconds since 1970.
package enum ISO8601 {
    /// Returns `2026-03-01T12:00:00Z` for seconds since 1970; nil outside the years 1 to 9999.
    package static func text(_ seconds: Int64) -> String? {
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let second = rest < 0 ? rest + 86_400 : rest
        guard let date = CivilDay(daysSince1970: rest < 0 ? days - 1 : days) else { return nil }
        return "\(self.padded(date.year, 4))-\(self.padded(Int64(date.month)))-\(self.padded(date.day))"
            + "T\(self.padded(second / 3600)):\(self.padded(second / 60 % 60)):\(self.padded(second % 60))Z"
    }

    private static func padded(_ number: Int64, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Reads a date, or a date and a time of day.
    ///
    /// `2026-01-01` is the beginning of that day in UTC. Times are `2026-01-01T12:00:00Z`, with an offset such as `+01:00`
    /// in place of the `Z`, or without either for UTC; seconds may be missing. Fractions of a second are cut off.
    ///
    /// - Returns: seconds since 1970; nil for any other text, and for days that do not exist.
    package static func seconds(_ text: some Collection<UInt8>) -> Int64? {
        var rest = Array(text)[...]
        guard let year = self.number(&rest, 4), self.take(&rest, "-"), let month = self.number(&rest, 2),
            self.take(&rest, "-"), let day = self.number(&rest, 2),
            let date = CivilDay(year: Int64(year), month: month, day: Int64(day))
        else { return nil }
        let seconds = date.daysSince1970 * 86_400
        if rest.isEmpty { return seconds }
        guard self.take(&rest, "Tt "), let time = self.timeOfDay(&rest), let offset = self.offset(&rest), rest.isEmpty
        else { return nil }
        return seconds + Int64(time - offset)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, _ characters: String) -> Bool {
        guard let first = rest.first, characters.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func timeOfDay(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard let hour = self.number(&rest, 2), self.take(&rest, ":"), let minute = self.number(&rest, 2), hour < 24,
            minute < 60
        else { return nil }
        var second = 0
        if self.take(&rest, ":") {
            // A leap second counts as the second after it.
            guard let value = self.number(&rest, 2), value <= 60 else { return nil }
            second = value
            if self.take(&rest, ".,") {
                let fraction = rest.prefix { (0x30...0x39).contains($0) }
                guard !fraction.isEmpty else { return nil }
                rest = rest.dropFirst(fraction.count)
            }
        }
        return hour * 3600 + minute * 60 + second
    }

    /// Reads the offset from UTC in seconds, positive if ahead of UTC.
    private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard let sign = rest.first else { return 0 }
        rest = rest.dropFirst()
        if sign | 0x20 == UInt8(ascii: "z") { return 0 }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hours = self.number(&rest, 2), hours < 24
        else {
            return nil
        }
        _ = self.take(&rest, ":")
        let minutes = rest.isEmpty ? 0 : self.number(&rest, 2)
        guard let minutes, minutes < 60 else { return nil }
        return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }
}
