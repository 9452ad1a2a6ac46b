// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PintleWatch

/// The page, the dashboard and the alerts name the metrics that there are.
@Suite struct MetricsFileTests {
    static let requirement = Comment(rawValue: Promtool.requirement)

    @Test func `the page has every family once, with its type and its labels`() throws {
        let rows = try MetricsFiles.text("docs/metrics.md").matches(
            of: /\| `(pintle_[a-z_]+)(?:\{([a-z,]+)\})?` \| ([a-z]+) \|/)
        let shown = rows.map { "\($0.output.1) \($0.output.2 ?? "") \($0.output.3)" }
        let written = MetricFamily.allCases.map { family in
            let name = family.kind == .histogram ? family.rawValue : family.samples[0]
            return "\(name) \(family.labels.joined(separator: ",")) \(family.kind.rawValue)"
        }
        #expect(shown == written)
        let known = MetricsFiles.samples.union(MetricFamily.allCases.map(\.rawValue))
        #expect(MetricsFiles.names(in: try MetricsFiles.text("docs/metrics.md")).subtracting(known).isEmpty)
    }

    @Test func `the page has every alert, and each alert has a test in which it fires and one in which it does not`()
        throws
    {
        let alerts = try MetricsFiles.text("conf/prometheus/pintle.rules.yaml").matches(of: /- alert: (\w+)/).map {
            String($0.output.1)
        }
        #expect(alerts.count == 6 && Set(alerts).count == 6)
        let page = try MetricsFiles.text("docs/metrics.md")
        let tests = try MetricsFiles.text("conf/prometheus/pintle.rules.test.yaml")
        for alert in alerts {
            #expect(page.contains("| `\(alert)` |"), "\(alert)")
            #expect(tests.contains("\n      - alertname: \(alert)\n"), "\(alert) fires in no test")
            #expect(tests.contains("\n      - {alertname: \(alert), eval_time: "), "\(alert) is silent in no test")
        }
    }

    @Test(arguments: [
        "conf/grafana/pintle.json", "conf/prometheus/pintle.rules.yaml", "conf/prometheus/pintle.rules.test.yaml",
    ])
    func `the files name no metric that is not written`(path: String) throws {
        let names = MetricsFiles.names(in: try MetricsFiles.text(path))
        #expect(!names.isEmpty)
        #expect(names.subtracting(MetricsFiles.samples).isEmpty)
    }

    @Test func `the dashboard shows every family, in panels that do not overlap`() throws {
        let dashboard = try Dashboard.read()
        let names = MetricsFiles.names(in: dashboard.expressions.joined(separator: "\n"))
        for family in MetricFamily.allCases {
            #expect(!names.isDisjoint(with: family.samples), "no panel shows \(family.rawValue)")
        }
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        var taken: Set<[Int]> = []
        for place in dashboard.panels.map(\.gridPos) {
            #expect(place.x + place.w <= 24)
            for x in place.x..<place.x + place.w {
                for y in place.y..<place.y + place.h { #expect(taken.insert([x, y]).inserted) }
            }
        }
    }

    @Test(.enabled(if: Promtool.isAvailable, requirement))
    func `promtool takes the rules, and each alert fires when it should and only then`() throws {
        let folder = MetricsFiles.root.appendingPathComponent("conf/prometheus").path
        let checked = try Promtool.run(["check", "rules", "pintle.rules.yaml"], folder: folder)
        #expect(checked.contains("  SUCCESS: 6 rules found"), "\(checked)")
        let tested = try Promtool.run(["test", "rules", "pintle.rules.test.yaml"], folder: folder)
        #expect(tested.contains("  SUCCESS"), "\(tested)")
    }

    /// Each expression becomes a rule, since promtool has no other check for them.
    @Test(.enabled(if: Promtool.isAvailable, requirement))
    func `promtool understands the expressions of the dashboard`() throws {
        let rules = try Dashboard.read().expressions.enumerated().map { index, expression in
            let plain = expression.replacing("$__rate_interval", with: "5m").replacing("$__interval", with: "1m")
            return "  - {record: \"panel:\(index)\", expr: '\(plain)'}\n"
        }
        let said = try Promtool.run(
            ["check", "rules", "input"], input: "groups:\n- name: dashboard\n  rules:\n" + rules.joined())
        #expect(said.contains("  SUCCESS: \(rules.count) rules found"), "\(said)")
    }
}

/// The parts of a Grafana dashboard that tests look at.
private struct Dashboard: Decodable {
    struct Target: Decodable { let expr: String }
    struct Place: Decodable { let x, y, w, h: Int }
    struct Panel: Decodable {
        let id: Int
        let gridPos: Place
        let targets: [Target]
    }
    struct Annotations: Decodable { let list: [Target] }

    let panels: [Panel]
    let annotations: Annotations

    var expressions: [String] { (self.panels.flatMap(\.targets) + self.annotations.list).map(\.expr) }

    static func read() throws -> Dashboard {
        try JSONDecoder().decode(Dashboard.self, from: Data(MetricsFiles.text("conf/grafana/pintle.json").utf8))
    }
}
