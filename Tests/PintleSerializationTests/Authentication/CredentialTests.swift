// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct CredentialTests {
    @Test func `a credential never shows its password`() throws {
        let credential = try Credential(user: "Aladdin", password: "open sesame")
        var dumped = ""
        dump([credential], to: &dumped)
        for text in ["\(credential)", String(reflecting: credential), "\([credential])", dumped] {
            #expect(text.contains("Aladdin"))
            #expect(!text.contains("sesame"))
        }
    }

    @Test func `SER-REQ-17 Basic is the base64 of user and password in UTF-8`() throws {
        let aladdin = try Credential(user: "Aladdin", password: "open sesame")
        #expect(try aladdin.basicAuthorization() == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        // RFC 7617 §2.1, with charset="UTF-8".
        let pound = try Credential(user: "test", password: "123\u{A3}")
        #expect(try pound.basicAuthorization() == "Basic dGVzdDoxMjPCow==")
    }

    @Test func `a user name with a colon is none for Basic`() throws {
        let credential = try Credential(user: "a:b", password: "c")
        let error = #expect(throws: SerializationError.self) { try credential.basicAuthorization() }
        #expect(error?.code == .invalidField)
    }

    @Test(arguments: [("a\nb", "c"), ("a", "c\r\n"), ("a\u{0}", "c"), ("a", "\u{7F}")])
    func `control characters are in no credential`(user: String, password: String) {
        let error = #expect(throws: SerializationError.self) { try Credential(user: user, password: password) }
        #expect(
            error?.message
                == "a user name or password has control characters; check it for a line end and remove it.")
    }
}
