// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
package import PintleProxy
internal import PintleSystem
internal import PintleWatch

/// A kept exchange, the rule that decided about it, and the reasons that the configuration in force gives for such a request:
/// the answer to `pintle explain ID`.
package struct ExchangeExplanation: Sendable {
    /// The lines for people.
    package let lines: [String]
    /// The document of `/api/exchanges/ID`.
    package let json: [UInt8]
    /// True if the policy let the exchange pass.
    package let hasPassed: Bool

    /// Reads an exchange.
    ///
    /// - Returns: nil if it is not kept.
    package init?(id: String, in recent: RecentExchanges, of program: any AdminProgram) {
        guard let exchange = recent.find(id: id)?.exchange else { return nil }
        self.json = ExchangeDetail(exchange, program).text
        let record = exchange.shown(program.redaction).record
        self.hasPassed = record.hasPassed
        var lines = Self.facts(record).map(\.description)
        if let revision = record.revision, revision != program.revision {
            lines.append(
                Explanation.Line(
                    topic: "since then",
                    text: "the configuration has changed, from revision \(revision) to \(program.revision)"
                ).description)
        }
        // Bytes that were not a request have no reasons.
        if let method = record.method {
            let head = RequestHead(method: method, target: exchange.target, fields: exchange.requestFields)
            lines += ["", "The configuration in force treats such a request as follows:"]
            lines += Self.reasons(head, of: ProxyIdentity(record), program, isCaptured: record.isCaptured)
        }
        self.lines = lines
    }

    private static func facts(_ record: ExchangeRecord) -> [Explanation.Line] {
        func line(_ topic: String, _ parts: String?...) -> Explanation.Line? {
            let text = parts.compactMap { $0 }.joined(separator: ", ")
            return text.isEmpty ? nil : Explanation.Line(topic: topic, text: text)
        }
        let request = [record.method, record.url].compactMap { $0 }.joined(separator: " ")
        let violations = record.violations.map(\.rawValue).joined(separator: ", ")
        let upstream = record.upstreamStatus.flatMap { $0 == record.status ? nil : "the origin answered \($0)" }
        let rule = record.rule.map { " by \($0)" } ?? ""
        return [
            line("exchange", "\(record.id) of \(record.time)", record.duration.map { "\($0.roundedMilliseconds) ms" }),
            line("client", record.client, record.user, record.process.map { "\($0.name) (\($0.number))" }),
            line("request", request, record.mode),
            line("status", record.status.map(String.init), upstream, record.source.map { "from \($0.rawValue)" }),
            line("decision", record.decision.map { $0 + rule }),
            line("route", record.route),
            line("trust", record.trust, record.pin),
            line("violations", violations.isEmpty ? nil : violations),
            line("error", record.error),
        ].compactMap { $0 }
    }

    private static func reasons(
        _ head: RequestHead, of client: ProxyIdentity, _ program: any AdminProgram, isCaptured: Bool
    ) -> [String] {
        let redaction = program.redaction
        do throws(Problem) {
            return try Explanation(program.active.policy, head, of: client, isCaptured: isCaptured).lines.map {
                Explanation.Line(topic: $0.topic, text: redaction.text($0.text)).description
            }
        } catch {
            let text = redaction.text("\(error.status) \(error.name.title): \(error.detail)")
            return [Explanation.Line(topic: "answer", text: text).description]
        }
    }
}

extension ProxyIdentity {
    /// The names of the client of an exchange.
    init(_ record: ExchangeRecord) { self.init(user: record.user, tag: record.tag) }
}
