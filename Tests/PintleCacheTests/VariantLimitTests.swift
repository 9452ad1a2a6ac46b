// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage
import Testing

@Suite struct VariantLimitTests {
    private static let now = CacheTime(seconds: 1_767_225_600)

    private static func request(_ value: Int) -> RequestHead {
        RequestHead(method: "GET", target: .origin(path: "/"), fields: ["X": "\(value)"])
    }

    @Test func `of more variants than are looked at the first ones answer`() throws {
        let rules = CacheRules()
        let times = ExchangeTimes(request: Self.now, response: Self.now)
        let stored = try (0..<40).map { value in
            let head = ResponseHead(status: 200, fields: ["Cache-Control": "max-age=60", "Vary": "X"])
            return try #require(rules.stored(head, to: Self.request(value), at: times, length: 1))
        }
        func decision(_ value: Int) -> CacheDecision {
            rules.decision(for: Self.request(value), among: stored, now: Self.now)
        }
        #expect(decision(31) == .answer(index: 31, age: 0, staleness: -60, revalidate: false))
        #expect(decision(32) == .forward(.varyMiss))
        #expect(decision(40) == .forward(.varyMiss))
    }
}
