// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage
import Testing

@Suite struct HeldBytesTests {
    private static func stored(_ fields: Fields, _ range: Range<UInt64>?) -> StoredResponse {
        let time = CacheTime(seconds: 1_767_225_600)
        return StoredResponse(
            head: ResponseHead(status: 200, fields: fields), requestTime: time, responseTime: time, length: 100,
            range: range)
    }

    @Test func `only the bytes that are held are sent`() {
        let part = Self.stored(["ETag": "\"a\""], 20..<40)
        func answer(_ range: String) -> Range<UInt64>? {
            let request = RequestHead(method: "GET", target: .origin(path: "/"), fields: ["Range": range])
            return CacheRules().answer(to: request, from: part, age: 0)?.body
        }
        #expect(answer("bytes=20-39") == 20..<40)
        #expect(answer("bytes=20-40") == nil)
        #expect(answer("bytes=19-39") == nil)
        #expect(part.heldLength == 20)
    }
}
