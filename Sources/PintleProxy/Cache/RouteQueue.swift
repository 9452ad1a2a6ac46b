// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintlePolicy

/// Has so many requests of a route under way to origins as `coalesce.max_active` says, and the others wait.
final class RouteQueue: Sendable {
    /// A place in the queue, or among those that are under way.
    struct Ticket: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var active: Set<Int> = []
        /// Those that wait, the next one last.
        var waiting: [(number: Int, start: @Sendable () -> Void)] = []
        var nextNumber = 0
    }

    private let most: Int
    private let order: CoalescingRules.Order
    private let state = NIOLockedValueBox(State())

    init(most: Int, order: CoalescingRules.Order) {
        self.most = most
        self.order = order
    }

    /// Waits for a turn.
    ///
    /// - Parameter start: called on any thread, also from within this call.
    func enter(_ start: @escaping @Sendable () -> Void) -> Ticket {
        let (ticket, startsNow) = self.state.withLockedValue { state in
            defer { state.nextNumber += 1 }
            let number = state.nextNumber
            guard state.active.count >= self.most else {
                state.active.insert(number)
                return (Ticket(number: number), true)
            }
            switch self.order {
            case .fifo: state.waiting.insert((number, start), at: 0)
            case .lifo: state.waiting.append((number, start))
            }
            return (Ticket(number: number), false)
        }
        if startsNow { start() }
        return ticket
    }

    /// Gives the place back, or the one in the queue. Nothing happens the second time.
    func leave(_ ticket: Ticket) {
        let next = self.state.withLockedValue { state -> (@Sendable () -> Void)? in
            guard state.active.remove(ticket.number) != nil else {
                state.waiting.removeAll { $0.number == ticket.number }
                return nil
            }
            guard let next = state.waiting.popLast() else { return nil }
            state.active.insert(next.number)
            return next.start
        }
        next?()
    }
}
