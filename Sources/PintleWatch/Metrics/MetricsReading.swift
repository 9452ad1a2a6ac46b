// SPDX-License-Identifier: Apache-2.0

package import PintleActivity

/// All that metrics tell at one moment. A part that is nil, or empty, is unknown and left out of the text.
package struct MetricsReading: Sendable {
    /// The state of a connection to an origin or an upstream proxy.
    package enum ConnectionState: String, CaseIterable, Sendable {
        /// It is being made.
        case connecting
        /// It carries at least one exchange, or a tunnel.
        case active
        /// It is kept for the next exchange.
        case idle
    }

    /// The outcome of the search for the process of a client's connection.
    package enum ProcessSearchOutcome: String, CaseIterable, Sendable {
        case found
        /// The process had ended, or this user may not look into it.
        case missing
        /// Too many searches came at a time.
        case dropped
    }

    /// The end of a certificate's validity.
    package struct CertificateExpiry: Hashable, Sendable {
        /// The name of the trust policy.
        package var trust: String
        /// The host by its name in the configuration, never by one that a client has asked for.
        package var host: String
        /// Seconds until the first certificate of the chain expires; negative afterwards.
        package var secondsLeft: Int

        package init(trust: String, host: String, secondsLeft: Int) {
            self.trust = trust
            self.host = host
            self.secondsLeft = secondsLeft
        }
    }

    /// The outcome of the last reload. The start counts as one.
    package struct Reload: Hashable, Sendable {
        /// False if the configuration before it is still in force.
        package var isSuccessful: Bool
        /// The time of the last reload that took effect.
        package var lastSuccess: Timestamp

        package init(isSuccessful: Bool, lastSuccess: Timestamp) {
            self.isSuccessful = isSuccessful
            self.lastSuccess = lastSuccess
        }
    }

    /// Exchanges, their durations, and evaluations of pins.
    package var exchanges: ExchangeMetrics.Snapshot?
    /// Active exchanges, bytes and violations by route, the events of the cache, and questions about destinations.
    package var counters: Counters.Snapshot?
    /// The numbers of connections. States without an entry are left out.
    package var upstreamConnections: [ConnectionState: Int] = [:]
    /// The searches for processes of clients. Outcomes without an entry are left out.
    package var processSearches: [ProcessSearchOutcome: Int] = [:]
    /// If a host has several under one trust policy, the first to expire counts.
    package var certificates: [CertificateExpiry] = []
    /// The revision of the configuration in force.
    package var revision: String?
    /// The outcome of the last reload.
    package var reload: Reload?
    /// The times at which the servers of lists of hosts last sent or confirmed their texts, by the names of the lists.
    package var lists: [String: Timestamp] = [:]
    /// The version of the program.
    package var version: String?

    /// Creates a reading that knows nothing.
    package init() {}
}
