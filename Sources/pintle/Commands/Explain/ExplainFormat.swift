// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleActivity
internal import PintleAdmin
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

/// The forms of an explanation.
enum ExplainFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json

    /// Writes the explanation of a request to standard output.
    ///
    /// - Returns: the end of the request.
    func write(
        _ head: RequestHead, of client: ProxyIdentity, isCaptured: Bool, by policy: Policy,
        from origin: ConfigurationOrigin
    ) throws(CommandFailure) -> ExplainedOutcome {
        switch self {
        case .text: try Self.writeText(head, of: client, isCaptured: isCaptured, by: policy)
        case .json: try Self.writeDocument(head, of: client, isCaptured: isCaptured, by: policy, from: origin)
        }
    }

    private static func writeText(
        _ head: RequestHead, of client: ProxyIdentity, isCaptured: Bool, by policy: Policy
    ) throws(CommandFailure) -> ExplainedOutcome {
        let explanation: Explanation
        do throws(Problem) {
            explanation = try Explanation(policy, head, of: client, isCaptured: isCaptured)
        } catch {
            throw CommandFailure(
                .found, "pintle explain: answered with \(error.status) \(error.name.title): \(error.detail)")
        }
        for line in explanation.lines { try Output.prose(line.description) }
        return explanation.outcome
    }

    private static func writeDocument(
        _ head: RequestHead, of client: ProxyIdentity, isCaptured: Bool, by policy: Policy,
        from origin: ConfigurationOrigin
    ) throws(CommandFailure) -> ExplainedOutcome {
        let redaction: Redaction = policy.configuration.log.redact ? .on : .off
        let explanation = ExplanationDocument(
            policy, head, of: client, isCaptured: isCaptured, file: origin.path, redaction: redaction)
        let request = Parameter.object([
            ("method", .string(head.method)), ("url", head.target.url.map { .string(redaction.url($0)) }),
            ("user", client.user.map { .string($0) }), ("tag", client.tag.map { .string($0) }),
            ("captured", isCaptured ? .bool(true) : nil),
        ])
        let document = Parameter.object(
            [
                ("schema", .integer(1)), ("configuration", .optional(origin.path)), ("request", request),
            ] + explanation.members)
        try Output.bytes(Array(document.jsonText.utf8))
        return explanation.outcome
    }

    /// Asks a running proxy about an exchange, and writes what it says.
    ///
    /// - Returns: true if the policy let the exchange pass.
    func write(exchange id: String, of proxy: RunningProxy) throws(CommandFailure) -> Bool {
        let answer = try proxy.ask(ControlRequest(command: .explain, exchange: id))
        guard let exchange = answer.exchange else {
            throw CommandFailure(.incomplete, "the proxy does not explain the exchange; is it another version?")
        }
        switch self {
        case .text: try Output.prose(answer.lines.joined(separator: "\n"))
        case .json: try Output.data(exchange.json)
        }
        return exchange.hasPassed
    }
}
