// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

/// Whose job is next.
struct FairQueueTests {
    @Test func `clients take turns, and the jobs of each keep their order`() {
        var queue = FairQueue<String, Int>()
        for number in 1...3 { queue.append(number, of: "a") }
        queue.append(10, of: "b")
        #expect(queue.count == 4 && queue.count(of: "a") == 3 && queue.count(of: "c") == 0)
        #expect(queue.popFirst() == 1)
        queue.append(20, of: "c")
        var order: [Int] = []
        while let job = queue.popFirst() { order.append(job) }
        #expect(order == [10, 2, 20, 3] && queue.count == 0)
    }

    @Test func `a job that is taken out leaves the turns of the others`() {
        var queue = FairQueue<String?, Int>()
        for number in 1...2 { queue.append(number, of: nil) }
        queue.append(10, of: "b")
        queue.removeFirst(of: "b") { $0 == 11 }
        #expect(queue.count == 3)
        queue.removeFirst(of: nil) { $0 == 1 }
        #expect(queue.popFirst() == 2)
        queue.removeFirst(of: "b") { $0 == 10 }
        #expect(queue.popFirst() == nil && queue.count == 0 && queue.count(of: "b") == 0)
    }
}
