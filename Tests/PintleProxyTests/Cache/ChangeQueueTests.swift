// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleSystem
import Testing

@testable import PintleProxy

/// The order and the budget of changes for the second tier.
struct ChangeQueueTests {
    private func key(_ number: Int) -> CacheKey { CacheKey(partition: "p", url: "http://a.test/\(number)") }

    private func learn(_ number: Int, _ cost: Int, in queue: inout ChangeQueue) -> Bool {
        queue.add(.learn { _ in [] }, of: self.key(number), cost: cost)
    }

    /// Notes a removal, and adds it.
    private func remove(
        _ selection: CacheSelection, overtakes: Bool = false, in queue: inout ChangeQueue,
        done: @escaping ChangeQueue.Done = { _ in }
    ) {
        let removal = queue.begin(selection, overtakes: overtakes)
        queue.carryOut(removal, done: done)
    }

    /// Carries out the next change.
    ///
    /// - Returns: its key or removal in words; nil if there is none.
    private func carryOut(_ queue: inout ChangeQueue) -> String? {
        guard let (job, isNeeded) = queue.next() else { return nil }
        for done in queue.end(job) { done(1) }
        let words = if case .purge(let selection) = job.change { "\(selection)" } else { job.key?.url ?? "" }
        return isNeeded ? words : "skipped"
    }

    private func carryOutAll(_ queue: inout ChangeQueue) -> [String] {
        var all: [String] = []
        while let words = self.carryOut(&queue) { all.append(words) }
        return all
    }

    @Test func `a change without room is turned into a removal`() {
        var queue = ChangeQueue(mostOfStores: 1000, mostOfAll: 2000)
        let added = [self.learn(1, 600, in: &queue), self.learn(2, 600, in: &queue)]
        #expect(added == [true, false])
        #expect(queue.removes("http://a.test/2", tags: []) && !queue.removes("http://a.test/1", tags: []))
        let done = self.carryOutAll(&queue)
        #expect(done == ["http://a.test/1", "url(\"http://a.test/2\")"])
        #expect(queue.cost == 0 && !queue.removes("http://a.test/2", tags: []))
    }

    @Test func `a removal by a request comes first, and skips the earlier changes of its URL alone`() {
        var queue = ChangeQueue()
        let url = CacheSelection.url("http://a.test/1")
        let added = [self.learn(1, 10, in: &queue), self.learn(2, 10, in: &queue)]
        self.remove(url, overtakes: true, in: &queue)
        let isAdded = self.learn(1, 10, in: &queue)
        #expect(added == [true, true] && isAdded)
        let first = self.carryOut(&queue)
        #expect(first == "\(url)" && queue.removes("http://a.test/1", tags: []))
        let rest = self.carryOutAll(&queue)
        #expect(rest == ["skipped", "http://a.test/2", "skipped", "http://a.test/1"])
        #expect(queue.cost == 0 && !queue.removes("http://a.test/1", tags: []))
    }

    @Test func `a removal by a request does not rely on one by a command, which has its place among the changes`() {
        var queue = ChangeQueue()
        let url = CacheSelection.url("http://a.test/1")
        let isAdded = self.learn(1, 10, in: &queue)
        self.remove(url, in: &queue)
        self.remove(url, overtakes: true, in: &queue)
        let done = self.carryOutAll(&queue)
        #expect(isAdded && done == ["\(url)", "skipped", "\(url)", "skipped"])
        #expect(queue.cost == 0 && !queue.removes("http://a.test/1", tags: []))
    }

    @Test func `LOOK-89 removals by requests have no more places than URLs until a change follows`() {
        var queue = ChangeQueue()
        let url = CacheSelection.url("http://a.test/1")
        let cost = url.cost
        let told = Locked(0)
        for _ in 0..<3 {
            self.remove(url, overtakes: true, in: &queue) { _ in told.withLock { $0 += 1 } }
            #expect(queue.cost == cost)
        }
        #expect(queue.count == 2)
        let first = self.carryOut(&queue)
        #expect(first == "\(url)" && told.withLock { $0 } == 3)
        // One that comes after it has begun waits for another.
        self.remove(url, overtakes: true, in: &queue) { _ in told.withLock { $0 += 1 } }
        let done = self.carryOutAll(&queue)
        #expect(done == ["\(url)", "skipped"] && told.withLock { $0 } == 4)
        for _ in 0..<2 {
            let isAdded = self.learn(1, 10, in: &queue)
            self.remove(url, overtakes: true, in: &queue)
            #expect(isAdded)
        }
        #expect(queue.cost == 2 * (10 + cost))
    }

    @Test func `LOOK-89 removals without room become one of everything, for which all wait`() {
        var queue = ChangeQueue(mostOfStores: 1000, mostOfAll: 1000)
        let told = Locked(0)
        for number in 0..<100 {
            self.remove(.url("http://a.test/\(number)"), in: &queue) { _ in told.withLock { $0 += 1 } }
        }
        #expect(queue.count < 10 && queue.cost <= 1000 && queue.removes("http://b.test/", tags: []))
        let isAdded = self.learn(1, 10, in: &queue)
        #expect(!isAdded && told.withLock { $0 } == 0)
        let done = self.carryOutAll(&queue)
        #expect(done.first == "all" && told.withLock { $0 } == 100)
        #expect(queue.cost == 0 && !queue.removes("http://b.test/", tags: []))
        let isAddedAgain = self.learn(1, 10, in: &queue)
        #expect(isAddedAgain)
    }

    @Test func `removals that are given up are pending no more, and those that wait for one of everything are told`() {
        var queue = ChangeQueue(mostOfStores: 1000, mostOfAll: 1000)
        let url = CacheSelection.url("http://a.test/1")
        for overtakes in [false, true] {
            let removal = queue.begin(url, overtakes: overtakes)
            #expect(queue.cost == url.cost && queue.removes("http://a.test/1", tags: []))
            let others = queue.giveUp(removal)
            #expect(others.isEmpty && queue.cost == 0 && !queue.removes("http://a.test/1", tags: []))
        }
        let long = String(repeating: "a", count: 1000)
        let removal = queue.begin(.url("http://a.test/\(long)"), overtakes: true)
        #expect(removal.selection == .all)
        let told = Locked(0)
        self.remove(url, in: &queue) { _ in told.withLock { $0 += 1 } }
        #expect(queue.count == 0 && queue.removes("http://b.test/", tags: []))
        for done in queue.giveUp(removal) { done(0) }
        #expect(told.withLock { $0 } == 1 && !queue.removes("http://b.test/", tags: []))
        let isAdded = self.learn(1, 10, in: &queue)
        #expect(isAdded)
    }

    @Test func `a removal of everything skips the changes before it`() {
        var queue = ChangeQueue()
        let first = self.learn(1, 10, in: &queue)
        let removal = queue.begin(.all, overtakes: false)
        let second = self.learn(2, 10, in: &queue)
        queue.carryOut(removal) { _ in }
        let done = self.carryOutAll(&queue)
        #expect(first && second && done == ["skipped", "http://a.test/2", "all"])
    }
}
