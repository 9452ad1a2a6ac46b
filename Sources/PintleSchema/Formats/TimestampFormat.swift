// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSystem

/// Dates and times of RFC 3339 §5.6.
enum TimestampFormat {
    static func isDateTime(_ bytes: [UInt8]) -> Bool {
        bytes.count > 10 && bytes[10] | 0x20 == UInt8(ascii: "t") && Self.isDate(bytes[..<10])
            && Self.isTime(bytes[11...])
    }

    /// True for a date such as `2026-11-22`, if the calendar has that day.
    static func isDate(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year = Self.number(parts[0]), let month = Self.number(parts[1]),
            let day = Self.number(parts[2])
        else { return false }
        // RFC 3339 has a year 0, with the days of any leap year.
        return CivilDay(year: year == 0 ? 4 : Int64(year), month: month, day: Int64(day)) != nil
    }

    /// True for a time such as `23:59:60.5+01:00`: with an offset, and with a leap second only at the end of a day in UTC.
    static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        guard let clock = Self.clock(takenFrom: &rest), rest.popFirst() == UInt8(ascii: ":"),
            let second = Self.number(rest.prefix(2)), rest.prefix(2).count == 2, second <= 60
        else { return false }
        rest = rest.dropFirst(2)
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: ASCII.isDigit)
            guard !digits.isEmpty else { return false }
            rest = rest[digits.endIndex...]
        }
        var offset = 0
        switch rest.popFirst() {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): break
        case UInt8(ascii: "+"):
            guard let minutes = Self.clock(takenFrom: &rest) else { return false }
            offset = minutes
        case UInt8(ascii: "-"):
            guard let minutes = Self.clock(takenFrom: &rest) else { return false }
            offset = -minutes
        default: return false
        }
        return rest.isEmpty && (second < 60 || (clock - offset + 2880) % 1440 == 1439)
    }

    /// Takes `hh:mm` off the beginning, and returns the minutes since midnight.
    private static func clock(takenFrom rest: inout ArraySlice<UInt8>) -> Int? {
        let text = rest.prefix(5)
        guard text.count == 5, text[text.startIndex + 2] == UInt8(ascii: ":"), let hour = Self.number(text.prefix(2)),
            let minute = Self.number(text.suffix(2)), hour < 24, minute < 60
        else { return nil }
        rest = rest.dropFirst(5)
        return hour * 60 + minute
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy(ASCII.isDigit) ? digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) } : nil
    }
}
