// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import PintleCache
import PintleMessage
import PintlePolicy
import PintleSession
import Testing

@testable import PintleProxy

/// Requests that wait for one answer, and for their turn.
struct FlightTests {
    private static let key = CacheKey(partition: "p", url: "http://a.test/")

    private static func answer(shared: Bool) -> Flight.Answer {
        let head = ResponseHead(status: 200)
        let time = CacheTime(seconds: 0)
        return Flight.Answer(
            head: head, length: 1,
            stored: shared ? StoredResponse(head: head, requestTime: time, responseTime: time, length: 1) : nil,
            body: SharedBody(limit: 1), upstreamStatus: 200, source: .origin, isKept: shared, reason: nil,
            request: RequestHead(method: "GET", target: .asterisk))
    }

    private typealias Told = NIOLockedValueBox<[(number: Int, reads: Bool)]>

    private func board(_ flight: Flight, _ told: Told, as number: Int) -> Int? {
        let boarding = flight.board(isOwner: number == 0) { _, reader in
            told.withLockedValue { $0.append((number, reader != nil)) }
        }
        if case .waiting(let place) = boarding { return place }
        return nil
    }

    @Test func `all who wait are told in their order, and read`() {
        let (flight, told) = (Flight(Self.key), Told([]))
        for number in 0..<3 { #expect(self.board(flight, told, as: number) == number) }
        flight.leave(1)
        #expect(flight.land(.success(Self.answer(shared: true))))
        #expect(told.withLockedValue { $0.map(\.number) } == [0, 2] && told.withLockedValue { $0.allSatisfy(\.reads) })
        guard case .late = flight.board({ _, _ in }) else { return #expect(Bool(false), "it can be boarded late") }
        flight.revoke()
        guard case .gone = flight.board({ _, _ in }) else { return #expect(Bool(false), "it is out of date") }
    }

    @Test func `an answer for one alone is read by the one that has caused it`() {
        let (flight, told) = (Flight(Self.key), Told([]))
        for number in 0..<3 { _ = self.board(flight, told, as: number) }
        #expect(flight.land(.success(Self.answer(shared: false))))
        #expect(told.withLockedValue { $0.map(\.reads) } == [true, false, false])
        // Where that one has left nobody reads it.
        let other = Flight(Self.key)
        for number in 0..<2 { _ = self.board(other, told, as: number) }
        other.leave(0)
        #expect(!other.land(.success(Self.answer(shared: false))))
    }

    @Test func `who boards before the owner, or a flight without one, gets nothing that is not to be shared`() {
        let (flight, told) = (Flight(Self.key), Told([]))
        for number in [1, 0] { _ = self.board(flight, told, as: number) }
        #expect(flight.land(.success(Self.answer(shared: false))))
        #expect(told.withLockedValue { $0.map(\.number) } == [0, 1])
        #expect(told.withLockedValue { $0.map(\.reads) } == [true, false])
        let (renewal, others) = (Flight(Self.key), Told([]))
        _ = self.board(renewal, others, as: 1)
        #expect(!renewal.land(.success(Self.answer(shared: false))))
        #expect(others.withLockedValue { $0.map(\.reads) } == [false])
    }

    @Test func `it is unwanted when the last one leaves`() {
        let (flight, told) = (Flight(Self.key), Told([]))
        let unwanted = NIOLockedValueBox(0)
        flight.watch { unwanted.withLockedValue { $0 += 1 } }
        for number in 0..<2 { _ = self.board(flight, told, as: number) }
        flight.leave(0)
        #expect(unwanted.withLockedValue { $0 } == 0)
        flight.leave(1)
        #expect(unwanted.withLockedValue { $0 } == 1 && flight.isUnwanted)
    }

    @Test(arguments: [CoalescingRules.Order.fifo, .lifo])
    func `a queue lets in as many as may, in its order, and forgets who leaves`(order: CoalescingRules.Order) {
        let queue = RouteQueue(most: 2, order: order)
        let started = NIOLockedValueBox<[Int]>([])
        let tickets = (0..<6).map { number in queue.enter { started.withLockedValue { $0.append(number) } } }
        #expect(started.withLockedValue { $0 } == [0, 1])
        queue.leave(tickets[3])
        queue.leave(tickets[0])
        queue.leave(tickets[0])
        queue.leave(tickets[1])
        #expect(started.withLockedValue { $0 } == (order == .fifo ? [0, 1, 2, 4] : [0, 1, 5, 4]))
    }
}
