// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintlePolicy
internal import PintleRehearsal
internal import PintleSerialization

/// A finding of policy tests. The number of a rule never changes.
enum TestRule: Int, CaseIterable {
    case failedTest = 401
    case notReached = 402

    /// The rule's id: `PINTLE0401`.
    var id: String { "PINTLE0\(self.rawValue)" }

    var name: String { self == .failedTest ? "FailedTest" : "NotReached" }

    var summary: String {
        self == .failedTest
            ? "The configuration does not decide as a policy test demands."
            : "No policy test reaches this part of the configuration."
    }

    var level: String { self == .failedTest ? "error" : "note" }
}

/// The report for code scanning (SARIF 2.1.0, OASIS): each difference is located at the demand in the test file, each part
/// that no test reaches in the configuration.
struct TestSARIFReport {
    let report: TestReport

    var text: String {
        let driver: [(String, Parameter?)] = [
            ("name", "pintle"), ("semanticVersion", .string(self.report.version)),
            ("rules", .array(TestRule.allCases.map(Self.rule))),
        ]
        let run: [(String, Parameter?)] = [
            ("tool", .object([("driver", .object(driver))])), ("columnKind", "unicodeCodePoints"),
            ("results", .array(self.failures + self.unreached)),
        ]
        return Parameter.object([
            ("$schema", "https://json.schemastore.org/sarif-2.1.0.json"), ("version", "2.1.0"),
            ("runs", .array([.object(run)])),
        ]).jsonText
    }

    private static func rule(_ rule: TestRule) -> Parameter {
        .object([
            ("id", .string(rule.id)), ("name", .string(rule.name)),
            ("shortDescription", .object([("text", .string(rule.summary))])),
            ("defaultConfiguration", .object([("level", .string(rule.level))])),
        ])
    }

    private var failures: [Parameter] {
        self.report.suites.flatMap { suite in
            suite.results.flatMap { result in
                result.differences.map { difference in
                    let words = ["\(result.test.name): \(difference.words)"] + result.reasons.map(self.report.words)
                    return Self.result(
                        .failedTest, words.joined(separator: "\n"), difference.position, inMain: suite.file,
                        [suite.file, result.test.name, difference.item])
                }
            }
        }
    }

    private var unreached: [Parameter] {
        (self.report.coverage?.unreached ?? []).map { part in
            Self.result(
                .notReached, part.words, part.position, inMain: self.report.file ?? "pintle.yaml",
                [part.kind.rawValue, part.name])
        }
    }

    private static func result(
        _ rule: TestRule, _ message: String, _ position: SourcePosition, inMain file: String, _ fingerprint: [String]
    ) -> Parameter {
        let physical = Parameter.object([
            ("artifactLocation", .object([("uri", .string(ReportText.uri(ofFile: position.file ?? file)))])),
            (
                "region",
                .object([("startLine", .number(position.line)), ("startColumn", .number(position.column))])
            ),
        ])
        return .object([
            ("ruleId", .string(rule.id)), ("level", .string(rule.level)),
            ("message", .object([("text", .string(ReportText.sarif(message)))])),
            ("locations", .array([.object([("physicalLocation", physical)])])),
            (
                "partialFingerprints",
                .object([("pintleFinding/v1", .string(([rule.id] + fingerprint).joined(separator: "/")))])
            ),
        ])
    }
}
