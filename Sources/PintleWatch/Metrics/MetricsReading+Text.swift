// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

extension MetricsReading {
    /// Returns the metrics in a text format. Their order depends on the values alone.
    package func text(as format: MetricsFormat) -> String {
        var text = MetricsText(format)
        for family in MetricFamily.allCases {
            if family == .exchangeDuration {
                text.write(family, self.durations)
            } else {
                text.write(family, self.samples(of: family))
            }
        }
        return text.finish()
    }

    private func samples(of family: MetricFamily) -> [MetricsText.Sample] {
        switch family {
        case .exchanges: self.exchangeSamples
        case .exchangeDuration: preconditionFailure("BUG: a histogram has no plain samples")
        case .activeExchanges: self.byRoute { [([], $0.active)] }
        case .bytes: self.byRoute { [(["up"], $0.bytesUp), (["down"], $0.bytesDown)] }
        case .violations:
            self.byRoute { counts in ViolationKind.allCases.map { ([$0.rawValue], counts.violations[$0]) } }
        case .pinEvaluations: self.pinSamples
        case .cacheEvents: self.cacheSamples
        case .simulated: self.simulationSamples
        case .recordingsLost: self.byRoute { [([], $0.recordingsLost)] }
        case .upstreamConnections:
            ConnectionState.allCases.compactMap { state in
                self.upstreamConnections[state].map { ([state.rawValue], "\($0)") }
            }
        case .processSearches:
            ProcessSearchOutcome.allCases.compactMap { outcome in
                self.processSearches[outcome].map { ([outcome.rawValue], "\($0)") }
            }
        case .questions: self.questionSamples
        case .questionsWaiting: self.counters.map { [([], "\($0.questions.waiting)")] } ?? []
        case .certificateExpiry: self.certificateSamples
        case .configuration: self.revision.map { [([$0], "1")] } ?? []
        case .lastReloadSuccessful: self.reload.map { [([], $0.isSuccessful ? "1" : "0")] } ?? []
        case .lastReloadSuccess:
            self.reload.map { [([], Self.seconds($0.lastSuccess))] } ?? []
        case .listUpdated: self.lists.sorted { $0.key < $1.key }.map { ([$0.key], Self.seconds($0.value)) }
        case .build: self.version.map { [([$0], "1")] } ?? []
        }
    }

    private static func seconds(_ time: Timestamp) -> String { Duration.milliseconds(time.milliseconds).secondsText }

    private var durations: [(labels: [String], value: DurationHistogram)] {
        (self.exchanges?.routes ?? [:]).sorted { $0.key < $1.key }.map { ([$0.key], $0.value.durations) }
    }

    private var exchangeSamples: [MetricsText.Sample] {
        (self.exchanges?.routes ?? [:]).sorted { $0.key < $1.key }.flatMap { name, route in
            route.counts.sorted { ($0.key.method, $0.key.status) < ($1.key.method, $1.key.status) }.map {
                ([name, $0.key.method.name, $0.key.status.description], "\($0.value)")
            }
        }
    }

    private var pinSamples: [MetricsText.Sample] {
        (self.exchanges?.pins ?? [:]).sorted { $0.key < $1.key }.flatMap { trust, pins in
            [([trust, "match"], "\(pins.matches)"), ([trust, "mismatch"], "\(pins.mismatches)")]
        }
    }

    private var cacheSamples: [MetricsText.Sample] {
        guard let overall = self.counters?.overall else { return [] }
        return [("hit", overall.cacheHits), ("miss", overall.cacheMisses), ("coalesced", overall.coalesced)].map {
            ([$0.0], "\($0.1)")
        }
    }

    private var simulationSamples: [MetricsText.Sample] {
        guard let overall = self.counters?.overall else { return [] }
        let counts: [(Simulation, Int)] = [
            (.recording, overall.recordings), (.mock, overall.mocks), (.fault, overall.faults),
        ]
        return counts.map { ([$0.0.rawValue], "\($0.1)") }
    }

    private var questionSamples: [MetricsText.Sample] {
        guard let questions = self.counters?.questions else { return [] }
        return QuestionEnd.allCases.map { ([$0.rawValue], "\(questions[end: $0])") }
    }

    private var certificateSamples: [MetricsText.Sample] {
        var first: [[String]: Int] = [:]
        for certificate in self.certificates {
            let labels = [certificate.trust, certificate.host]
            first[labels] = min(first[labels] ?? .max, certificate.secondsLeft)
        }
        return first.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, "\($0.value)") }
    }

    /// Numbers that routes have at all times, also before their first exchange.
    private func byRoute(_ numbers: (Counts) -> [(labels: [String], value: Int)]) -> [MetricsText.Sample] {
        (self.counters?.routes ?? []).flatMap { route in
            numbers(route.counts).map { ([route.name] + $0.labels, "\($0.value)") }
        }
    }
}
