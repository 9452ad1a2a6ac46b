// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import PintleCache
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import PintleProxy
@testable import PintleSession

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
        // If that one has left, no reader is left.
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
    func `a queue lets in as many as may, in its order, and forgets who leaves`(order: CoalescingRules.Order) throws {
        let queue = RouteQueue(most: 2, order: order)
        let started = NIOLockedValueBox<[Int]>([])
        let tickets = try (0..<6).map { number in try queue.enter { started.withLockedValue { $0.append(number) } } }
        #expect(started.withLockedValue { $0 } == [0, 1])
        queue.leave(tickets[3])
        queue.leave(tickets[0])
        queue.leave(tickets[0])
        queue.leave(tickets[1])
        #expect(started.withLockedValue { $0 } == (order == .fifo ? [0, 1, 2, 4] : [0, 1, 5, 4]))
    }

    @Test(arguments: [CoalescingRules.Order.fifo, .lifo])
    func `LOOK-93 a hundred thousand requests that leave a queue are no work that grows with their number`(
        order: CoalescingRules.Order
    ) throws {
        let count = 100_000
        let queue = RouteQueue(most: 1, order: order, mostWaiting: count, mostOfClient: count)
        let started = NIOLockedValueBox(0)
        let tickets = try (0...count).map { _ in try queue.enter { started.withLockedValue { $0 += 1 } } }
        for step in 0..<count { queue.leave(tickets[1 + (count / 2 + step) % count]) }
        #expect(started.withLockedValue { $0 } == 1)
        for _ in 0..<count { _ = try queue.enter { started.withLockedValue { $0 += 1 } } }
        queue.leave(tickets[0])
        #expect(started.withLockedValue { $0 } == 2)
    }

    @Test func `LOOK-93 a hundred thousand flights of one key that end are no work that grows with their number`() {
        var underWay = AnswersUnderWay()
        let flights = (0..<100_000).map { _ in underWay.flight(for: Self.key, joining: false).flight }
        let watches = flights.map { underWay.watch($0.key) }
        for flight in flights { underWay.end(flight) }
        for watch in watches { underWay.end(watch) }
        #expect(underWay.allFlights.isEmpty && underWay.allWatches.isEmpty)
    }

    @Test func `LOOK-77 no client has more than its share of a queue, which has a bound`() throws {
        let queue = RouteQueue(most: 1, order: .fifo, mostWaiting: 3, mostOfClient: 2)
        let started = NIOLockedValueBox<[Int]>([])
        func enter(_ number: Int, of client: UInt64) throws(SessionError) -> RouteQueue.Ticket {
            try queue.enter(of: TransferClient(0, client)) { started.withLockedValue { $0.append(number) } }
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
        #expect(started.withLockedValue { $0 } == [0, 2])
        for number in 6...7 { _ = try enter(number, of: 1) }
        #expect(throws: SessionError.self) { try enter(8, of: 1) }
    }

    /// Another loop tells the request's loop that it is its turn: the request may have given up meanwhile.
    @Test func `LOOK-77 a request that gives up in the moment of its turn does not reach the origin`() async throws {
        let engine = try Engine(threads: 1)
        let loop = engine.loops[0]
        let (queue, asked, isOver) = (RouteQueue(most: 1, order: .fifo), Watched(0), Watched(false))
        let request = TransferRequest(
            method: "GET", scheme: .http, authority: Authority(host: "a.test", port: 80), path: "/")
        let flight = Flight(Self.key)
        let first = try queue.enter {}
        let place = try #require(self.board(flight, Told([]), as: 0))
        try await loop.submit {
            let errand = OriginFetch.Errand(
                request: RequestHead(method: "GET", target: .asterisk), mode: .protocol, keeps: false)
            OriginFetch(
                request, errand, in: flight, store: AnswerStore(CacheConfiguration()), queue: queue, loop: loop
            ) { request, _ in
                asked.change { $0 += 1 }
                return RecordingOrigin(request, Transcript())
            }.start()
        }.get()
        // Both happen within one turn.
        loop.execute {
            queue.leave(first)
            flight.leave(place)
            loop.execute { loop.execute { isOver.change { $0 = true } } }
        }
        try await isOver.reach("the turns after that") { $0 }
        #expect(asked.current == 0)
        await engine.stopped()
    }
}
