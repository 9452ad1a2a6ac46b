// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintlePolicy
import PintleSerialization
import PintleTesting
import Testing

@testable import PintleProxy

@Suite struct WorkPoolTests {
    /// Jobs spin until the test lets them end, which may take long on a busy machine: their time must not run out before.
    private static let limits = WorkPool.Limits(steps: .max, processorTime: .seconds(86_400), heldBytes: 1 << 20)
    private static let anybody = Client.user(1)

    /// Keeps a pool's only worker busy until the gate opens.
    private final class Gatekeeper: Sendable {
        let isOpen = Watched(false)
        let isThere = Watched(false)

        func work(_ budget: WorkBudget) {
            self.isThere.change { $0 = true }
            _ = try? self.isOpen.wait(for: "the gate") { $0 }
        }
    }

    private static func busyPool(
        _ gate: Gatekeeper, memory: MemoryBudget = MemoryBudget(), mostWaiting: Int = 100, ofClient: Int = 50
    ) async throws -> (WorkPool, WorkPool.Ticket) {
        let pool = WorkPool(memory: memory, workers: 1, mostWaiting: mostWaiting, ofClient: ofClient)
        let ticket = try pool.submit(for: Self.anybody, Self.limits) { gate.work($0) }
        try await gate.isThere.reach("the worker") { $0 }
        return (pool, ticket)
    }

    @Test func `clients take turns`() async throws {
        let gate = Gatekeeper()
        let (pool, _) = try await Self.busyPool(gate)
        let order = Watched<[String]>([])
        for number in 1...3 {
            for user in [UInt32(7), 8] where user == 7 || number < 3 {
                _ = try pool.submit(for: .user(user), Self.limits) { _ in
                    order.change { $0.append("\(user).\(number)") }
                }
            }
        }
        for number in 4...5 {
            _ = try pool.submit(for: .user(7), Self.limits) { _ in order.change { $0.append("7.\(number)") } }
        }
        gate.isOpen.change { $0 = true }
        let done = try await order.reach("all jobs") { $0.count == 7 }
        #expect(done == ["7.1", "8.1", "7.2", "8.2", "7.3", "7.4", "7.5"])
    }

    @Test func `no more wait than may, of one client and of all`() async throws {
        let gate = Gatekeeper()
        let (pool, _) = try await Self.busyPool(gate, mostWaiting: 5, ofClient: 3)
        for _ in 0..<3 { _ = try pool.submit(for: .user(2), Self.limits) { _ in } }
        let own = #expect(throws: WorkPool.Refusal.self) {
            try pool.submit(for: .user(2), Self.limits) { _ in }
        }
        #expect(own?.reason == "3 bodies of this client wait to be judged, as many as may; send fewer at a time")
        for _ in 0..<2 { _ = try pool.submit(for: .user(3), Self.limits) { _ in } }
        let all = #expect(throws: WorkPool.Refusal.self) {
            try pool.submit(for: .user(4), Self.limits) { _ in }
        }
        #expect(all?.reason == "5 bodies wait to be judged, as many as may; try again later")
        gate.isOpen.change { $0 = true }
    }

    @Test func `places of jobs that were cancelled or done are free again, and refused ones had none`() async throws {
        let gate = Gatekeeper()
        let (pool, _) = try await Self.busyPool(gate, mostWaiting: 5, ofClient: 3)
        let done = Watched(0)
        /// Takes every place, and shows that no other is left, of that client and of all.
        func fill() throws -> [WorkPool.Ticket] {
            let tickets = try [UInt32(2), 2, 2, 3, 3].map { user in
                try pool.submit(for: .user(user), Self.limits) { _ in done.change { $0 += 1 } }
            }
            for user in [UInt32(2), 4] {
                #expect(throws: WorkPool.Refusal.self) { try pool.submit(for: .user(user), Self.limits) { _ in } }
            }
            #expect(pool.waiting == 5)
            return tickets
        }
        for _ in 0..<3 {
            let tickets = try fill()
            // A ticket that is cancelled twice frees only one place.
            for ticket in tickets + tickets { pool.cancel(ticket) }
            #expect(pool.waiting == 0)
        }
        let tickets = try fill()
        gate.isOpen.change { $0 = true }
        try await done.reach("the jobs") { $0 == 5 }
        #expect(pool.waiting == 0)
        // A job that is over has no place, either.
        for ticket in tickets { pool.cancel(ticket) }
        #expect(pool.waiting == 0)
        let next = Gatekeeper()
        let running = try pool.submit(for: Self.anybody, Self.limits) { next.work($0) }
        try await next.isThere.reach("the worker") { $0 }
        pool.cancel(running)
        _ = try fill()
        next.isOpen.change { $0 = true }
        try await done.reach("the other jobs") { $0 == 10 }
        #expect(pool.waiting == 0)
    }

    @Test func `jobs that were cancelled leave nothing with the threads`() async throws {
        let gate = Gatekeeper()
        let (pool, _) = try await Self.busyPool(gate)
        for _ in 0..<1000 { pool.cancel(try pool.submit(for: .user(2), Self.limits) { _ in }) }
        // The only thread is busy with the gate, so this does not change now.
        let waiting = try #require(Mirror(reflecting: pool).descendant("threads", "state", "waiting"))
        #expect(Mirror(reflecting: waiting).children.isEmpty)
        gate.isOpen.change { $0 = true }
    }

    @Test func `what was cancelled before its turn is never done, and gives its memory back at once`() async throws {
        let gate = Gatekeeper()
        let memory = MemoryBudget()
        let (pool, _) = try await Self.busyPool(gate, memory: memory)
        let done = Watched<[Int]>([])
        #expect(memory.take(5_000, limit: 10_000))
        let first = try pool.submit(for: .user(2), Self.limits) { _ in done.change { $0.append(1) } }
        _ = try pool.submit(for: .user(2), Self.limits) { _ in done.change { $0.append(2) } }
        #expect(pool.waiting == 2)
        #expect(pool.cancel(first, givingBack: 5_000))
        #expect(pool.waiting == 1)
        #expect(memory.read().held == 0)
        gate.isOpen.change { $0 = true }
        #expect(try await done.reach("the other") { !$0.isEmpty } == [2])
    }

    @Test func `LOOK-09 work under way ends when it is cancelled, and gives its memory back then`() async throws {
        let memory = MemoryBudget()
        let pool = WorkPool(memory: memory, workers: 1)
        let (isThere, seen) = (Watched(false), Watched<WorkBudget.Interruption?>(nil))
        let ticket = try pool.submit(for: Self.anybody, Self.limits) { budget in
            #expect(budget.reserve(100_000))
            isThere.change { $0 = true }
            while budget.spend(1) {}
            seen.change { $0 = budget.interruption }
        }
        try await isThere.reach("the worker") { $0 }
        #expect(memory.read().held == 100_000)
        #expect(memory.take(5_000, limit: .max))
        #expect(!pool.cancel(ticket, givingBack: 5_000))
        #expect(try await seen.reach("the end") { $0 != nil } == .cancelled)
        // The next job gets the worker only after the previous one has given all memory back.
        let held = Watched<Int?>(nil)
        _ = try pool.submit(for: Self.anybody, Self.limits) { _ in held.change { $0 = memory.read().held } }
        #expect(try await held.reach("the next job") { $0 != nil } == 0)
    }

    @Test func `LOOK-06 steps, processor time and memory of a job are limited`() async throws {
        let pool = WorkPool(memory: MemoryBudget(), workers: 2)
        let seen = Watched<[WorkBudget.Interruption]>([])
        let limits = [
            WorkPool.Limits(steps: 1_000, processorTime: .seconds(60), heldBytes: 1 << 20),
            WorkPool.Limits(steps: .max, processorTime: .milliseconds(5), heldBytes: 1 << 20),
            WorkPool.Limits(steps: .max, processorTime: .seconds(60), heldBytes: 1 << 10),
        ]
        for limit in limits {
            _ = try pool.submit(for: Self.anybody, limit) { budget in
                while budget.spend(1), limit.heldBytes > 1 << 10 || budget.reserve(100) {}
                seen.change { if let interruption = budget.interruption { $0.append(interruption) } }
            }
        }
        let all = try await seen.reach("all jobs") { $0.count == 3 }
        #expect(all.contains(.steps(1_000)) && all.contains(.time) && all.contains(.memory))
    }
}
