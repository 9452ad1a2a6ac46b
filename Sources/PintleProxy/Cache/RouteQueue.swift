// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSession
internal import PintleSystem

/// Limits the requests of a route under way to origins to `coalesce.max_active`; the others wait.
final class RouteQueue: Sendable {
    /// A place in the queue, or among the active requests.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
    }

    private struct Waiting: Sendable {
        let client: TransferClient?
        let start: @Sendable () -> Void
    }

    private struct State {
        var active: Set<UInt64> = []
        var waiting = WaitingLine<Waiting>()
        /// The number of waiting requests of each client that has any.
        var shares: [TransferClient?: Int] = [:]
        var lastNumber: UInt64 = 0

        mutating func giveShareBack(of client: TransferClient?) {
            guard let share = self.shares[client] else { preconditionFailure("BUG: a client without a share waits") }
            self.shares[client] = share == 1 ? nil : share - 1
        }
    }

    private let most: Int
    private let order: CoalescingRules.Order
    private let mostWaiting: Int
    private let mostOfClient: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - mostWaiting: the most waiting requests of all clients together.
    ///   - mostOfClient: the most waiting requests of one client.
    init(most: Int, order: CoalescingRules.Order, mostWaiting: Int = 8192, mostOfClient: Int = 1024) {
        self.most = most
        self.order = order
        self.mostWaiting = mostWaiting
        self.mostOfClient = mostOfClient
    }

    /// Waits for a place.
    ///
    /// - Parameters:
    ///   - client: nil stands for all clients that the system cannot distinguish, and for Pintle's own requests.
    ///   - start: called on any thread when the request has its place; possibly within this call.
    /// - Throws: `overloaded` if the queue is full.
    func enter(
        of client: TransferClient? = nil, _ start: @escaping @Sendable () -> Void
    ) throws(SessionError) -> Ticket {
        let (ticket, startsNow) = try self.state.withLock { state in
            Result { () throws(SessionError) in try self.enter(&state, of: client, start) }
        }.get()
        if startsNow { start() }
        return ticket
    }

    private func enter(
        _ state: inout State, of client: TransferClient?, _ start: @escaping @Sendable () -> Void
    ) throws(SessionError) -> (Ticket, startsNow: Bool) {
        let isFull = state.active.count >= self.most
        let share = state.shares[client] ?? 0
        if isFull {
            try self.check(share, of: self.mostOfClient, whose: "of this client ")
            try self.check(state.waiting.count, of: self.mostWaiting, whose: "")
        }
        state.lastNumber += 1
        if isFull {
            state.waiting.append(Waiting(client: client, start: start), number: state.lastNumber)
            state.shares[client] = share + 1
        } else {
            state.active.insert(state.lastNumber)
        }
        return (Ticket(number: state.lastNumber), !isFull)
    }

    private func check(_ count: Int, of most: Int, whose: String) throws(SessionError) {
        if count < most { return }
        throw SessionError(
            .overloaded,
            "\(count) requests \(whose)wait for one of the route's places (routes[].coalesce.max_active: \(self.most)), as many "
                + "as may; send fewer at a time, or try again later")
    }

    /// The error of a request that has waited for too long.
    func lateness(after limit: String) -> SessionError {
        SessionError(
            .overloaded,
            "none of the route's places (routes[].coalesce.max_active: \(self.most)) became free within \(limit); send fewer "
                + "requests at a time, or try again later")
    }

    /// Releases the place, or the one in the queue. Idempotent.
    func leave(_ ticket: Ticket) {
        let next = self.state.withLock { state -> (@Sendable () -> Void)? in
            guard state.active.remove(ticket.number) != nil else {
                if let waiting = state.waiting.remove(ticket.number) { state.giveShareBack(of: waiting.client) }
                return nil
            }
            guard let (number, next) = self.order == .fifo ? state.waiting.popFirst() : state.waiting.popLast() else {
                return nil
            }
            state.active.insert(number)
            state.giveShareBack(of: next.client)
            return next.start
        }
        next?()
    }
}
