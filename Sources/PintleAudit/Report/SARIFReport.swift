// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleTrust

/// The report for code scanning (SARIF 2.1.0, OASIS): each finding is located at the line of the configuration that it is
/// about.
struct SARIFReport {
    let report: AuditReport

    var text: String {
        Parameter.object([
            ("$schema", "https://json.schemastore.org/sarif-2.1.0.json"), ("version", "2.1.0"),
            ("runs", .array([self.run])),
        ]).jsonText
    }

    private var run: Parameter {
        .object([
            ("tool", .object([("driver", self.driver)])),
            (
                "invocations",
                .array([
                    .object([
                        ("executionSuccessful", .bool(self.report.hasJudged)),
                        ("startTimeUtc", .string(self.report.startedAt.description)),
                        (
                            "endTimeUtc",
                            .string(self.report.startedAt.advanced(by: self.report.duration).description)
                        ),
                    ])
                ])
            ),
            ("columnKind", "unicodeCodePoints"),
            ("results", .array(self.report.findings.map(self.result))),
            ("properties", .object([("servers", .array(self.report.targets.map(self.server)))])),
        ])
    }

    /// Facts about a server that are no findings.
    private func server(_ report: TargetReport) -> Parameter {
        .object([
            ("host", .string(report.target.authority.description)), ("policy", .string(report.target.policy)),
            (
                "addresses",
                .array(
                    report.addresses.map { address in
                        .object([
                            ("address", .string(address.address)),
                            ("versions", .strings(address.versions.map(\.description))),
                            ("postQuantum", .string(address.keyExchangeSummary)),
                        ])
                    })
            ),
            ("caa", report.caa.isEmpty ? nil : .strings(report.caa.map { ReportText.line($0.summary) })),
        ])
    }

    private var driver: Parameter {
        .object([
            ("name", "pintle"), ("semanticVersion", .string(self.report.version)),
            ("rules", .array(FindingRule.allCases.map(self.rule))),
        ])
    }

    private func rule(_ rule: FindingRule) -> Parameter {
        .object([
            ("id", .string(rule.id)), ("name", .string(Self.pascalCase(rule.name))),
            ("shortDescription", .object([("text", .string(rule.summary))])),
            ("fullDescription", .object([("text", .string("\(rule.summary) \(rule.remedy)"))])),
            ("help", .object([("text", .string(rule.remedy))])),
            ("defaultConfiguration", .object([("level", .string(rule.severity.sarifLevel))])),
            ("properties", .object([("tags", .strings(["security", "tls"]))])),
        ])
    }

    private func result(_ finding: AuditFinding) -> Parameter {
        let circumstances = finding.circumstances.isEmpty ? "" : "\n(\(finding.circumstances))"
        // Viewers show only the first line.
        let text = ReportText.sarif("\(finding.message)\(circumstances)\n\(finding.rule.remedy)")
        return .object([
            ("ruleId", .string(finding.rule.id)),
            ("ruleIndex", FindingRule.allCases.firstIndex(of: finding.rule).map { .integer(Int64($0)) }),
            ("level", .string(finding.severity.sarifLevel)), ("message", .object([("text", .string(text))])),
            ("locations", .array([self.location(of: finding)])),
            ("partialFingerprints", .object([("pintleFinding/v1", .string(Self.identity(of: finding)))])),
            (
                "properties",
                .object([
                    ("policy", .string(finding.policy)), ("host", finding.authority.map { .string($0.description) }),
                    ("addresses", .strings(finding.addresses)),
                    ("keys", .strings(finding.keys.map(\.rawValue))),
                ])
            ),
        ])
    }

    private func location(of finding: AuditFinding) -> Parameter {
        var physical: Parameter?
        if let file = self.report.file {
            let region = finding.position.map { position in
                Parameter.object([
                    ("startLine", .integer(Int64(position.line))), ("startColumn", .integer(Int64(position.column))),
                ])
            }
            physical = .object([
                ("artifactLocation", .object([("uri", .string(ReportText.uri(ofFile: file)))])), ("region", region),
            ])
        }
        let logical = Parameter.object([
            ("name", .string(finding.subject)), ("fullyQualifiedName", .string(finding.source)),
        ])
        return .object([("physicalLocation", physical), ("logicalLocations", .array([logical]))])
    }

    /// Returns an id that the same finding has in every report, even if its line has moved.
    private static func identity(of finding: AuditFinding) -> String {
        [finding.rule.id, finding.policy, finding.authority?.description ?? finding.source].joined(separator: "/")
    }

    /// Returns a name in the form that SARIF viewers show: `pin-mismatch` becomes `PinMismatch`.
    private static func pascalCase(_ name: String) -> String {
        name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

extension Severity {
    fileprivate var sarifLevel: String { self == .warning ? "warning" : self.description }
}
