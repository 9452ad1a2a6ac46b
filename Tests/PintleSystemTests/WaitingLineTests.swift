// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

/// Elements that leave from either end, or from between.
struct WaitingLineTests {
    private static func line(_ count: UInt64) -> WaitingLine<UInt64> {
        var line = WaitingLine<UInt64>()
        for number in 0..<count { line.append(number, number: number) }
        return line
    }

    @Test func `elements leave in their order, from either end`() {
        var line = Self.line(6)
        var left: [UInt64?] = []
        for _ in 0..<2 {
            left.append(line.popFirst()?.element)
            left.append(line.popLast()?.element)
        }
        line.append(9, number: 9)
        #expect(line.count == 3 && line.lastElement == 9)
        while let next = line.popFirst() { left.append(next.number) }
        #expect(left == [0, 5, 1, 4, 2, 3, 9] && line.isEmpty && line.popLast() == nil)
    }

    @Test func `one that leaves from between is forgotten, and its neighbours are neighbours`() {
        var line = Self.line(5)
        var left = [line.remove(2), line.remove(2), line.remove(0), line.remove(4), line.remove(7)]
        #expect(left == [2, nil, 0, 4, nil] && line.lastElement == 3)
        line.append(8, number: 8)
        left = []
        while let next = line.popLast() { left.append(next.element) }
        #expect(left == [8, 3, 1])
    }

    @Test func `LOOK-93 a hundred thousand that leave from anywhere are no work that grows with their number`() {
        let count: UInt64 = 100_000
        var line = Self.line(count)
        // Begins in the middle, where a search from either end is longest.
        for step in 0..<count { line.remove((count / 2 + step) % count) }
        #expect(line.isEmpty)
    }
}
