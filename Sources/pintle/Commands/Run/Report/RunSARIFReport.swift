// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintleProxy
internal import PintleSerialization

/// The report for code scanning (SARIF 2.1.0, OASIS): each finding is located at the part of the configuration that it is
/// about.
struct RunSARIFReport {
    let report: RunReport

    var text: String {
        Parameter.object([
            ("$schema", "https://json.schemastore.org/sarif-2.1.0.json"), ("version", "2.1.0"),
            ("runs", .array([self.run])),
        ]).jsonText
    }

    private var run: Parameter {
        let driver: [(String, Parameter?)] = [
            ("name", "pintle"), ("semanticVersion", .string(self.report.version)),
            ("rules", .array(RunRule.allCases.map(Self.rule))),
        ]
        let invocation: [(String, Parameter?)] = [
            ("executionSuccessful", .bool(self.report.end == .exited(0))),
            ("startTimeUtc", .string(self.report.startedAt.description)),
            ("toolExecutionNotifications", self.report.past.gap.map { .array([Self.notice($0)]) }),
        ]
        let results =
            self.report.statistics.findings.map(self.result) + self.report.past.found.map(self.result)
            + self.refused + self.captured + self.report.grants.map(self.result)
        return .object([
            ("tool", .object([("driver", .object(driver))])), ("invocations", .array([.object(invocation)])),
            ("columnKind", "unicodeCodePoints"), ("results", .array(results)),
        ])
    }

    private static func rule(_ rule: RunRule) -> Parameter {
        .object([
            ("id", .string(rule.id)), ("name", .string(self.pascalCase(rule.name))),
            ("shortDescription", .object([("text", .string(rule.summary))])),
            ("fullDescription", .object([("text", .string("\(rule.summary) \(rule.remedy)"))])),
            ("help", .object([("text", .string(rule.remedy))])),
            (
                "defaultConfiguration",
                .object([("level", .string(Self.level(of: rule)))])
            ),
            ("properties", .object([("tags", .strings(["security", "network"]))])),
        ])
    }

    /// The level without a word of `--fail-on`.
    private static func level(of rule: RunRule) -> String {
        switch rule {
        case .pastProxy, .failed: "warning"
        case .ignoredProxy, .granted: "note"
        default: "error"
        }
    }

    private static func notice(_ text: String) -> Parameter {
        .object([("level", "note"), ("message", .object([("text", .string(ReportText.sarif(text)))]))])
    }

    private func result(_ finding: RunStatistics.Finding) -> Parameter {
        let what = finding.what
        return self.result(
            what.rule, what.words, named: what.host, at: [what.route, what.trust, what.decidedBy],
            [
                ("method", .string(what.method)), ("url", .string(what.url)), ("count", .number(finding.count)),
                ("status", what.status.map { .number($0) }),
            ])
    }

    private func result(_ connection: PastConnection) -> Parameter {
        self.result(
            .pastProxy, "\(connection.program) connected to \(connection.remote) without the proxy",
            named: connection.remote, at: [], [("program", .string(connection.program))])
    }

    private var captured: [Parameter] {
        guard let words = self.report.capturedWords else { return [] }
        let programs: [(String, Parameter?)] = [
            ("programs", .strings(self.report.statistics.capturedPrograms.sorted()))
        ]
        return [self.result(.ignoredProxy, words, named: self.report.program, at: [], programs)]
    }

    private func result(_ grant: AskGrant) -> Parameter {
        self.result(
            .granted, grant.sentence, named: "\(grant.authority)", at: [],
            [("line", .string(grant.line)), ("count", .number(grant.requests))])
    }

    private var refused: [Parameter] {
        guard let words = self.report.refusedWords else { return [] }
        let count: [(String, Parameter?)] = [("count", .number(self.report.refusedPast))]
        return [self.result(.pastProxy, "past the proxy: \(words)", named: self.report.program, at: [], count)]
    }

    private func result(
        _ rule: RunRule, _ message: String, named name: String, at places: [String?],
        _ properties: [(String, Parameter?)]
    ) -> Parameter {
        let place = [name] + places.compactMap { $0 }
        // Code scanning refuses results without a file. If there is no configuration file, the usual place of one is given.
        // A finding about traffic has no line of its own, and readers that show results in files skip results without a
        // line, so the first line is given.
        let uri = self.report.file.map { ReportText.uri(ofFile: $0) } ?? "pintle.yaml"
        let physical = Parameter.object([
            ("artifactLocation", .object([("uri", .string(uri))])),
            ("region", .object([("startLine", .number(1))])),
        ])
        let logical = Parameter.object([
            ("name", .string(name)), ("fullyQualifiedName", .string(place.joined(separator: "/"))),
        ])
        return .object([
            ("ruleId", .string(rule.id)),
            ("ruleIndex", RunRule.allCases.firstIndex(of: rule).map { .number($0) }),
            ("level", .string(self.report.level(of: rule))),
            ("message", .object([("text", .string(ReportText.sarif("\(message)\n\(rule.remedy)")))])),
            (
                "locations",
                .array([.object([("physicalLocation", physical), ("logicalLocations", .array([logical]))])])
            ),
            (
                "partialFingerprints",
                .object([("pintleFinding/v1", .string(([rule.id] + place).joined(separator: "/")))])
            ),
            ("properties", .object(properties)),
        ])
    }

    private static func pascalCase(_ name: String) -> String {
        name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
