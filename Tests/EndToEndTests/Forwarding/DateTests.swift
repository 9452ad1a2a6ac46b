// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// The Date of responses (RFC 9110 §6.6.1).
struct DateTests {
    @Test func `LOOK-81 a response without a Date gets one, and a Date stays`() throws {
        let pintle = try PintleProcess("")
        let without = try RawOrigin(answering: response("a"))
        let date = try #require(try pintle.ask(get(without.port))["Date"])
        #expect(date.utf8.count == 29 && date.hasSuffix(" GMT"), "\(date)")
        let with = try RawOrigin(answering: response("a", fields: "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"))
        #expect(try pintle.ask(get(with.port))["Date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test func `LOOK-81 a route may take the Date away`() throws {
        let pintle = try PintleProcess("routes: [{name: r, response: {headers: {remove: [Date]}}}]")
        let origin = try RawOrigin(answering: response("a"))
        #expect(try pintle.ask(get(origin.port))["Date"] == nil)
    }
}
