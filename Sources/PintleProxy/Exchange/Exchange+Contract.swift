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

    /// Holds a request to its contract, as it would be sent.
    ///
    /// - Returns: false where it is refused.
    func keepsContract(_ head: RequestHead, _ body: TransferRequest.Body) -> Bool {
        guard let operation, operation.checksRequests else { return true }
        let bytes: [UInt8]?
        let hasBody: Bool
        switch body {
        case .none: (bytes, hasBody) = (nil, false)
        case .bytes(let buffer): (bytes, hasBody) = (Array(buffer.readableBytesView), buffer.readableBytes > 0)
        case .stream: (bytes, hasBody) = (nil, true)
        }
        let violations = operation.violations(
            of: head, body: bytes, hasBody: hasBody, rules: self.decision?.route?.configuration.request)
        return violations.isEmpty || self.passes(breaking: violations)
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
