// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintleTrust
import Testing

struct DayTests {
    @Test func `a day is read and written alike, leap days too`() {
        for day in ["1970-01-01", "2000-02-29", "2024-02-29", "2027-01-31", "2100-03-01", "9999-12-31"] {
            #expect(UnixTime(day: day)?.day == day)
        }
        #expect(UnixTime(day: "2027-01-01")?.seconds == 1_798_761_600)
    }

    @Test(arguments: [
        "", "2027", "2027-1-1", "2027-13-01", "2027-02-29", "2100-02-29", "1969-12-31", "2027-01-01T00", "２027-01-01",
    ])
    func `what is no day is refused`(text: String) {
        #expect(UnixTime(day: text) == nil)
    }
}
