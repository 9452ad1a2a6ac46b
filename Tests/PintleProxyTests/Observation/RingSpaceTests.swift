// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleProxy

/// The places in a ring of bytes.
struct RingSpaceTests {
    @Test func `parts lie one behind the other, and begin anew where the oldest have left`() {
        var space = RingSpace(capacity: 100)
        #expect(space.take(40) == 0 && space.take(40) == 40)
        #expect(space.take(40) == nil && space.count == 2)
        space.removeFirst(40)
        #expect(space.take(40) == 0)
        // The end of the ring is too short for it, and the oldest part is in the way.
        #expect(space.take(20) == nil)
        space.removeFirst(40)
        #expect(space.take(60) == 40 && space.take(1) == nil && space.count == 2)
    }

    @Test func `a part that is longer than the ring has no place, even in an empty one`() {
        var space = RingSpace(capacity: 100)
        #expect(space.take(101) == nil && space.take(100) == 0 && space.take(1) == nil)
        space.removeFirst(100)
        #expect(space.take(100) == 0)
    }

    @Test func `no two parts overlap, and none ends behind the ring`() {
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        for _ in 0..<200 {
            let capacity = Int.random(in: 16...400, using: &generator)
            var space = RingSpace(capacity: capacity)
            var parts: [Range<Int>] = []
            for _ in 0..<300 {
                let size = Int.random(in: 1...capacity / 2, using: &generator)
                while true {
                    if let place = space.take(size) {
                        let part = place..<place + size
                        #expect(part.upperBound <= capacity && !parts.contains { $0.overlaps(part) })
                        parts.append(part)
                        break
                    }
                    // An empty ring takes every part that is not longer.
                    guard !parts.isEmpty else { return #expect(Bool(false), "an empty ring refused \(size)") }
                    space.removeFirst(parts.removeFirst().count)
                }
                #expect(space.count == parts.count)
            }
        }
    }
}
