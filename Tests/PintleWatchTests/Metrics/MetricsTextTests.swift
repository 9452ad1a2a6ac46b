// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import Testing

@testable import PintleWatch

@Suite struct MetricsTextTests {
    /// A small reading: one route with one exchange.
    private var small: MetricsReading {
        let metrics = ExchangeMetrics()
        metrics.count(.example("a-7", milliseconds: 1500))
        var reading = MetricsReading()
        reading.exchanges = metrics.snapshot()
        reading.certificates = [.init(trust: "pay", host: "a.example:443", secondsLeft: 86_400)]
        reading.revision = "4f2a"
        reading.reload = .init(isSuccessful: false, lastSuccess: Timestamp(milliseconds: 1_767_225_600_250))
        return reading
    }

    private func lines(_ reading: MetricsReading, _ format: MetricsFormat, of name: String) -> [String] {
        reading.text(as: format).split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
    }

    @Test func `the text format 0.0.4`() {
        #expect(
            self.small.text(as: .text) == """
                # HELP pintle_exchanges_total Exchanges that have ended, by the status for the client.
                # TYPE pintle_exchanges_total counter
                pintle_exchanges_total{route="api",method="GET",status="200"} 1
                # HELP pintle_exchange_duration_seconds Time from the first byte of a request to the end of its exchange; a tunnel lasts while open.
                # TYPE pintle_exchange_duration_seconds histogram
                pintle_exchange_duration_seconds_bucket{route="api",le="0.005"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.01"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.025"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.05"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.075"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.1"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.25"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.5"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="0.75"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="1.0"} 0
                pintle_exchange_duration_seconds_bucket{route="api",le="2.5"} 1
                pintle_exchange_duration_seconds_bucket{route="api",le="5.0"} 1
                pintle_exchange_duration_seconds_bucket{route="api",le="7.5"} 1
                pintle_exchange_duration_seconds_bucket{route="api",le="10.0"} 1
                pintle_exchange_duration_seconds_bucket{route="api",le="+Inf"} 1
                pintle_exchange_duration_seconds_sum{route="api"} 1.5
                pintle_exchange_duration_seconds_count{route="api"} 1
                # HELP pintle_certificate_expiry_seconds Seconds until the certificate expires; negative afterwards.
                # TYPE pintle_certificate_expiry_seconds gauge
                pintle_certificate_expiry_seconds{trust="pay",host="a.example:443"} 86400
                # HELP pintle_config_info The configuration in force.
                # TYPE pintle_config_info gauge
                pintle_config_info{revision="4f2a"} 1
                # HELP pintle_config_last_reload_successful 1 if the last reload took effect; 0 if it failed and the configuration before is in force.
                # TYPE pintle_config_last_reload_successful gauge
                pintle_config_last_reload_successful 0
                # HELP pintle_config_last_reload_success_timestamp_seconds Time of the last reload that took effect, or of the start.
                # TYPE pintle_config_last_reload_success_timestamp_seconds gauge
                pintle_config_last_reload_success_timestamp_seconds 1767225600.25

                """)
    }

    @Test func `OpenMetrics 1.0.0 differs in names, types, units, exemplars and the end`() {
        let common = Set(self.small.text(as: .text).split(separator: "\n"))
        let others = self.small.text(as: .openMetrics).split(separator: "\n").filter { !common.contains($0) }
        #expect(
            others == [
                "# HELP pintle_exchanges Exchanges that have ended, by the status for the client.",
                "# TYPE pintle_exchanges counter",
                "# UNIT pintle_exchange_duration_seconds seconds",
                "pintle_exchange_duration_seconds_bucket{route=\"api\",le=\"2.5\"} 1 # {exchange_id=\"a-7\"} 1.5 1767225601.5",
                "# UNIT pintle_certificate_expiry_seconds seconds",
                "# HELP pintle_config The configuration in force.",
                "# TYPE pintle_config info",
                "# UNIT pintle_config_last_reload_success_timestamp_seconds seconds",
                "# EOF",
            ])
    }

    @Test func `nothing is told of what is unknown`() {
        #expect(MetricsReading().text(as: .text) == "")
        #expect(MetricsReading().text(as: .openMetrics) == "# EOF\n")
    }

    @Test(arguments: MetricsFormat.allCases)
    func `each family is there once, in one piece`(format: MetricsFormat) {
        let text = MetricsReading.example.text(as: format)
        let types = text.matches(of: /# TYPE (\S+)/).map { String($0.output.1) }
        #expect(types.count == MetricFamily.allCases.count && Set(types).count == types.count)
        #expect(MetricsFiles.names(in: text).isSuperset(of: MetricsFiles.samples))
        for family in MetricFamily.allCases {
            #expect(family.unit.map { family.rawValue.hasSuffix("_\($0)") } ?? true)
            #expect(!family.help.contains { "\\\"\n".contains($0) }, "the formats escape these differently")
        }
    }

    @Test(arguments: [
        ("\"", #"\""#), ("\\", #"\\"#), ("a\nb", #"a\nb"#), (#"\n"#, #"\\n"#), ("\r\n", "\r\\n"), ("\0", "\0"),
        ("} 1\n# EOF", #"} 1\n# EOF"#), ("e\u{301}🦀\u{202E}", "e\u{301}🦀\u{202E}"),
        ("\u{2028}\u{85}", "\u{2028}\u{85}"),
        ("", ""),
    ])
    func `a value of a label cannot leave its quotation marks`(value: String, written: String) {
        var reading = MetricsReading()
        reading.revision = value
        for format in MetricsFormat.allCases {
            let expected = "pintle_config_info{revision=\"\(written)\"} 1\n"
            #expect(
                reading.text(as: format).utf8.split(separator: 10).count { $0.starts(with: expected.utf8.dropLast()) }
                    == 1)
        }
    }

    @Test func `counters of a route are there before its first exchange`() {
        var reading = MetricsReading()
        reading.counters = Counters(routes: ["api"]).snapshot()
        #expect(self.lines(reading, .text, of: "pintle_violations_total").count == 2 * ViolationKind.allCases.count)
        #expect(
            self.lines(reading, .text, of: "pintle_bytes_total") == [
                #"pintle_bytes_total{route="api",direction="up"} 0"#,
                #"pintle_bytes_total{route="api",direction="down"} 0"#,
                #"pintle_bytes_total{route="-",direction="up"} 0"#,
                #"pintle_bytes_total{route="-",direction="down"} 0"#,
            ])
        #expect(self.lines(reading, .text, of: "pintle_exchanges_total").isEmpty)
    }

    @Test func `each answer to questions is counted, also before the first`() {
        var reading = MetricsReading()
        let counters = Counters(routes: [])
        func answers() -> [String] {
            reading.counters = counters.snapshot()
            return self.lines(reading, .text, of: "pintle_questions").map { String($0.dropFirst(17)) }
        }
        #expect(
            answers() == [
                #"total{answer="once"} 0"#, #"total{answer="run"} 0"#, #"total{answer="denied"} 0"#,
                #"total{answer="expired"} 0"#, #"total{answer="withdrawn"} 0"#, "waiting 0",
            ])
        var questions = QuestionCounts()
        questions.waiting = 3
        questions.close(as: .run)
        for _ in 0..<2 { questions.close(as: .expired) }
        counters.questions.set(questions)
        #expect(
            answers() == [
                #"total{answer="once"} 0"#, #"total{answer="run"} 1"#, #"total{answer="denied"} 0"#,
                #"total{answer="expired"} 2"#, #"total{answer="withdrawn"} 0"#, "waiting 3",
            ])
    }

    @Test func `of the certificates of one host the first to expire counts`() {
        var reading = MetricsReading()
        reading.certificates = [
            .init(trust: "b", host: "x", secondsLeft: 3), .init(trust: "a", host: "x", secondsLeft: 9),
            .init(trust: "a", host: "x", secondsLeft: -2),
        ]
        #expect(
            self.lines(reading, .text, of: "pintle_certificate") == [
                #"pintle_certificate_expiry_seconds{trust="a",host="x"} -2"#,
                #"pintle_certificate_expiry_seconds{trust="b",host="x"} 3"#,
            ])
    }

    @Test(arguments: [
        (Duration.zero, "0.0"), (.milliseconds(5), "0.005"), (.seconds(10), "10.0"), (.nanoseconds(1), "0.000000001"),
        (.nanoseconds(1_500_000_000), "1.5"), (.seconds(1 << 40), "1099511627776.0"), (.milliseconds(-1250), "-1.25"),
        (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), "0.0"),
    ])
    func `durations are written in seconds without an exponent`(duration: Duration, text: String) {
        #expect(duration.secondsText == text)
    }
}
