// SPDX-License-Identifier: Apache-2.0

import PintleStorage
import Testing

/// Values that change in their places.
struct RecencyEntriesTests {
    private func entries(_ keys: Range<Int>) -> RecencyEntries<Int, [Int]> {
        var entries = RecencyEntries<Int, [Int]>()
        for key in keys { entries.insert([key], for: key, cost: 10) }
        return entries
    }

    @Test func `a change in place has a new cost, and makes the key the newest`() {
        var entries = self.entries(0..<3)
        let count = entries.change(0, default: []) { value in
            value.append(7)
            return (value.count, cost: 25)
        }
        #expect(count == 2 && entries[0] == [0, 7] && entries.cost == 45)
        let oldest = entries.removeOldest(untilCost: 30)
        #expect(oldest == [[1], [2]])
        entries.change(9, default: []) { ($0.append(9), cost: 5) }
        entries.change(0, default: []) { _ in ((), cost: nil) }
        #expect(entries.count == 1 && entries.cost == 5 && entries.keys == [9])
    }

    @Test(arguments: [2, .max])
    func `the oldest change until the rest is cheap enough`(most: Int) {
        var entries = self.entries(0..<6)
        var seen: [Int] = []
        entries.changeOldest(untilCost: 35, most: most) { key, _ in
            seen.append(key)
            return key == 1 ? 0 : nil
        }
        #expect(seen == (most == 2 ? [0, 1] : [0, 1, 2]))
        #expect(entries.cost == (most == 2 ? 40 : 30) && entries[0] == nil && entries[1] == [1])
        // A value that stays has become the newest.
        let oldest = entries.removeOldest(untilCost: 10)
        #expect(oldest == (most == 2 ? [[2], [3], [4]] : [[3], [4]]))
    }
}
