// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

// What API contracts say about requests, and who judges the responses.
extension Exchange {
    /// Finds what the contract says of the request, where one is about it.
    ///
    /// - Returns: false where the request is refused because it is none of the contract's.
    func findOperation(_ decision: Decision) -> Bool {
        guard let contract = self.gate.policy.apiContract(for: decision) else { return true }
        do throws(Malformed) {
            self.operation = try contract.operation(method: self.head.method, path: decision.path)
            return true
        } catch {
            return !contract.checksRequests || self.passes(breaking: [error.reason])
        }
    }

    /// Holds a request to its contract, as it would be sent, and sends it where that has nothing against it.
    ///
    /// Most are judged at once. What takes longer, a body or the parameters, is judged on another thread; what comes of the
    /// body meanwhile is not taken.
    func judgeRequest(_ head: RequestHead, _ body: TransferRequest.Body) {
        guard let operation, operation.checksRequests else { return self.sendJudged(head, body) }
        let rules = self.decision?.route?.configuration.request
        let judge: @Sendable (WorkBudget) -> [String] = { budget in
            guard case .bytes(let buffer) = body else {
                return operation.violations(
                    of: head, body: nil, hasBody: body.isStreamed, rules: rules, within: budget)
            }
            guard budget.reserve(buffer.readableBytes) else { return [] }
            return operation.violations(
                of: head, body: Array(buffer.readableBytesView), hasBody: buffer.readableBytes > 0, rules: rules,
                within: budget)
        }
        if Self.isPrompt(body, head) {
            let budget = WorkBudget(steps: Self.promptSteps)
            let violations = judge(budget)
            if budget.interruption == nil { return self.send(head, body, breaking: violations) }
        }
        do throws(WorkPool.Refusal) {
            try self.leaveLoop(within: .request(self.gate.limits), judge) { exchange, violations, interruption in
                switch interruption {
                case nil: exchange.send(head, body, breaking: violations)
                case .memory, .cancelled: exchange.send(head, body, unjudged: exchange.memoryShortage)
                case .steps, .time:
                    exchange.send(
                        head, body, breaking: ["to be judged \(interruption?.reason ?? ""); send less at a time"])
                }
            }
        } catch {
            self.send(head, body, unjudged: error.reason)
        }
    }

    private static func isPrompt(_ body: TransferRequest.Body, _ head: RequestHead) -> Bool {
        guard case .bytes(let buffer) = body else { return true }
        return buffer.readableBytes <= Self.promptBytes && !head.fields.contains(.contentEncoding)
    }

    private func send(_ head: RequestHead, _ body: TransferRequest.Body, breaking violations: [String]) {
        if violations.isEmpty || self.passes(breaking: violations) { self.sendJudged(head, body) }
    }

    private func send(_ head: RequestHead, _ body: TransferRequest.Body, unjudged reason: String) {
        let problem = Problem(.overloaded, reason)
        if self.passesUnjudged(problem) { self.sendJudged(head, body) } else { self.refuse(problem) }
    }

    /// What judges the response; nil where it may be anything.
    func makeJudge(method: String) -> ResponseJudge? {
        if let rules = self.rules { return rules.judge(method: method, operation: self.operation) }
        guard let operation else { return nil }
        return ResponseJudge(nil, operation, method: method, onViolation: self.onViolation, maxBody: nil)
    }

    /// What becomes of violations.
    var onViolation: ResponseRules.OnViolation {
        self.rules?.onViolation ?? self.gate.policy.onViolation(on: nil)
    }

    /// - Returns: whether a request that breaks its contract is sent all the same.
    private func passes(breaking violations: [String]) -> Bool {
        self.report.violated(.unserializableRequest)
        guard self.onViolation != .report else {
            self.report.error = violations[0]
            self.report.requestViolation = .unserializableRequest
            return true
        }
        var problem = Problem(.unserializableRequest, "the request breaks its contract: \(violations[0])")
        problem.causes = Array(violations.dropFirst())
        self.refuse(problem)
        return false
    }
}
