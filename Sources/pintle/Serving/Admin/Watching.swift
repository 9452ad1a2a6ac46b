// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleWatch

/// The parts that gather exchanges for the admin endpoint.
final class Watching {
    let recent = RecentExchanges()
    let metrics: ExchangeMetrics

    init(_ policy: Policy) { self.metrics = ExchangeMetrics(trusts: policy.namesOfPinningTrusts) }
}

extension Watching: EndSink {
    func take(_ end: borrowing ExchangeEnd) {
        self.recent.take(end)
        self.metrics.count(
            ExchangeMetrics.Facts(
                route: end.counters, method: end.method, status: end.status, nanoseconds: end.nanoseconds,
                end: end.moment)
        ) { end.name }
        // Otherwise pins have not decided: the trust policy has none, or nothing was verified.
        let isMismatch = !end.violations.isEmpty && end.violations.contains(.pinMismatch)
        if isMismatch || end.matchesPin, let trust = end.trust {
            self.metrics.countPins(of: trust, isMismatch: isMismatch)
        }
    }
}
