// SPDX-License-Identifier: Apache-2.0

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

    @Test(arguments: [
        "", "Basic", "Basic ", "Bearer YTpi", "Basic YWI=", "Basic YTpi!", "Basic YTp", "Basic5OmI=", "YTpi",
    ])
    func `anything else is none`(value: String) {
        #expect(BasicCredentials(value) == nil)
    }
}
