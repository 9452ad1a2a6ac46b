// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleMessage
import Testing

@testable import PintleProxy

/// The answers in memory, and how they go.
struct AnswerMemoryTests {
    private static func answer(_ length: Int) -> KeptAnswer {
        KeptAnswer(
            StoredResponse(
                head: ResponseHead(status: 200), requestTime: .now(), responseTime: .now(), length: UInt64(length)),
            [ByteBuffer(repeating: 1, count: length)])
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(partition: "p", url: "http://a.test/\(number)") }

    @Test func `a purge goes in steps, from what was not used for longest, to the preferred usage`() {
        var memory = AnswerMemory(capacity: 10 << 20, preferredUsage: 5 << 20, variantLimit: 32)
        var number = 0
        while !memory.beginPurge() {
            _ = memory.keep(Self.answer(10), at: Self.key(number)) { _ in false }
            number += 1
        }
        #expect(memory.count == number && memory.usage > 10 << 20 && memory.usage < 10 << 20 + 10_000)
        // One is under way.
        let second = memory.beginPurge()
        #expect(!second)
        let used = memory.answers(for: Self.key(0)).count
        var purged = 0
        while true {
            let step = memory.purge()
            #expect(step.count <= 200)
            if step.isEmpty { break }
            purged += step.count
        }
        #expect(memory.count == number - purged && memory.usage <= 5 << 20 && memory.usage > 4 << 20)
        let (first, next) = (memory.answers(for: Self.key(0)), memory.answers(for: Self.key(1)))
        #expect(used == 1 && first.count == 1 && next.isEmpty)
        // The next one may begin.
        for length in [4 << 20, 2 << 20] {
            number += 1
            _ = memory.keep(Self.answer(length), at: Self.key(number)) { _ in false }
        }
        let begins = memory.beginPurge()
        #expect(begins)
    }

    @Test func `until a purge is over there is an eighth more, at most, and what is replaced goes all the same`() {
        var memory = AnswerMemory(capacity: 8 << 20, preferredUsage: 4 << 20, variantLimit: 32)
        for number in 0..<20 { _ = memory.keep(Self.answer(1 << 20), at: Self.key(number)) { _ in false } }
        #expect(memory.usage <= 9 << 20 && memory.usage > 7 << 20)
        let count = memory.count
        let old = memory.keep(Self.answer(3 << 20), at: Self.key(0)) { _ in true }
        let left = memory.answers(for: Self.key(0))
        #expect(old.count == 1 && left.isEmpty && memory.count == count - 1)
    }

    @Test func `all go at once`() {
        var memory = AnswerMemory(capacity: 8 << 20, preferredUsage: 4 << 20, variantLimit: 32)
        for number in 0..<5 { _ = memory.keep(Self.answer(1000), at: Self.key(number)) { _ in false } }
        let gone = memory.removeAll()
        #expect(gone.count == 5 && memory.count == 0 && memory.usage == 0)
        _ = memory.keep(Self.answer(1000), at: Self.key(1)) { _ in false }
        let kept = memory.answers(for: Self.key(1))
        #expect(memory.count == 1 && kept.count == 1)
    }

    @Test func `LOOK-89 values of fields that Vary names count`() {
        func answer(_ length: Int) -> KeptAnswer {
            let value = SelectingField(name: "x-a", value: [UInt8](repeating: 1, count: length))
            return KeptAnswer(
                StoredResponse(
                    head: ResponseHead(status: 200), requestTime: .now(), responseTime: .now(), selecting: [value],
                    length: 1),
                [ByteBuffer(string: "a")])
        }
        #expect(answer(64 << 10).cost - answer(0).cost == 64 << 10)
        var memory = AnswerMemory(capacity: 1 << 20, preferredUsage: 1 << 19, variantLimit: 32)
        for number in 0..<100 { _ = memory.keep(answer(64 << 10), at: Self.key(number)) { _ in false } }
        #expect(memory.count < 18 && memory.usage >= memory.count * 64 << 10)
    }
}
