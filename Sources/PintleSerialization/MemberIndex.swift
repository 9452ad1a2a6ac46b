// SPDX-License-Identifier: Apache-2.0

/// A hash table of the nodes of a ``FormTree``, for members of dictionaries that are too large for a linear search.
struct MemberIndex {
    /// The maximum number of members of a dictionary that is not in the table.
    static let threshold = 64

    private struct Slot {
        var node: Int32 = -1
        var hash = 0
    }

    private var slots: [Slot] = []
    private var count = 0

    func first(hash: Int, where matches: (Int32) -> Bool) -> Int32? {
        guard !self.slots.isEmpty else { return nil }
        var place = hash & (self.slots.count - 1)
        while self.slots[place].node >= 0 {
            if self.slots[place].hash == hash, matches(self.slots[place].node) { return self.slots[place].node }
            place = (place + 1) & (self.slots.count - 1)
        }
        return nil
    }

    mutating func insert(_ node: Int32, hash: Int) {
        if (self.count + 1) * 2 > self.slots.count {
            let old = self.slots
            self.slots = Array(repeating: Slot(), count: max(64, old.count * 2))
            for slot in old where slot.node >= 0 { self.place(slot) }
        }
        self.count += 1
        self.place(Slot(node: node, hash: hash))
    }

    private mutating func place(_ slot: Slot) {
        var place = slot.hash & (self.slots.count - 1)
        while self.slots[place].node >= 0 { place = (place + 1) & (self.slots.count - 1) }
        self.slots[place] = slot
    }
}
