// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

/// The order of jobs among clients.
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
        let first = queue.append(1, of: nil)
        queue.append(2, of: nil)
        let other = queue.append(10, of: "b")
        let left = [queue.remove(first), queue.remove(first)]
        #expect(left == [1, nil] && queue.count == 2 && queue.popFirst() == 2)
        #expect(queue.remove(other) == 10 && queue.popFirst() == nil)
        #expect(queue.count == 0 && queue.count(of: "b") == 0)
        // The client comes again; the old ticket is invalid.
        queue.append(11, of: "b")
        #expect(queue.remove(other) == nil && queue.popFirst() == 11)
    }

    @Test func `LOOK-93 a hundred thousand jobs and clients that leave are no work that grows with their number`() {
        let count = 100_000
        var queue = FairQueue<Int, Int>()
        for clients in [1, count] {
            let tickets = (0..<count).map { queue.append($0, of: $0 % clients) }
            for step in 0..<count { queue.remove(tickets[(count / 2 + step) % count]) }
            #expect(queue.count == 0)
            for number in 0..<count { queue.append(number, of: number % clients) }
            #expect((0..<count).allSatisfy { _ in queue.popFirst() != nil } && queue.count == 0)
        }
    }
}
