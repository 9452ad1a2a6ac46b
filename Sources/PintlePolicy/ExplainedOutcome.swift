// SPDX-License-Identifier: Apache-2.0

/// The end of an explained request, as far as the rules decide it before an origin is asked.
package enum ExplainedOutcome: Sendable {
    /// The rules let the request pass: it is sent, relayed, or answered by a rule.
    case passes
    /// The request waits until a person allows it.
    case asks
    /// Pintle answers with a problem.
    case refused(Problem)

    /// The word for it in documents.
    package var name: String {
        switch self {
        case .passes: "pass"
        case .asks: "ask"
        case .refused: "refuse"
        }
    }

    /// True if no rule and no person is in the way.
    package var isPass: Bool { if case .passes = self { true } else { false } }
}

extension Explanation {
    package var outcome: ExplainedOutcome {
        if case .ask = self.plan.step { return .asks }
        return self.plan.refusal.map { .refused($0) } ?? .passes
    }

    /// The route, the rule about destinations and the trust policy that were chosen.
    package var decision: Decision? { self.plan.decision }
}
