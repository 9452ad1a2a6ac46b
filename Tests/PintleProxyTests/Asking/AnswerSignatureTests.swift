// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleTrust
import Testing

@testable import PintleProxy

struct AnswerSignatureTests {
    private let signature = AnswerSignature(secret: "a secret of a webhook")
    private let body = Array("{\"id\": \"a\", \"answer\": \"allow\", \"for\": \"once\"}".utf8)
    private let now = Timestamp(milliseconds: 1_790_000_000_500)

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// RFC 4231 §4.2, §4.3 and §4.7.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `the code is that of RFC 4231`(key: [UInt8], message: String, code: String) {
        #expect(Self.hex(MessageAuthentication.code(of: Array(message.utf8), key: key)) == code)
    }

    @Test func `a signature holds for its body, its secret and its time alone`() {
        let value = self.signature.value(for: self.body, at: self.now)
        #expect(value.hasPrefix("t=1790000000,v1="))
        #expect(self.signature.isValid(value, for: self.body, at: self.now))
        #expect(self.signature.isValid("v0=x, \(value),v1=0", for: self.body, at: self.now))
        for moment in [-300, 300] {
            let time = Timestamp(milliseconds: self.now.milliseconds + Int64(moment) * 1000)
            #expect(self.signature.isValid(value, for: self.body, at: time))
        }
        for moment in [-302, 301] {
            let time = Timestamp(milliseconds: self.now.milliseconds + Int64(moment) * 1000)
            #expect(!self.signature.isValid(value, for: self.body, at: time))
        }
        #expect(!self.signature.isValid(value, for: self.body + [0x20], at: self.now))
        #expect(!AnswerSignature(secret: "another secret of it").isValid(value, for: self.body, at: self.now))
    }

    @Test(arguments: [
        nil, "", "t=1790000000", "v1=00", "t=1790000000,v1=", "t=,v1=", "t=-1,v1=00", "t=9223372036854775807,v1=00",
        "t=99999999999999999999,v1=00", "=,=,=",
    ])
    func `anything else is none`(value: String?) {
        #expect(!self.signature.isValid(value, for: self.body, at: self.now))
    }

    @Test func `another time in the field breaks the signature`() {
        let value = self.signature.value(for: self.body, at: self.now)
        #expect(
            !self.signature.isValid(value.replacing("t=1790000000", with: "t=1790000001"), for: self.body, at: self.now)
        )
    }

    @Test(arguments: [
        ("{\"id\": \"a\", \"answer\": \"allow\", \"for\": \"run\"}", true),
        ("{\"answer\": \"allow\", \"for\": \"run\"}", false),
        ("{\"id\": 1, \"answer\": \"allow\", \"for\": \"run\"}", false),
        ("{\"id\": \"a\", \"answer\": \"allow\"}", false), ("[]", false), ("", false),
    ])
    func `an answer names its question`(text: String, isOne: Bool) {
        #expect((SignedAnswer(document: Array(text.utf8)) != nil) == isOne)
    }
}
