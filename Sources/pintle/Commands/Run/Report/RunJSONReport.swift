// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleSystem

/// The report for programs, in JSON; docs/run.md describes it.
///
/// Members may be added without a new schema number; readers ignore those that they do not know.
struct RunJSONReport {
    static let schema: Int64 = 1

    let report: RunReport

    var text: String { self.document.jsonText }

    /// The report as a document.
    var document: Parameter {
        .object(
            [
                ("schema", .integer(Self.schema)),
                ("tool", .object([("name", "pintle"), ("version", .string(self.report.version))])),
                ("configuration", .optional(self.report.file)), ("program", .string(self.report.program)),
                ("started_at", .string(self.report.startedAt.description)),
                ("duration_ms", .number(self.report.duration.roundedMilliseconds)),
                ("ended", self.end), ("exit_code", .number(Int(self.report.exitCode))),
                ("summary", .object(Self.counts(self.statistics.totals) + [("simulated", self.simulated)])),
                ("hosts", .array(self.statistics.hosts.map(self.host))),
                ("exchanges_with_other_hosts", .number(self.statistics.otherHosts)),
                ("findings", .array(self.statistics.findings.map(self.finding))),
                ("other_findings", .number(self.statistics.otherFindings)),
                ("past_proxy", .array(self.report.past.found.map(self.past))),
                ("other_past_proxy", .number(self.report.past.more)),
                ("past_proxy_seen", .string(self.report.past.sight.rawValue)),
                ("ignored_proxy", .strings(self.statistics.capturedPrograms.sorted())),
                ("credentials", .array(self.statistics.deliveries.sorted { $0.key < $1.key }.map(self.delivery))),
                ("grants", .array(self.report.grants.map(Self.grant))),
                ("other_grants", .number(self.report.otherGrants)),
                ("refused_past_proxy", .number(self.report.refusedPast)),
                ("fail_on", .strings(self.report.failOn.map(\.rawValue).sorted())),
            ] + (self.report.filter.map { [("filter", .string($0.source))] } ?? []))
    }

    private var statistics: RunStatistics { self.report.statistics }

    private var end: Parameter {
        switch self.report.end {
        case .exited(let code): .object([("code", .number(Int(code)))])
        case .killed(let signal): .object([("signal", .number(Int(signal)))])
        }
    }

    private static func counts(_ counts: RunStatistics.Counts) -> [(String, Parameter?)] {
        [
            ("requests", .number(counts.requests)), ("tunnels", .number(counts.tunnels)),
            ("denied", .number(counts.denied)), ("would_deny", .number(counts.wouldDeny)),
            ("violations", .number(counts.violations)), ("failed", .number(counts.failed)),
            ("captured", .number(counts.captured)),
            ("bytes_up", .number(counts.bytesUp)), ("bytes_down", .number(counts.bytesDown)),
        ]
    }

    /// The numbers of answers that came from no origin; nil without any.
    private var simulated: Parameter? {
        let counts = self.statistics.totals.simulated
        if counts.isEmpty { return nil }
        let seed: (String, Parameter?) = ("seed", self.report.seed.map { .string("\($0)") })
        return .object(Simulation.allCases.map { ($0.rawValue, .number(counts[$0] ?? 0)) } + [seed])
    }

    private func host(_ host: RunStatistics.Host) -> Parameter {
        .object(
            [("host", .string(host.name))] + Self.counts(host.counts) + [
                ("assurance", .strings(host.assurances.sorted().map(\.rawValue))),
                ("trust", .strings(host.trust.sorted())),
            ])
    }

    private func finding(_ finding: RunStatistics.Finding) -> Parameter {
        let what = finding.what
        return .object([
            ("rule", .string(what.rule.id)), ("name", .string(what.rule.name)), ("method", .string(what.method)),
            ("url", .string(what.url)), ("host", .string(what.host)), ("route", .optional(what.route)),
            ("trust", .optional(what.trust)), ("decided_by", .optional(what.decidedBy)),
            ("status", what.status.map { .number($0) }), ("reason", .string(what.reason)),
            ("remedy", .string(what.rule.remedy)), ("count", .number(finding.count)),
            ("first_at", .string(finding.firstAt.description)),
        ])
    }

    private func delivery(_ delivery: RunStatistics.Delivery, _ count: Int) -> Parameter {
        .object([
            ("name", .string(delivery.credential)), ("host", .string(delivery.host)), ("requests", .number(count)),
        ])
    }

    private static func grant(_ grant: AskGrant) -> Parameter {
        .object([
            ("host", .string("\(grant.authority)")), ("by", .string(grant.place.rawValue)),
            ("for", .string(grant.scope.rawValue)), ("requests", .number(grant.requests)),
            ("at", .string("\(grant.moment)")), ("line", .string(grant.line)),
        ])
    }

    private func past(_ connection: PastConnection) -> Parameter {
        .object([("remote", .string(connection.remote)), ("program", .string(connection.program))])
    }
}

extension Parameter {
    /// Returns a whole number.
    static func number(_ number: Int) -> Parameter { .integer(Int64(number)) }
}
