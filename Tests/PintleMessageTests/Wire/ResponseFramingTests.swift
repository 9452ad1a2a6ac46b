// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@Suite struct ResponseFramingTests {
    private func framing(
        _ method: String = "GET", _ status: UInt16 = 200, minorVersion: UInt8 = 1, length: UInt64? = nil
    ) -> ResponseFraming {
        ResponseFraming(method: method, minorVersion: minorVersion, head: ResponseHead(status: status), length: length)
    }

    @Test func `framing is made anew from what is known`() {
        #expect(self.framing(length: 5) == .length(5))
        #expect(self.framing() == .chunked)
        #expect(self.framing(minorVersion: 0) == .untilClose)
        #expect(self.framing("HEAD", length: 7) == .none(wouldBe: 7))
        #expect(self.framing("GET", 304, length: 7) == .none(wouldBe: 7))
        #expect(self.framing("GET", 204, length: 7) == .none(wouldBe: nil))
    }
}
