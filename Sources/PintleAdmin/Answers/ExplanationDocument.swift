// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage
package import PintlePolicy
package import PintleSerialization

/// An explanation as members of a JSON document: of the endpoint's answers, and of `pintle explain --format json`.
package struct ExplanationDocument {
    /// The end of the request.
    package let outcome: ExplainedOutcome
    /// `outcome`; `problem` if the request is refused; `decision`, with the names that are known; `why`; and `sent` if something
    /// is sent that does not depend on a body.
    package let members: [(String, Parameter?)]

    /// Takes a request through the policy as if a client had sent it to the proxy.
    ///
    /// - Parameters:
    ///   - file: the main file of the policy; nil without one.
    ///   - client: the names of the client. Default: none.
    ///   - isCaptured: true for the CONNECT of a connection that was captured.
    package init(
        _ policy: Policy, _ head: RequestHead, of client: ProxyIdentity = ProxyIdentity(), isCaptured: Bool = false,
        file: String?, redaction: Redaction
    ) {
        func members(
            _ outcome: ExplainedOutcome, _ decision: Decision?, _ why: [Explanation.Line], sent: Parameter?
        ) -> [(String, Parameter?)] {
            [
                ("outcome", .string(outcome.name)), ("problem", Self.problem(outcome, redaction)),
                ("decision", decision.map(Self.decision)),
                ("why", .array(why.map { Self.line($0, file, redaction) })), ("sent", sent),
            ]
        }
        do throws(Problem) {
            let explanation = try Explanation(policy, head, of: client, isCaptured: isCaptured)
            self.outcome = explanation.outcome
            self.members = members(
                explanation.outcome, explanation.decision, explanation.lines,
                sent: Self.sent(head, of: client, policy, redaction))
        } catch {
            self.outcome = .refused(error)
            let text = "\(error.status) \(error.name.title): \(error.detail)"
            self.members = members(
                .refused(error), nil, [Explanation.Line(topic: "answer", text: text)], sent: nil)
        }
    }

    private static func decision(_ decision: Decision) -> Parameter {
        .object([
            ("route", decision.route.map { .string($0.name) }),
            ("rule", decision.destination.rule.map { .string($0.description) }),
            ("trust", decision.trust.map { .string($0.name) }),
        ])
    }

    private static func problem(_ outcome: ExplainedOutcome, _ redaction: Redaction) -> Parameter? {
        guard case .refused(let problem) = outcome else { return nil }
        return .object([
            ("name", .string(problem.name.rawValue)), ("status", .integer(Int64(problem.status))),
            ("title", .string(problem.name.title)), ("detail", .string(redaction.text(problem.detail))),
        ])
    }

    private static func line(_ line: Explanation.Line, _ file: String?, _ redaction: Redaction) -> Parameter {
        let place = line.place.map { place in
            Parameter.object([
                ("file", (place.file ?? file).map { .string($0) }), ("line", .integer(Int64(place.line))),
            ])
        }
        return .object([
            ("topic", .string(line.topic)), ("text", .string(redaction.text(line.text))), ("place", place),
            ("loses", .bool(line.topic == Explanation.passedOver)),
        ])
    }

    private static func sent(
        _ head: RequestHead, of client: ProxyIdentity, _ policy: Policy, _ redaction: Redaction
    ) -> Parameter? {
        guard let framing = try? head.bodyFraming(),
            let sent = RequestPlan(head, framing, by: policy, of: client).sentHead(from: head, mask: Redaction.mask)
        else { return nil }
        return SentAnswer(sent, redaction).parameter
    }
}
