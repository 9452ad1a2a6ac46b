// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleWatch

/// The kept exchanges under another configuration.
struct PreviewAnswer {
    private static let mostRows = 1000

    private let recent: RecentExchanges
    private let program: any AdminProgram

    init(_ recent: RecentExchanges, _ program: any AdminProgram) { (self.recent, self.program) = (recent, program) }

    /// - Parameter text: of the configuration.
    /// - Throws: its faults.
    func text(_ text: String) throws(AdminGate.Refusal) -> [UInt8] {
        let policy: Policy
        do throws(ConfigurationError) {
            policy = try self.program.compile(text)
        } catch {
            throw AdminGate.Refusal(
                status: 422, title: "Not a configuration", detail: error.problems.first.map { "\($0)" } ?? "\(error)",
                more: [("lines", .strings(error.lines))])
        }
        let comparison = PlanComparison(
            from: self.program.active.policy, to: policy, surroundings: .system(environment: [:]),
            hidingValues: true)
        var (counts, rows, all, same) = ([PlanComparison.Kind: Int](), [Parameter](), 0, 0)
        var numbers = self.recent.numbers
        while !numbers.isEmpty {
            let slice = numbers.prefix(RecentExchanges.mostAtOnce)
            for kept in self.recent.numbers(slice.startIndex..<slice.endIndex) {
                all += 1
                let exchange = kept.exchange
                let difference = comparison.compare(Self.request(of: exchange)) {
                    exchange.judgedResponse(self.program.redaction)
                }
                if difference.kinds.isEmpty { same += 1 }
                for kind in difference.kinds { counts[kind, default: 0] += 1 }
                if difference.kinds.isEmpty || rows.count == Self.mostRows { continue }
                rows.append(self.row(difference, exchange))
            }
            numbers = slice.endIndex..<numbers.upperBound
        }
        return JSONText.value(
            .object(
                [("exchanges", .integer(Int64(all))), ("same", .integer(Int64(same)))]
                    + PlanComparison.Kind.allCases.map { ($0.rawValue, .integer(Int64(counts[$0] ?? 0))) }
                    + [("rows", .array(rows))]))
    }

    /// The request as the client sent it, with its body if that was kept whole.
    private static func request(of exchange: ObservedExchange) -> PlanComparison.Request {
        let head = RequestHead(
            method: exchange.record.method ?? "", target: exchange.target, fields: exchange.requestFields)
        var request = PlanComparison.Request(head, of: ProxyIdentity(exchange.record))
        request.body = exchange.bodies?.wholeRequest(of: exchange)
        return request
    }

    private func row(_ difference: PlanComparison.Difference, _ exchange: ObservedExchange) -> Parameter {
        .object([
            ("id", .string(exchange.record.id)), ("method", exchange.record.method.map { .string($0) }),
            ("url", exchange.record.url.map { .string(self.program.redaction.url($0)) }),
            ("kinds", .strings(difference.kinds.map(\.rawValue))), ("before", self.side(difference.before)),
            ("after", self.side(difference.after)),
        ])
    }

    private static func verdict(_ verdict: ResponseVerdict) -> Parameter {
        .object([
            ("verdict", .string(verdict.outcome.rawValue)),
            ("violations", verdict.violations.isEmpty ? nil : .strings(verdict.violations)),
            ("reason", verdict.reason.map { .string($0) }),
        ])
    }

    private func side(_ side: PlanComparison.Side) -> Parameter {
        .object([
            ("decision", .string(side.decision)), ("rule", side.rule.map { .string($0) }),
            ("route", side.route.map { .string($0) }), ("trust", side.trust.map { .string($0) }),
            ("way", side.way.map { .string($0) }), ("tunnel", side.tunnel.map { .string($0) }),
            ("contract", side.contract.map { .string($0) }),
            ("response", side.response.map(Self.verdict)),
            ("sent", side.sent.map { SentAnswer($0, self.program.redaction).parameter }),
        ])
    }
}
