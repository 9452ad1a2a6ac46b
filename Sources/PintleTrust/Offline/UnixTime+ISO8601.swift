// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

extension UnixTime {
    /// Reads a date, or a date and a time of day, in the form of ISO 8601 and RFC 3339.
    ///
    /// `2026-01-01` is the beginning of that day in UTC. Times are `2026-01-01T12:00:00Z`, with an offset such as `+01:00`
    /// in place of the `Z`, or without either for UTC; seconds may be missing. Fractions of a second are cut off, since
    /// certificates have none.
    package init?(iso8601 text: String) {
        var rest = Array(text.utf8)[...]
        guard let year = UnixTime.number(&rest, 4), UnixTime.take(&rest, "-"), let month = UnixTime.number(&rest, 2),
            UnixTime.take(&rest, "-"), let day = UnixTime.number(&rest, 2),
            let date = CivilDay(year: Int64(year), month: month, day: Int64(day))
        else { return nil }
        var seconds = Int(date.daysSince1970) * 86400
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
