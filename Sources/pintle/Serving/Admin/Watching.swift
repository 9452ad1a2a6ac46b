// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleWatch

/// The exchanges that an admin endpoint shows, and their metrics.
struct Watching: Sendable {
    let recent: RecentExchanges
    let metrics: ExchangeMetrics

    init(_ policy: Policy) {
        let metrics = ExchangeMetrics(trusts: policy.namesOfPinningTrusts)
        self.metrics = metrics
        self.recent = RecentExchanges { exchanges in
            for exchange in exchanges { metrics.count(exchange) }
        }
    }

    /// The metrics of all exchanges that have ended.
    func snapshot() -> ExchangeMetrics.Snapshot {
        self.recent.countAll()
        return self.metrics.snapshot()
    }
}

extension ExchangeMetrics {
    fileprivate func count(_ exchange: CountedExchange) {
        let facts = Facts(
            route: exchange.route, method: exchange.method, status: exchange.status, nanoseconds: exchange.nanoseconds,
            end: exchange.end)
        self.count(facts) { exchange.name }
        if let trust = exchange.trust { self.countPins(of: trust.name, isMismatch: trust.isMismatch) }
    }
}
