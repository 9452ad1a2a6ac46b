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
        guard day.utf8.count == 10, let start = UnixTime(iso8601: day), start.seconds >= 0 else { return nil }
        self = start
    }
}
