// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

/// The verdict of a configuration on a response that came under another one.
package struct ResponseVerdict: Sendable, Equatable {
    /// The consequence for the client.
    package enum Outcome: String, Sendable {
        /// It gets the response.
        case passes
        /// It gets the response with a mark.
        case reported
        /// It gets something else instead.
        case rejected
        case unknown
    }

    package let outcome: Outcome
    /// The violations in words, each with the name of its kind before it.
    package private(set) var violations: [String] = []
    /// The reason why nothing can be told, in words that follow "cannot be told:".
    package private(set) var reason: String?

    private init(_ outcome: Outcome) { self.outcome = outcome }

    static func unknown(_ reason: String) -> ResponseVerdict {
        var verdict = ResponseVerdict(.unknown)
        verdict.reason = reason
        return verdict
    }

    private init(_ violation: ValidationError?, by judge: ResponseValidator) {
        self.outcome = violation == nil ? .passes : judge.onViolation == .report ? .reported : .rejected
        self.violations = violation?.chain.map { "\($0.kind.rawValue): \($0.message)" } ?? []
    }

    /// Judges a response as it is judged on its way to a client, if enough of it is known.
    ///
    /// - Parameters:
    ///   - request: the request of the client.
    ///   - judge: the rules; nil if the response may be anything.
    ///   - bodyBuffer: the longest body in bytes that is held to be judged.
    init(
        _ response: RecordedResponse, to request: RequestHead, by judge: ResponseValidator?, bodyBuffer: Int
    ) {
        guard let judge else {
            self.init(.passes)
            return
        }
        switch response {
        case .unknown(let reason): self = .unknown(reason)
        case .received(let head, let length, let body, _):
            self = Self.verdict(on: head, length, body, to: request, by: judge, bodyBuffer)
        }
    }

    private static func verdict(
        on head: ResponseHead, _ length: Int, _ body: RecordedResponse.Body, to request: RequestHead,
        by judge: ResponseValidator, _ bodyBuffer: Int
    ) -> ResponseVerdict {
        if judge.asksForWhole, request.fields.contains("Range"), [206, 416].contains(head.status) {
            return .unknown("the client asked for a part, and these rules ask for the whole")
        }
        var headJudge = judge
        let (violation, need) = headJudge.judgeHead(head, length: UInt64(length))
        switch body {
        case _ where need == .nothing || head.status == 101: return ResponseVerdict(violation, by: judge)
        case .whole(let bytes):
            return ResponseVerdict(judge.verdict(on: head, body: bytes, bodyBuffer: bodyBuffer), by: judge)
        // The body could only add to the violations.
        case .unknown where violation != nil: return ResponseVerdict(violation, by: judge)
        case .unknown(let reason): return .unknown(reason)
        }
    }

    /// The difference between two verdicts; nil if there is none.
    static func kind(of before: ResponseVerdict?, _ after: ResponseVerdict?) -> PlanComparison.Kind? {
        guard let before, let after else { return nil }
        let (left, right) = (before.outcome, after.outcome)
        if left == .unknown || right == .unknown { return .unknown }
        if left == right { return nil }
        return right == .rejected || left == .passes ? .rejected : .accepted
    }
}

extension PlannedSide {
    /// True if the same responses break the rules of both sides, with the same consequences. So it is for tunnels, and for requests
    /// that one side refuses, since there is nothing to be judged.
    func judgesAlike(_ other: PlannedSide) -> Bool {
        guard !self.plan.isTunnel, self.side.decision != "deny", other.side.decision != "deny",
            let left = self.plan.decision, let right = other.plan.decision
        else { return true }
        return self.meaning.route(left.route).response.judgesAlike(other.meaning.route(right.route).response)
            && self.contract == other.contract && self.side.contract == other.side.contract
            && self.plan.onViolation == other.plan.onViolation && self.bodyBuffer == other.bodyBuffer
    }

    /// The reason why the response would not have come under one of the sides, in words that follow "cannot be told:"; nil if nothing
    /// speaks against it.
    func doubt(about response: RecordedResponse, beside other: PlannedSide) -> String? {
        let (left, right) = (self.plan.decision?.route?.configuration, other.plan.decision?.route?.configuration)
        let simulations = [left, right].map { $0?.simulation ?? SimulationRules() }
        if simulations.contains(where: \.invents), simulations[0].normalized != simulations[1].normalized {
            return "a simulation may answer under one of the configurations alone"
        }
        let followsAlike = (left?.redirects ?? .pass) == (right?.redirects ?? .pass)
        if !followsAlike, case .received(let head, _, _, let count) = response,
            count > 0 || (300..<400).contains(head.status)
        {
            return "another number of redirects would be followed"
        }
        return nil
    }

    private var bodyBuffer: Int { self.policy.configuration.limits.bodyBuffer }

    /// Judges the response that came.
    mutating func judge(_ response: RecordedResponse, to request: PlanComparison.Request) {
        self.side.response = ResponseVerdict(
            response, to: request.head, by: self.plan.responseValidator(method: request.head.method),
            bodyBuffer: self.bodyBuffer)
    }
}
