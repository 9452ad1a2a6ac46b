// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem

/// The open questions with the requests that wait for them, and the answers that hold for the run.
///
/// A pure state machine. There is one question for each destination, whatever the scheme: an answer is about a host with a port,
/// as a line of the configuration is.
struct QuestionBook: Sendable {
    /// Identifies a request that waits.
    typealias Waiter = UInt64

    /// The reply to a request for a destination that is asked about.
    enum Reply {
        case settled(AskOutcome)
        /// It waits until the deadline.
        case waits(until: NIODeadline, isNew: Bool)
    }

    /// A question that is closed, and the requests that go on.
    struct Closed: Sendable {
        let question: AskedQuestion
        let waiters: [Waiter]
        let outcome: AskOutcome
    }

    /// The effect that the end of a request has.
    enum Withdrawal: Sendable {
        /// The request does not wait.
        case unknown
        /// Other requests wait for the same question.
        case othersWait
        /// It was the last that waited.
        case closed(AskedQuestion)
    }

    /// The most answers that are remembered for the run: a webhook may give many.
    static let mostRemembered = 4096

    private struct Open: Sendable {
        /// Tells it from all others.
        let number: UInt64
        var question: AskedQuestion
        /// In the order in which they came.
        var waiters: WaitingLine<Void>
    }

    /// The places at which questions can be answered.
    private var places: Set<AnswerPlace> = []
    /// The open questions, the oldest first.
    private var open: [Open] = []
    /// The number of the question that each request waits for: there may be as many requests as clients have streams.
    private var awaited: [Waiter: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    /// The index in ``grants`` of a permission for the run.
    private var allowed: [Authority: Int] = [:]
    /// The reasons for denials for the run.
    private var denied: [Authority: String] = [:]
    /// The permissions so far, in their order.
    private(set) var grants: [AskGrant] = []
    /// The number of permissions that are not stored.
    private(set) var otherGrants = 0
    /// The questions that are closed.
    private var closed = QuestionCounts()

    /// The numbers of questions.
    var counts: QuestionCounts {
        var counts = self.closed
        counts.waiting = self.open.count
        return counts
    }

    var questions: [AskedQuestion] { self.open.map(\.question) }

    mutating func add(_ place: AnswerPlace) { self.places.insert(place) }
    mutating func remove(_ place: AnswerPlace) { self.places.remove(place) }

    // MARK: Requests

    /// Asks for a request.
    ///
    /// - Parameters:
    ///   - id: names the question if a new one is opened.
    ///   - bounds: those of the configuration of the request.
    mutating func ask(
        about authority: Authority, by rule: String, _ request: AskedQuestion.Request, as waiter: Waiter,
        within bounds: AskConfiguration, id: @autoclosure () -> String, at now: NIODeadline, _ time: Timestamp
    ) -> Reply {
        if let index = self.allowed[authority] {
            self.grants[index].requests += 1
            return .settled(.allowed(self.grants[index].words))
        }
        if let reason = self.denied[authority] { return .settled(.denied(reason)) }
        if let place = self.open.firstIndex(where: { $0.question.authority == authority }),
            self.open[place].question.deadline > now
        {
            self.open[place].waiters.append((), number: waiter)
            self.awaited[waiter] = self.open[place].number
            self.open[place].question.waiting += 1
            return .waits(until: self.open[place].question.deadline, isNew: false)
        }
        guard !self.places.isEmpty else {
            return .settled(
                .denied(
                    "nothing can answer; the terminal of pintle run can, the page of an admin endpoint, and ask.webhook"
                ))
        }
        guard self.open.count < bounds.waiting else {
            let count = bounds.waiting == 1 ? "1 question waits" : "\(bounds.waiting) questions wait"
            return .settled(.denied("\(count) for an answer already (ask.waiting)"))
        }
        let question = AskedQuestion(
            id: id(), authority: authority, rule: rule, request: request, openedAt: time,
            deadline: now + TimeAmount(bounds.timeout), timeout: bounds.timeout, waiting: 1)
        var waiters = WaitingLine<Void>()
        waiters.append((), number: waiter)
        self.lastNumber += 1
        self.awaited[waiter] = self.lastNumber
        self.open.append(Open(number: self.lastNumber, question: question, waiters: waiters))
        return .waits(until: question.deadline, isNew: true)
    }

    /// Forgets a request that has ended. A question for which none is left closes.
    mutating func withdraw(_ waiter: Waiter) -> Withdrawal {
        guard let number = self.awaited.removeValue(forKey: waiter),
            let place = self.open.firstIndex(where: { $0.number == number })
        else { return .unknown }
        self.open[place].waiters.remove(waiter)
        self.open[place].question.waiting -= 1
        guard self.open[place].waiters.isEmpty else { return .othersWait }
        self.closed.close(as: .withdrawn)
        return .closed(self.open.remove(at: place).question)
    }

    /// The requests that have waited for a question, in the order in which they came.
    private mutating func end(_ waiters: WaitingLine<Void>) -> [Waiter] {
        var (waiters, all) = (waiters, [Waiter]())
        while let (waiter, _) = waiters.popFirst() {
            self.awaited[waiter] = nil
            all.append(waiter)
        }
        return all
    }

    // MARK: Answers

    /// Answers a question, once.
    ///
    /// - Returns: nil if it is not open, or if the answer comes too late.
    mutating func answer(
        _ id: String, _ answer: Answer, at place: AnswerPlace, now: NIODeadline, _ time: Timestamp
    ) -> Closed? {
        guard let index = self.open.firstIndex(where: { $0.question.id == id }),
            self.open[index].question.deadline > now
        else { return nil }
        let closed = self.open.remove(at: index)
        let outcome =
            answer.allows
            ? self.allow(closed, answer.scope, at: place, time) : self.deny(closed, answer.scope, at: place)
        return Closed(question: closed.question, waiters: self.end(closed.waiters), outcome: outcome)
    }

    private mutating func allow(
        _ closed: Open, _ scope: Answer.Scope, at place: AnswerPlace, _ time: Timestamp
    ) -> AskOutcome {
        let isRemembered = self.grants.count < Self.mostRemembered
        // An answer that cannot be remembered is one for the requests that wait.
        let grant = AskGrant(
            authority: closed.question.authority, place: place, scope: isRemembered ? scope : .once, moment: time,
            requests: closed.waiters.count)
        self.closed.close(as: grant.scope == .run ? .run : .once)
        guard isRemembered else {
            self.otherGrants += 1
            return .allowed(grant.words)
        }
        if scope == .run { self.allowed[grant.authority] = self.grants.count }
        self.grants.append(grant)
        return .allowed(grant.words)
    }

    private mutating func deny(_ closed: Open, _ scope: Answer.Scope, at place: AnswerPlace) -> AskOutcome {
        self.closed.close(as: .denied)
        guard scope == .run, self.denied.count < Self.mostRemembered else { return .denied("denied \(place.words)") }
        let reason = "denied \(place.words), \(scope.words)"
        self.denied[closed.question.authority] = reason
        return .denied(reason)
    }

    /// Closes the questions whose time is over.
    mutating func expire(_ now: NIODeadline) -> [Closed] {
        let late = self.open.filter { $0.question.deadline <= now }
        self.open.removeAll { $0.question.deadline <= now }
        for _ in late { self.closed.close(as: .expired) }
        return late.map { open in
            Closed(
                question: open.question, waiters: self.end(open.waiters),
                outcome: .denied("not answered within \(open.question.timeout.spelled) (ask.timeout)"))
        }
    }
}
