// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

extension UnixTime {
    /// True if a day begins (UTC) at this moment.
    var isStartOfDay: Bool { self.seconds.isMultiple(of: 86_400) }

    /// The date in UTC, and the time unless a day begins then: the spelling in a configuration.
    var spelled: String { self.isStartOfDay ? self.day : self.description }

    /// The date in UTC, for example 2027-01-31.
    package var day: String { String(self.description.prefix { $0 != "T" }) }

    /// Makes the first second of a date in UTC.
    ///
    /// - Parameter day: a date such as 2027-01-31, from 1970 to 9999.
    package init?(day: String) {
        let parts = day.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.map(\.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let year = Int64(parts[0]), let month = Int64(parts[1]), let date = Int64(parts[2]),
            (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(date)
        else { return nil }
        // Years begin in March here, so that the leap day is the last one.
        let shifted = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + date - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        self.init(seconds: days * 86_400)
        // 31 February becomes another day than the text has.
        guard self.day == day else { return nil }
    }
}
