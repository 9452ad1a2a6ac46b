// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// The questions of one proxy, shared by its event loops and by the places at which they are answered. It survives a change of the
/// configuration.
package final class AskBoard: Sendable {
    private struct State: Sendable {
        var book = QuestionBook()
        /// Called with the outcome, each once.
        var waiters: [QuestionBook.Waiter: @Sendable (AskOutcome) -> Void] = [:]
        var lastWaiter: QuestionBook.Waiter = 0
        var observers: [@Sendable () -> Void] = []
        /// Counts the changes of the open questions.
        var version = 0
    }

    /// A place in the queue for an answer.
    struct Ticket: Sendable {
        fileprivate let waiter: QuestionBook.Waiter
        let deadline: NIODeadline
    }

    enum Reply: Sendable {
        case settled(AskOutcome)
        case waits(Ticket)
    }

    private let state = Locked(State())
    /// Written inside the lock only, so that the numbers never go back.
    private let counters: QuestionCounters
    private let logger: Logger

    init(_ counters: QuestionCounters, logger: Logger) { (self.counters, self.logger) = (counters, logger) }

    // MARK: Places

    /// Notes that questions can be answered at this place from now on.
    package func add(_ place: AnswerPlace) { self.state.withLock { $0.book.add(place) } }

    /// Notes that questions cannot be answered at this place any more.
    package func remove(_ place: AnswerPlace) { self.state.withLock { $0.book.remove(place) } }

    /// - Parameter observer: called on any thread after each change of the open questions; it must not wait.
    package func observe(_ observer: @escaping @Sendable () -> Void) {
        self.state.withLock { $0.observers.append(observer) }
    }

    /// The open questions, the oldest first.
    package var questions: [AskedQuestion] { self.state.withLock { $0.book.questions } }

    /// Changes with the open questions.
    package var version: Int { self.state.withLock { $0.version } }

    /// The permissions so far, and the number of those that are not stored.
    package var grants: (stored: [AskGrant], others: Int) {
        self.state.withLock { ($0.book.grants, $0.book.otherGrants) }
    }

    /// Answers a question.
    ///
    /// - Returns: false if it is not open, or not open any more.
    package func answer(_ id: String, _ answer: Answer, at place: AnswerPlace) -> Bool {
        self.close { book in book.answer(id, answer, at: place, now: .now(), .now()).map { [$0] } ?? [] }
    }

    // MARK: Requests

    /// Asks for a request.
    ///
    /// - Parameter answered: called on any thread with the outcome, at most once, unless the reply has it.
    func ask(
        about decision: Decision, _ request: AskedQuestion.Request, within bounds: AskConfiguration,
        then answered: @escaping @Sendable (AskOutcome) -> Void
    ) -> Reply {
        guard let rule = decision.question else { preconditionFailure("BUG: no rule asks about a destination") }
        let (reply, isNew, observers) = self.state.withLock { state -> (Reply, Bool, [@Sendable () -> Void]) in
            state.lastWaiter += 1
            let waiter = state.lastWaiter
            switch state.book.ask(
                about: decision.authority, by: rule.description, request, as: waiter, within: bounds,
                id: Self.newName(), at: .now(), .now())
            {
            case .settled(let outcome): return (.settled(outcome), false, [])
            case .waits(let deadline, let isNew):
                state.waiters[waiter] = answered
                state.version += 1
                self.counters.set(state.book.counts)
                return (.waits(Ticket(waiter: waiter, deadline: deadline)), isNew, state.observers)
            }
        }
        if isNew {
            self.logger.log(
                .info,
                .questionOpened(
                    authority: "\(decision.authority)", rule: "\(rule)", atMost: bounds.timeout.spelled))
        }
        for observer in observers { observer() }
        return reply
    }

    /// Withdraws a request that has ended; does nothing if it has its outcome.
    func withdraw(_ ticket: Ticket) {
        let (closed, observers) = self.state.withLock { state -> (AskedQuestion?, [@Sendable () -> Void]) in
            state.waiters[ticket.waiter] = nil
            switch state.book.withdraw(ticket.waiter) {
            case .unknown: return (nil, [])
            case .othersWait:
                state.version += 1
                return (nil, state.observers)
            case .closed(let question):
                state.version += 1
                self.counters.set(state.book.counts)
                return (question, state.observers)
            }
        }
        if let closed { self.log(closed, "withdrawn: the last client that waited has left") }
        for observer in observers { observer() }
    }

    /// Refuses the requests whose time is over.
    func expire() { _ = self.close { $0.expire(.now()) } }

    /// - Returns: true if questions were closed.
    private func close(_ change: (inout QuestionBook) -> [QuestionBook.Closed]) -> Bool {
        let (closed, calls, observers) = self.state.withLock { state in
            let closed = change(&state.book)
            let calls = closed.map { closed in
                (closed, closed.waiters.compactMap { state.waiters.removeValue(forKey: $0) })
            }
            if !closed.isEmpty {
                state.version += 1
                self.counters.set(state.book.counts)
            }
            return (closed, calls, closed.isEmpty ? [] : state.observers)
        }
        for (closed, waiters) in calls {
            self.log(closed.question, closed.outcome.reason)
            for waiter in waiters { waiter(closed.outcome) }
        }
        for observer in observers { observer() }
        return !closed.isEmpty
    }

    private func log(_ closed: AskedQuestion, _ reason: String) {
        self.logger.log(
            .notice, .questionClosed(authority: "\(closed.authority)", rule: closed.rule, reason: reason))
    }

    /// 132 random bits.
    private static func newName() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var generator = SystemRandomNumberGenerator()
        return String((0..<22).map { _ in letters[Int(generator.next() & 63)] })
    }
}
