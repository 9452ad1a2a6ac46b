// SPDX-License-Identifier: Apache-2.0

import PintleCache
import Testing

@testable import PintleProxy

/// The memory of URLs whose answers are not for others.
struct UncacheableKeysTests {
    private static func key(_ number: Int, length: Int = 20) -> CacheKey {
        CacheKey(partition: "p", url: "http://a.test/\(number)" + String(repeating: "x", count: length))
    }

    @Test func `a key is known for half a minute, or until it is forgotten`() {
        var keys = UncacheableKeys()
        keys.note(Self.key(1), at: CacheTime(seconds: 100))
        var found = [(1, 129), (2, 100), (1, 130)].map { keys.has(Self.key($0), at: CacheTime(seconds: $1)) }
        #expect(found == [true, false, false])
        keys.note(Self.key(1), at: CacheTime(seconds: 130))
        keys.forget(Self.key(1))
        found = [keys.has(Self.key(1), at: CacheTime(seconds: 130))]
        #expect(found == [false])
    }

    @Test func `a key is forgotten when the clock is set back`() {
        var keys = UncacheableKeys()
        keys.note(Self.key(1), at: CacheTime(seconds: 100_000))
        let found = [99_999, 100_001].map { keys.has(Self.key(1), at: CacheTime(seconds: $0)) }
        #expect(found == [false, false])
    }

    @Test(arguments: [(20, 7000), (16_000, 64)])
    func `the oldest are forgotten where they take more than a mebibyte`(length: Int, most: Int) {
        var keys = UncacheableKeys()
        let time = CacheTime(seconds: 0)
        for number in 0..<10_000 { keys.note(Self.key(number, length: length), at: time) }
        let known = (0..<10_000).filter { keys.has(Self.key($0, length: length), at: time) }
        #expect(known.last == 9999 && known.count <= most && known.count > most / 2)
        #expect(known == Array(known[0]...9999))
    }
}
