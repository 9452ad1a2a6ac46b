// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleSystem
import PintleTesting
import Testing

@Suite struct ThreadPoolTests {
    @Test func `LOOK-55 what blocks on other threads lets every task go on`() async throws {
        let pool = ThreadPool(most: 32)
        let (isOpen, blocked) = (Watched(false), Watched(0))
        for _ in 0..<32 {
            try pool.run {
                blocked.change { $0 += 1 }
                _ = try? isOpen.wait(for: "the gate") { $0 }
                blocked.change { $0 -= 1 }
            }
        }
        try await blocked.reach("all threads") { $0 == 32 }
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...100 {
                group.addTask {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 5050)
        #expect(blocked.current == 32)
        isOpen.change { $0 = true }
        try await blocked.reach("the end") { $0 == 0 }
    }

    @Test func `no more work is done at a time than may, and the rest waits in order`() async throws {
        let pool = ThreadPool(most: 2)
        let (isOpen, begun) = (Watched(false), Watched<[Int]>([]))
        for number in 1...6 {
            try pool.run {
                begun.change { $0.append(number) }
                _ = try? isOpen.wait(for: "the gate") { $0 }
            }
            // The first two have a thread each, and which of them begins first is the system's to say.
            if number <= 2 { try await begun.reach("a thread") { $0.count == number } }
        }
        #expect(begun.current == [1, 2])
        isOpen.change { $0 = true }
        #expect(try await begun.reach("the rest") { $0.count == 6 }.sorted() == [1, 2, 3, 4, 5, 6])
    }

    @Test func `a thread that has nothing to do takes the next work`() async throws {
        let pool = ThreadPool(most: 8)
        let threads = Watched<Set<UInt>>([])
        for number in 1...50 {
            let thread = await pool.result { pthread_self() }
            threads.change { _ = $0.insert(thread) }
            if number == 1 { #expect(thread != pthread_self()) }
        }
        // A thread waits again a moment after it has told its result, so now and then a second one is started.
        #expect(threads.current.count <= 8)
    }

    @Test func `an error comes back as it was thrown`() async {
        let pool = ThreadPool(most: 1)
        await #expect(throws: SystemError(ENOSPC)) {
            try await pool.result { () throws(SystemError) in throw SystemError(ENOSPC) }
        }
    }
}

@Suite struct ConditionTests {
    @Test func `a deadline passes, and whoever is signalled before it goes on`() async throws {
        let condition = Condition()
        #expect(!condition.locked { condition.wait(until: Condition.Deadline(in: .milliseconds(1))) })
        let isWaiting = Watched(false)
        let seen = Watched<Bool?>(nil)
        try SystemThread.start {
            let result = condition.locked {
                isWaiting.change { $0 = true }
                return condition.wait(until: Condition.Deadline(in: .seconds(3600)))
            }
            seen.change { $0 = result }
        }
        try await isWaiting.reach("the other thread") { $0 }
        // The other thread holds the lock until it waits.
        condition.locked { condition.broadcast() }
        #expect(try await seen.reach("the signal") { $0 != nil } == true)
    }
}
