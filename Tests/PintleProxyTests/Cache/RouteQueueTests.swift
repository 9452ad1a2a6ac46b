// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleSystem
import PintleTesting
import Testing

@testable import PintleProxy
@testable import PintleSession

/// Requests that wait for their turn at an origin.
struct RouteQueueTests {
    @Test(arguments: [CoalescingRules.Order.fifo, .lifo])
    func `a queue lets in as many as may, in its order, and forgets who leaves`(order: CoalescingRules.Order) throws {
        let queue = RouteQueue(most: 2, order: order)
        let started = Locked<[Int]>([])
        let tickets = try (0..<6).map { number in try queue.enter { started.withLock { $0.append(number) } } }
        #expect(started.withLock { $0 } == [0, 1])
        queue.leave(tickets[3])
        queue.leave(tickets[0])
        queue.leave(tickets[0])
        queue.leave(tickets[1])
        #expect(started.withLock { $0 } == (order == .fifo ? [0, 1, 2, 4] : [0, 1, 5, 4]))
    }

    @Test(arguments: [CoalescingRules.Order.fifo, .lifo])
    func `LOOK-93 a hundred thousand requests that leave a queue are no work that grows with their number`(
        order: CoalescingRules.Order
    ) throws {
        let count = 100_000
        let queue = RouteQueue(most: 1, order: order, mostWaiting: count, mostOfClient: count)
        let started = Locked(0)
        let tickets = try (0...count).map { _ in try queue.enter { started.withLock { $0 += 1 } } }
        for step in 0..<count { queue.leave(tickets[1 + (count / 2 + step) % count]) }
        #expect(started.withLock { $0 } == 1)
        for _ in 0..<count { _ = try queue.enter { started.withLock { $0 += 1 } } }
        queue.leave(tickets[0])
        #expect(started.withLock { $0 } == 2)
    }

    @Test func `LOOK-77 no client has more than its share of a queue, which has a bound`() throws {
        let queue = RouteQueue(most: 1, order: .fifo, mostWaiting: 3, mostOfClient: 2)
        let started = Locked<[Int]>([])
        func enter(_ number: Int, of client: UInt64) throws(SessionError) -> RouteQueue.Ticket {
            try queue.enter(of: TransferClient(0, client)) { started.withLock { $0.append(number) } }
        }
        let tickets = try (0..<3).map { try enter($0, of: 1) }
        #expect { try enter(3, of: 1) } throws: { error in
            (error as? SessionError)?.code == .overloaded && "\(error)".contains("2 requests of this client")
        }
        _ = try enter(4, of: 2)
        #expect { try enter(5, of: 3) } throws: { error in
            (error as? SessionError)?.code == .overloaded && "\(error)".contains("3 requests wait")
        }
        // One that leaves, and one that has its turn, give their shares back.
        queue.leave(tickets[1])
        queue.leave(tickets[1])
        queue.leave(tickets[0])
        #expect(started.withLock { $0 } == [0, 2])
        for number in 6...7 { _ = try enter(number, of: 1) }
        #expect(throws: SessionError.self) { try enter(8, of: 1) }
    }

    /// Another loop announces the request's turn: its client may have left in the meantime.
    @Test func `LOOK-77 a request that gives up in the moment of its turn does not reach the origin`() async throws {
        let engine = try Engine(threads: 1)
        let loop = engine.loops[0]
        let (queue, asked, isOver) = (RouteQueue(most: 1, order: .fifo), Watched(0), Watched(false))
        let first = try queue.enter {}
        let cache = SharedCache(CacheConfiguration())
        // Both happen within one turn.
        loop.execute {
            let transfer = TransferRequest(
                method: "GET", scheme: .http, authority: Authority(host: "a.test", port: 80), path: "/")
            let use = CacheUse(cache, nil, joins: true, queue, partition: "p", name: CacheStatus.Name("p"))
            let delegate = SilentDelegate()
            let origin = CachedOrigin(
                transfer, CacheLookup(transfer, use), ReaderTurns(loop: loop), loop: loop, for: delegate
            ) { request, _ in
                asked.change { $0 += 1 }
                return RecordingOrigin(request, Transcript())
            }
            queue.leave(first)
            origin.cancel()
            loop.execute { loop.execute { isOver.change { $0 = true } } }
        }
        try await isOver.reach("the turns after that") { $0 }
        #expect(asked.current == 0)
        await engine.stopped()
    }
}

/// Hears of nothing.
private final class SilentDelegate: TransferDelegate {
    func originSent(interim head: ResponseHead) {}
    func originAnswered(_ head: ResponseHead, length: UInt64?) {}
    func originSent(_ bytes: UnsafeRawBufferPointer) {}
    func originSent(trailers fields: Fields) {}
    func originTookBody(_ count: Int) {}
    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {}
    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {}
}
