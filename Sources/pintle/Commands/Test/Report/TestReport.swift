// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintlePolicy
internal import PintleRehearsal

/// The results of a run of policy tests, as reports show them.
struct TestReport: Sendable {
    let version: String
    /// The configuration file; nil for the embedded default.
    let file: String?
    let startedAt: Timestamp
    let duration: Duration
    let suites: [TestRun.Suite]
    /// Nil if coverage is not asked for.
    let coverage: PolicyCoverage?

    init(
        version: String, file: String?, startedAt: Timestamp, duration: Duration, run: TestRun, showsCoverage: Bool
    ) {
        (self.version, self.file, self.startedAt, self.duration) = (version, file, startedAt, duration)
        (self.suites, self.coverage) = (run.suites, showsCoverage ? run.coverage : nil)
    }

    /// The name of the configuration for people.
    var configuration: String { self.file ?? "embedded default" }
    var count: Int { self.suites.reduce(0) { $0 + $1.results.count } }
    var failures: Int { self.suites.reduce(0) { $0 + $1.results.count { !$0.hasPassed } } }

    /// A summary: `12 tests in 3 files: 11 passed, 1 failed`.
    var conclusion: String {
        "\(ReportText.count(self.count, "test")) in \(ReportText.count(self.suites.count, "file")): "
            + "\(self.count - self.failures) passed, \(self.failures) failed"
    }

    /// The place of a rule of the configuration, with its file.
    func place(_ position: SourcePosition) -> String { position.description(inMain: self.configuration) }

    /// A reason with the place of its rule.
    func words(of reason: PolicyTestResult.Reason) -> String {
        reason.position.map { "\(reason.text) (\(self.place($0)))" } ?? reason.text
    }

    /// The shares of the parts that tests reach: `rules 3 of 4 (75 %), …`; empty without coverage.
    var shares: [String] {
        guard let coverage else { return [] }
        return PolicyCoverage.Kind.allCases.compactMap { kind in
            let (reached, all) = coverage.count(of: kind)
            return coverage.percentage(of: kind).map { "\(kind.rawValue) \(reached) of \(all) (\($0) %)" }
        }
    }
}

extension PolicyTestResult.Difference {
    /// `trust: expected payments, found partner`.
    var words: String { "\(self.item): expected \(self.expected), found \(self.found)" }
}

extension PolicyCoverage.Part {
    /// A sentence for a part that no test reaches.
    var words: String { "\(self.name): no test reaches \(self.subject)" }

    private var subject: String {
        switch self.kind {
        case .rules: "this rule"
        case .routes: "this route"
        case .pins: "these pins"
        case .contracts: "these demands on responses"
        }
    }
}
