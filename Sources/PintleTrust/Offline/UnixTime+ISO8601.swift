// SPDX-License-Identifier: Apache-2.0

extension UnixTime {
    /// Reads a date, or a date and a time of day, as ISO 8601 and RFC 3339 write them.
    ///
    /// `2026-01-01` is the beginning of that day in UTC. Times are `2026-01-01T12:00:00Z`, with a `+01:00` in place of
    /// the `Z`, or without either for UTC; seconds may be missing. Fractions of a second are cut off, since
    /// certificates know none.
    package init?(iso8601 text: String) {
        var rest = Array(text.utf8)[...]
        guard let year = UnixTime.number(&rest, 4), UnixTime.take(&rest, "-"), let month = UnixTime.number(&rest, 2),
            UnixTime.take(&rest, "-"), let day = UnixTime.number(&rest, 2), (1...12).contains(month),
            (1...UnixTime.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        var seconds = UnixTime.dayNumber(year, month, day) * 86400
        if !rest.isEmpty {
            guard UnixTime.take(&rest, "Tt "), let time = UnixTime.timeOfDay(&rest),
                let offset = UnixTime.offset(&rest),
                rest.isEmpty
            else { return nil }
            seconds += time - offset
        }
        self.init(seconds: Int64(seconds))
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
            // A leap second is the moment after it.
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

    /// Seconds ahead of UTC.
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

    private static func days(inMonth month: Int, of year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    /// Days since 1970-01-01 in the Gregorian calendar, counted in eras of 400 years that begin in March.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
    }
}
