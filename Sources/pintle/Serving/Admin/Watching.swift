// SPDX-License-Identifier: Apache-2.0

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
        self.recent = RecentExchanges(metrics: metrics)
    }

    /// The metrics of all exchanges that have ended.
    func snapshot() -> ExchangeMetrics.Snapshot {
        self.recent.countAll()
        return self.metrics.snapshot()
    }
}
