// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession
internal import PintleTrust

/// The simulation of one request, with the facts about it that make an answer.
struct PlannedSimulation {
    let plan: SimulationPlan
    /// The operation of the contract that the request belongs to; nil without any.
    let operation: ContractedOperation?
    /// The number of the exchange.
    let sequence: UInt64
    let client: Client?
    /// The recordings of the route; nil if it has none.
    let tape: RouteTape?
    /// The rules for the response; nil if there are none.
    var judge: ResponseValidator?
}

/// An answer that the contract of a route has made.
struct MadeAnswer: Sendable {
    let attempt: SimulationPlan.Attempt
    let answer: GeneratedAnswer
}

extension Worker {
    /// Opens the stream of a request that is answered, or changed, by a simulation.
    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate,
        by simulation: PlannedSimulation
    ) -> any OriginStream {
        let request = consume request
        let (loop, plan) = (self.loop, simulation.plan)
        // A recording alone.
        if plan.isEmpty { return self.open(request, in: session, for: delegate, simulation) }
        let origin = SimulatedOrigin(plan, for: delegate, on: loop) { delegate, made in
            if let made {
                return LocalAnswer(
                    made.answer, as: made.attempt.kind.simulation, to: request, for: delegate, on: loop)
            }
            switch plan.answer {
            case .mock(let answer): return LocalAnswer(answer, as: .mock, to: request, for: delegate, on: loop)
            case .fault(let answer): return LocalAnswer(answer, as: .fault, to: request, for: delegate, on: loop)
            case .reset, nil: return self.open(request, in: session, for: delegate, simulation)
            }
        }
        if !plan.attempts.isEmpty, let operation = simulation.operation {
            let (accept, prefer) = (request.fields["Accept"], request.fields["Prefer"])
            origin.await { done in
                self.work(for: simulation) { budget in
                    for attempt in plan.attempts {
                        let answer = operation.answer(
                            attempt.kind, accept: accept, prefer: prefer, seed: attempt.seed, within: budget)
                        if let answer { return MadeAnswer(attempt: attempt, answer: answer) }
                    }
                    return nil
                } then: {
                    done($0)
                }
            }
        }
        return origin
    }

    /// Makes an answer on another thread.
    ///
    /// - Returns: a function that gives it up.
    private func work(
        for simulation: PlannedSimulation, _ make: @escaping @Sendable (WorkBudget) -> MadeAnswer?,
        then proceed: @escaping (MadeAnswer?) -> Void
    ) -> () -> Void {
        let sequence = simulation.sequence
        do throws(WorkPool.Refusal) {
            let ticket = try self.work(
                as: sequence, of: simulation.client, within: .request(self.active.limits), make
            ) { answer, _ in proceed(answer) }
            return {
                self.stopWaiting(as: sequence)
                self.pool.cancel(ticket)
            }
        } catch {
            // As many jobs wait as may: the origin is asked, in a later turn.
            LoopBound(proceed, loop: self.loop).run { $0(nil) }
            return {}
        }
    }
}

extension LocalAnswer {
    /// Answers a request in the place of its origin, once it has arrived whole.
    fileprivate convenience init(
        _ answer: FixedAnswer, as simulation: Simulation, to request: TransferRequest,
        for delegate: any TransferDelegate, on loop: Loop
    ) {
        self.init(
            answer.status, answer.responseFields, answer.body, as: simulation, to: request, for: delegate, on: loop)
    }

    fileprivate convenience init(
        _ answer: GeneratedAnswer, as simulation: Simulation, to request: TransferRequest,
        for delegate: any TransferDelegate, on loop: Loop
    ) {
        self.init(answer.status, answer.fields, answer.body, as: simulation, to: request, for: delegate, on: loop)
    }

    private convenience init(
        _ status: UInt16, _ fields: Fields, _ body: [UInt8], as simulation: Simulation, to request: TransferRequest,
        for delegate: any TransferDelegate, on loop: Loop
    ) {
        var head = ResponseHead(status: status, reason: "")
        head.fields.append("Date", HTTPDate.text(UnixTime.now.seconds))
        for (name, value) in fields.pairs { head.fields.append(name, value) }
        self.init(as: simulation, to: request, for: delegate, on: loop) { $0.send(head, body) }
    }
}
