// SPDX-License-Identifier: Apache-2.0

/// A family of metrics, by the name that OpenMetrics gives it: without the suffix of its samples. In the order of the text.
package enum MetricFamily: String, CaseIterable {
    case exchanges = "pintle_exchanges"
    case exchangeDuration = "pintle_exchange_duration_seconds"
    case activeExchanges = "pintle_active_exchanges"
    case bytes = "pintle_bytes"
    case violations = "pintle_violations"
    case pinEvaluations = "pintle_pin_evaluations"
    case cacheEvents = "pintle_cache_events"
    case simulated = "pintle_simulated"
    case recordingsLost = "pintle_recordings_lost"
    case upstreamConnections = "pintle_upstream_connections"
    case processSearches = "pintle_client_process_searches"
    case questions = "pintle_questions"
    case questionsWaiting = "pintle_questions_waiting"
    case certificateExpiry = "pintle_certificate_expiry_seconds"
    case configuration = "pintle_config"
    case lastReloadSuccessful = "pintle_config_last_reload_successful"
    case lastReloadSuccess = "pintle_config_last_reload_success_timestamp_seconds"
    case listUpdated = "pintle_list_updated_timestamp_seconds"
    case build = "pintle_build"

    /// A type, by its name in OpenMetrics.
    package enum Kind: String {
        case counter, gauge, histogram
        /// A gauge that is always 1 and tells something by its labels. The text format 0.0.4 has no such type.
        case info
    }

    package var kind: Kind {
        switch self {
        case .exchanges, .bytes, .violations, .pinEvaluations, .cacheEvents, .simulated, .recordingsLost,
            .processSearches, .questions:
            .counter
        case .exchangeDuration: .histogram
        case .activeExchanges, .upstreamConnections, .questionsWaiting, .certificateExpiry, .lastReloadSuccessful,
            .lastReloadSuccess, .listUpdated:
            .gauge
        case .configuration, .build: .info
        }
    }

    /// The unit, with which the name ends, if the numbers have one.
    package var unit: String? {
        switch self {
        case .bytes: "bytes"
        case .exchangeDuration, .certificateExpiry, .lastReloadSuccess, .listUpdated: "seconds"
        case .exchanges, .activeExchanges, .violations, .pinEvaluations, .cacheEvents, .simulated, .recordingsLost,
            .upstreamConnections, .processSearches, .questions, .questionsWaiting, .configuration,
            .lastReloadSuccessful, .build:
            nil
        }
    }

    /// The names of the labels, in the order in which the values are given. A histogram's buckets also have `le`.
    package var labels: [String] {
        switch self {
        case .exchanges: ["route", "method", "status"]
        case .exchangeDuration, .activeExchanges, .recordingsLost: ["route"]
        case .bytes: ["route", "direction"]
        case .violations: ["route", "kind"]
        case .pinEvaluations: ["trust", "verdict"]
        case .cacheEvents: ["event"]
        case .simulated: ["kind"]
        case .upstreamConnections: ["state"]
        case .processSearches: ["outcome"]
        case .questions: ["answer"]
        case .certificateExpiry: ["trust", "host"]
        case .configuration: ["revision"]
        case .questionsWaiting, .lastReloadSuccessful, .lastReloadSuccess: []
        case .listUpdated: ["list"]
        case .build: ["version"]
        }
    }

    /// A sentence for people. It has none of the characters that the two formats escape differently.
    package var help: String {
        switch self {
        case .exchanges: "Exchanges that have ended, by the status for the client."
        case .exchangeDuration:
            "Time from the first byte of a request to the end of its exchange; a tunnel lasts while open."
        case .activeExchanges: "Exchanges that have begun and not ended, with open tunnels."
        case .bytes: "Bytes of bodies and tunnels: up to origins, down to clients."
        case .violations: "Violations of contracts and policies, refused or only reported."
        case .pinEvaluations: "Exchanges whose certificates were compared with pins, by the verdict."
        case .cacheEvents: "Requests of routes with a cache or with coalescing, by what became of them."
        case .simulated: "Answers that did not come from an origin, or that a fault changed."
        case .recordingsLost: "Recordings that were to be made, and could not be written."
        case .upstreamConnections: "Connections to origins and upstream proxies."
        case .processSearches: "Searches for the processes of clients on this machine, by the outcome."
        case .questions: "Questions about destinations that were closed, by the answer."
        case .questionsWaiting: "Questions about destinations that wait for an answer."
        case .certificateExpiry: "Seconds until the certificate expires; negative afterwards."
        case .configuration: "The configuration in force."
        case .lastReloadSuccessful:
            "1 if the last reload took effect; 0 if it failed and the configuration before is in force."
        case .lastReloadSuccess: "Time of the last reload that took effect, or of the start."
        case .listUpdated: "Time at which the server of a list of hosts last sent or confirmed its text."
        case .build: "The version of the program."
        }
    }

    /// The names of the samples.
    package var samples: [String] {
        switch self.kind {
        case .counter: ["\(self.rawValue)_total"]
        case .gauge: [self.rawValue]
        case .histogram: ["bucket", "sum", "count"].map { "\(self.rawValue)_\($0)" }
        case .info: ["\(self.rawValue)_info"]
        }
    }
}
