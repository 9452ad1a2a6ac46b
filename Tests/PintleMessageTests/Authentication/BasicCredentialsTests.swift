// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import Testing

struct BasicCredentialsTests {
    @Test(arguments: [
        ("Basic YW5hOnBhc3M=", "ana", "pass"), ("basic YW5hOnBhc3M=", "ana", "pass"),
        ("BASIC   YW5hOnBhc3M= ", "ana", "pass"), ("Basic OmI=", "", "b"), ("Basic YTo=", "a", ""),
        ("Basic YTpiOmM=", "a", "b:c"), ("Basic w6Q6w7Y=", "ä", "ö"),
    ])
    func `a name and a password are read`(value: String, user: String, password: String) throws {
        let credentials = try #require(BasicCredentials(value))
        #expect(credentials.user == user && credentials.password == Array(password.utf8))
    }

    @Test func `a name that would take quadratic time to look up is none`() {
        for (count, isRead) in [(30, true), (31, false), (6000, false)] {
            let name = Data(("a" + String(repeating: "\u{301}", count: count) + ":b").utf8).base64EncodedString()
            #expect((BasicCredentials("Basic \(name)") != nil) == isRead, "\(count)")
        }
    }

    @Test(arguments: [
        "", "Basic", "Basic ", "Bearer YTpi", "Basic YWI=", "Basic YTpi!", "Basic YTp", "Basic5OmI=", "YTpi",
    ])
    func `anything else is none`(value: String) {
        #expect(BasicCredentials(value) == nil)
    }
}
