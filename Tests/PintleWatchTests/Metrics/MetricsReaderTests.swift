// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleTesting
import Testing

@testable import PintleWatch

/// Other programs' readers take what Pintle writes, and understand it.
@Suite struct MetricsReaderTests {
    static let requirement = Comment(rawValue: Promtool.requirement)
    static let libraryRequirement = Comment(rawValue: Promtool.libraryRequirement)

    /// Values of labels that look like the end of a value, of a line or of the text.
    private static let hostile = [
        "\"", "\\", "\\\"", "a\nb", "\r", "\0", "\u{1}\u{7F}", "} 1\n# EOF\n", "{", ",", "=\"", " # {",
        "🦀\u{202E}e\u{301}", "",
    ]

    private var hostileReading: MetricsReading {
        var reading = MetricsReading.example
        reading.certificates = Self.hostile.map { .init(trust: $0, host: "h\($0)", secondsLeft: 7) }
        reading.revision = Self.hostile.joined()
        let metrics = ExchangeMetrics(trusts: Self.hostile)
        for route in Self.hostile { metrics.count(.example(route: route)) }
        reading.exchanges = metrics.snapshot()
        return reading
    }

    @Test(.enabled(if: Promtool.isAvailable, requirement))
    func `promtool has nothing to say about the text format`() throws {
        #expect(try Promtool.run(["check", "metrics"], input: MetricsReading.example.text(as: .text)) == [])
        #expect(try Promtool.run(["check", "metrics"], input: self.hostileReading.text(as: .text)) == [])
    }

    /// Backfilling reads OpenMetrics as a scrape does. It wants a time for each sample, which the metrics of a scrape do not have.
    @Test(.enabled(if: Promtool.isAvailable, requirement), arguments: [false, true])
    func `Prometheus reads OpenMetrics`(isHostile: Bool) throws {
        let reading = isHostile ? self.hostileReading : MetricsReading.example
        let lines = reading.text(as: .openMetrics).split(separator: "\n").map { line in
            if line.hasPrefix("#") { return String(line) }
            let exemplar = line.range(of: " # {exchange_id")?.lowerBound ?? line.endIndex
            return "\(line[..<exemplar]) 1767225600\(line[exemplar...])"
        }
        let place = try TemporaryFolder()
        let file = try place.write(lines.joined(separator: "\n") + "\n", to: "metrics")
        let said = try Promtool.run(["tsdb", "create-blocks-from", "openmetrics", file, "\(place.path)/data"])
        #expect(said.contains { $0.hasPrefix("BLOCK") }, "\(said)")
    }

    @Test(.enabled(if: Promtool.hasLibrary, libraryRequirement))
    func `both formats say the same to the Python client`() throws {
        let script = """
            import sys
            from prometheus_client import parser
            from prometheus_client.openmetrics import parser as openmetrics

            def read(families):
                return {(s.name, tuple(sorted(s.labels.items()))): s.value for f in families for s in f.samples}

            def text(path):
                with open(path, encoding="utf-8", newline="") as file: return file.read()

            old = read(parser.text_string_to_metric_families(text(sys.argv[1])))
            families = list(openmetrics.text_string_to_metric_families(text(sys.argv[2])))
            new = read(families)
            assert old == new, set(old.items()) ^ set(new.items())
            for family in families:
                exemplars = "exemplars" if any(s.exemplar for s in family.samples) else "-"
                sys.stdout.write(" ".join([family.name, family.type, family.unit or "-", exemplars]) + chr(10))
            """
        func said(_ reading: MetricsReading) throws -> [String] {
            try Promtool.python(script, [reading.text(as: .text), reading.text(as: .openMetrics)])
        }
        #expect(
            try said(.example) == [
                "pintle_exchanges counter - -",
                "pintle_exchange_duration_seconds histogram seconds exemplars",
                "pintle_active_exchanges gauge - -",
                "pintle_bytes counter bytes -",
                "pintle_violations counter - -",
                "pintle_pin_evaluations counter - -",
                "pintle_cache_events counter - -",
                "pintle_simulated counter - -",
                "pintle_recordings_lost counter - -",
                "pintle_upstream_connections gauge - -",
                "pintle_client_process_searches counter - -",
                "pintle_questions counter - -",
                "pintle_questions_waiting gauge - -",
                "pintle_certificate_expiry_seconds gauge seconds -",
                "pintle_config info - -",
                "pintle_config_last_reload_successful gauge - -",
                "pintle_config_last_reload_success_timestamp_seconds gauge seconds -",
                "pintle_list_updated_timestamp_seconds gauge seconds -",
                "pintle_build info - -",
            ])
        #expect(try said(self.hostileReading).count == MetricFamily.allCases.count)
    }
}
