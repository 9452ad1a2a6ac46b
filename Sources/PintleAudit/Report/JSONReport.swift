// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSystem
internal import PintleTrust

/// The report for programs, in JSON; docs/audit.md describes it.
///
/// Members may be added without a new schema number; readers ignore those that they do not know.
struct JSONReport {
    static let schema: Int64 = 1

    let report: AuditReport

    var text: String { Parameter.object(self.members).jsonText }

    private var members: [(String, Parameter?)] {
        [
            ("schema", .integer(Self.schema)),
            ("tool", .object([("name", "pintle"), ("version", .string(self.report.version))])),
            ("configuration", .optional(self.report.file)),
            ("started_at", .string(self.report.startedAt.description)),
            ("judged_at", .string(self.report.moment.description)),
            ("duration_ms", .integer(Int64(self.report.duration.roundedMilliseconds))),
            ("scope", .strings(self.report.scope)),
            (
                "summary",
                .object([
                    ("servers", .integer(Int64(self.report.targets.count))),
                    ("addresses", .integer(Int64(self.report.targets.reduce(0) { $0 + $1.addresses.count }))),
                    ("errors", .integer(Int64(self.report.count(of: .error)))),
                    ("warnings", .integer(Int64(self.report.count(of: .warning)))),
                    ("notes", .integer(Int64(self.report.count(of: .note)))),
                ])
            ),
            ("findings", .array(self.report.findings.map(self.finding))),
            ("servers", .array(self.report.targets.map(self.server))),
        ]
    }

    private func finding(_ finding: AuditFinding) -> Parameter {
        .object([
            ("rule", .string(finding.rule.id)), ("name", .string(finding.rule.name)),
            ("severity", .string(finding.severity.description)), ("policy", .string(finding.policy)),
            ("host", .optional(finding.authority?.description)), ("addresses", .strings(finding.addresses)),
            ("keys", .strings(finding.keys.map(\.rawValue))),
            ("source", .string(finding.source)),
            ("line", finding.position.map { .integer(Int64($0.line)) }),
            ("column", finding.position.map { .integer(Int64($0.column)) }),
            ("message", .string(finding.message)), ("remedy", .string(finding.rule.remedy)),
        ])
    }

    private func server(_ report: TargetReport) -> Parameter {
        .object([
            ("policy", .string(report.target.policy)), ("host", .string(report.target.authority.description)),
            ("source", .string(report.target.source)), ("addresses", .array(report.addresses.map(self.address))),
            ("caa", report.caa.isEmpty ? nil : .array(report.caa.map(self.caa))),
        ])
    }

    private func address(_ report: AddressReport) -> Parameter {
        .object([
            ("address", .string(report.address)),
            ("versions", .strings(report.versions.map(\.description))),
            ("handshakes", .array(report.handshakes.map(self.handshake))),
            ("chains", .array(report.chains.map(self.chain))),
            ("post_quantum", report.keyExchange.map(self.keyExchange) ?? .null),
        ])
    }

    private func keyExchange(_ report: KeyExchangeReport) -> Parameter {
        .object([
            ("groups", .strings(report.groups.map(\.description))), ("conclusive", .bool(report.isConclusive)),
            ("failure", .optional(report.failure)),
        ])
    }

    private func caa(_ report: CAAReport) -> Parameter {
        let permission: Parameter =
            switch report.permission {
            case nil: .null
            case .ofAnyAuthority: .string("any")
            case .ofNoAuthority: .string("none")
            case .ofAuthorities: .string("some")
            }
        let issuers = if case .ofAuthorities(let issuers) = report.permission { issuers } else { [String]() }
        let records = report.records.map { record in
            Parameter.object([
                ("critical", .bool(record.isCritical)), ("tag", .string(record.tag)), ("value", .string(record.value)),
            ])
        }
        return .object([
            ("name", .string(report.subject)), ("permission", permission), ("issuers", .strings(issuers)),
            ("place", .optional(report.place)), ("records", .array(records)), ("failure", .optional(report.failure)),
        ])
    }

    private func handshake(_ report: HandshakeReport) -> Parameter {
        let offer = report.offer
        let versions = TLSVersion.allCases.filter { offer.versions.contains($0) }
        return .object([
            ("offered_versions", .strings(versions.map(\.description))), ("offered_keys", .string(offer.keys.rawValue)),
            ("version", .optional(report.negotiated?.version.description)),
            ("cipher", .optional(report.negotiated?.cipher)), ("group", .optional(report.negotiated?.group)),
            ("signature", .optional(report.negotiated?.signature)), ("failure", .optional(report.failure)),
        ])
    }

    private func chain(_ chain: AuditedChain) -> Parameter {
        let verdict = chain.verdict
        return .object([
            ("keys", .strings(chain.keys.map(\.rawValue))), ("trusted", .bool(verdict.isTrusted)),
            ("verdict", .string(verdict.word)), ("rule", .optional(verdict.error?.rule?.rawValue)),
            ("error", .optional(verdict.error?.description)),
            ("reported", .optional(verdict.reported?.description)),
            ("waived", .optional(verdict.waived?.description)),
            ("form", verdict.form.isEmpty ? nil : .strings(verdict.form.map(\.rule.rawValue))),
            ("matched_pin", .optional(verdict.matchedPin?.description)),
            ("certificates", .string(verdict.chainOrigin.rawValue)),
            ("chain", .array(verdict.chain.map(self.certificate))),
            ("presented", .array(chain.presented.map { .string($0.spkiPin.description) })),
        ])
    }

    private func certificate(_ entry: ChainEntry) -> Parameter {
        let certificate = entry.certificate
        return .object([
            ("position", .string(entry.position.rawValue)), ("subject", .string(entry.subject)),
            ("issuer", .string(entry.issuer)), ("serial", .string(certificate.serial)),
            ("not_before", .string(certificate.notBefore.description)),
            ("not_after", .string(certificate.notAfter.description)), ("names", .strings(certificate.names)),
            ("pin", .string(entry.spkiPin.description)), ("key_type", .string(certificate.keyType)),
            ("signature", .string(certificate.signatureAlgorithm)),
            ("lifetime_days", .integer(certificate.lifetimeDays)),
        ])
    }
}
