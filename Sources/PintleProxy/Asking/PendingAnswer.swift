// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy

/// A destination that was allowed by an answer, for as long as an exchange or a tunnel lasts.
struct AllowedDestination: Sendable {
    let authority: Authority
    /// Stands for the rule that asked.
    let rule: DecidingRule
}

/// The wait of one request for an answer. Used on its event loop's thread only; the wait ends with this object.
final class PendingAnswer {
    private let board: AskBoard
    private let ticket: AskBoard.Ticket
    private let worker: Worker
    /// The number under which the worker keeps the continuation.
    private let sequence: UInt64
    private let timer: LoopTimer

    fileprivate init(_ ticket: AskBoard.Ticket, on board: AskBoard, as sequence: UInt64, _ worker: Worker) {
        (self.board, self.ticket, self.sequence, self.worker) = (board, ticket, sequence, worker)
        self.timer = LoopTimer { board.expire() }
        worker.loop.arm(self.timer, at: ticket.deadline)
    }

    deinit {
        self.worker.loop.disarm(self.timer)
        self.board.withdraw(self.ticket)
        self.worker.stopWaiting(as: self.sequence)
    }
}

extension Worker {
    /// Asks if the destination of a request is allowed.
    ///
    /// - Parameters:
    ///   - sequence: a number that no other wait of this worker has.
    ///   - known: a destination that was allowed before.
    ///   - proceed: called with the destination, or with the problem for the client: now, or in a later turn.
    /// - Returns: the wait, which lasts as long as the object does; nil if the answer is known.
    func ask(
        about plan: RequestPlan, for head: RequestHead, of process: ClientProcess?, as sequence: UInt64,
        _ known: AllowedDestination?, then proceed: @escaping (Result<AllowedDestination, Problem>) -> Void
    ) -> PendingAnswer? {
        guard let decision = plan.decision else { preconditionFailure("BUG: a question is about no destination") }
        if let known, known.authority == decision.authority {
            proceed(.success(known))
            return nil
        }
        // The program is shown beside the question.
        process?.seek(by: self.processes)
        let answered: @Sendable (AskOutcome) -> Void = self.wait(as: sequence) { outcome in
            proceed(Self.result(of: outcome, decision))
        }
        let board = self.active.questions
        switch board.ask(
            about: decision, AskedQuestion.Request(head, of: process), within: self.active.policy.configuration.ask,
            then: answered)
        {
        case .settled(let outcome):
            self.stopWaiting(as: sequence)
            proceed(Self.result(of: outcome, decision))
            return nil
        case .waits(let ticket): return PendingAnswer(ticket, on: board, as: sequence, self)
        }
    }

    private static func result(of outcome: AskOutcome, _ decision: Decision) -> Result<AllowedDestination, Problem> {
        switch outcome {
        case .denied(let reason): return .failure(Problem(decision, notAllowed: reason))
        case .allowed(let words):
            guard let rule = decision.question else { preconditionFailure("BUG: an answer comes to no question") }
            return .success(AllowedDestination(authority: decision.authority, rule: rule.granted(words)))
        }
    }
}
