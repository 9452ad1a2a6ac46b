// SPDX-License-Identifier: Apache-2.0

import PintleCache
import Testing

@testable import PintleProxy

/// The order and the budget of changes for the second tier.
struct ChangeQueueTests {
    private func key(_ number: Int) -> CacheKey { CacheKey(partition: "p", url: "http://a.test/\(number)") }

    private func learn(_ number: Int, _ cost: Int, in queue: inout ChangeQueue) -> Bool {
        queue.add(.learn { _ in [] }, of: self.key(number), cost: cost)
    }

    /// Carries out the next change.
    ///
    /// - Returns: its key or removal in words; nil if there is none.
    private func carryOut(_ queue: inout ChangeQueue) -> String? {
        guard let (job, isNeeded) = queue.next() else { return nil }
        queue.end(job)
        let words = if case .purge(let selection) = job.change { "\(selection)" } else { job.key?.url ?? "" }
        return isNeeded ? words : "skipped"
    }

    @Test func `a change without room is turned into a removal`() {
        var queue = ChangeQueue(mostOfStores: 1000, mostOfAll: 2000)
        let added = [self.learn(1, 600, in: &queue), self.learn(2, 600, in: &queue)]
        #expect(added == [true, false])
        #expect(queue.removes("http://a.test/2", tags: []) && !queue.removes("http://a.test/1", tags: []))
        let done = (0..<3).map { _ in self.carryOut(&queue) }
        #expect(done == ["http://a.test/1", "url(\"http://a.test/2\")", nil])
        #expect(queue.cost == 0 && !queue.removes("http://a.test/2", tags: []))
    }

    @Test func `LOOK-89 a waiting removal covers equal ones until a change follows`() {
        var queue = ChangeQueue()
        for _ in 0..<3 {
            let removal = queue.begin(.url("http://a.test/1"), isCounted: false)
            _ = queue.carryOut(removal) { _ in }
        }
        #expect(queue.next() != nil)
        #expect(queue.next() == nil)
        let added = self.learn(1, 10, in: &queue)
        let second = queue.begin(.url("http://a.test/1"), isCounted: false)
        let isOwn = queue.carryOut(second) { _ in }
        #expect(added && isOwn)
    }

    @Test func `LOOK-89 removals without room become one of everything`() {
        var queue = ChangeQueue(mostOfStores: 1000, mostOfAll: 1000)
        var waiting = 0
        for number in 0..<100 {
            let removal = queue.begin(.url("http://a.test/\(number)"), isCounted: true)
            waiting += queue.carryOut(removal) { _ in } ? 1 : 0
        }
        #expect(waiting < 10 && queue.cost <= 1000 && queue.removes("http://b.test/", tags: []))
        let isAdded = self.learn(1, 10, in: &queue)
        #expect(!isAdded)
        var last: String?
        while let next = self.carryOut(&queue) { last = next }
        #expect(last == "all" && queue.cost == 0 && !queue.removes("http://b.test/", tags: []))
        let isAddedAgain = self.learn(1, 10, in: &queue)
        #expect(isAddedAgain)
    }

    @Test func `a removal of everything skips the changes before it`() {
        var queue = ChangeQueue()
        let first = self.learn(1, 10, in: &queue)
        let removal = queue.begin(.all, isCounted: true)
        let second = self.learn(2, 10, in: &queue)
        let isOwn = queue.carryOut(removal) { _ in }
        #expect(first && second && isOwn)
        #expect((0..<4).map { _ in self.carryOut(&queue) } == ["skipped", "http://a.test/2", "all", nil])
    }
}
