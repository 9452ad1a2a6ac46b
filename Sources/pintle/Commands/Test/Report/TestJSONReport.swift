// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleRehearsal
internal import PintleSerialization
internal import PintleSystem

/// The report for programs, in JSON; docs/testing-policies.md describes it.
///
/// Members may be added without a new schema number; readers ignore those that they do not know.
struct TestJSONReport {
    private static let schema: Int64 = 1

    let report: TestReport

    var text: String {
        Parameter.object([
            ("schema", .integer(Self.schema)),
            ("tool", .object([("name", "pintle"), ("version", .string(self.report.version))])),
            ("configuration", .optional(self.report.file)),
            ("started_at", .string(self.report.startedAt.description)),
            ("duration_ms", .number(self.report.duration.roundedMilliseconds)),
            (
                "summary",
                .object([
                    ("tests", .number(self.report.count)), ("failed", .number(self.report.failures)),
                ])
            ),
            ("files", .array(self.report.suites.map(self.suite))),
            ("coverage", self.report.coverage.map(self.coverage)),
        ]).jsonText
    }

    private func suite(_ suite: TestRun.Suite) -> Parameter {
        .object([("file", .string(suite.file)), ("tests", .array(suite.results.map(self.result)))])
    }

    private func result(_ result: PolicyTestResult) -> Parameter {
        .object([
            ("name", .string(result.test.name)), ("line", .number(result.test.position.line)),
            ("passed", .bool(result.hasPassed)),
            ("differences", result.hasPassed ? nil : .array(result.differences.map(Self.difference))),
            ("reasons", result.hasPassed ? nil : .array(result.reasons.map(self.reason))),
        ])
    }

    private static func difference(_ difference: PolicyTestResult.Difference) -> Parameter {
        .object([
            ("item", .string(difference.item)), ("line", .number(difference.position.line)),
            ("expected", .string(difference.expected)), ("found", .string(difference.found)),
        ])
    }

    private func reason(_ reason: PolicyTestResult.Reason) -> Parameter {
        .object([
            ("text", .string(reason.text)), ("place", reason.position.map { .string(self.report.place($0)) }),
        ])
    }

    private func coverage(_ coverage: PolicyCoverage) -> Parameter {
        .object(
            PolicyCoverage.Kind.allCases.map { kind in
                let (reached, all) = coverage.count(of: kind)
                let unreached = coverage.unreached.filter { $0.kind == kind }.map { part in
                    Parameter.object([
                        ("name", .string(part.name)), ("place", .string(self.report.place(part.position))),
                    ])
                }
                return (
                    kind.rawValue,
                    .object([
                        ("all", .number(all)), ("reached", .number(reached)),
                        ("percentage", coverage.percentage(of: kind).map { .number($0) } ?? .null),
                        ("unreached", .array(unreached)),
                    ])
                )
            })
    }
}
