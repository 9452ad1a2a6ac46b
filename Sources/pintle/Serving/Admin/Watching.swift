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

    var keepers: [any EndSink] { [self.recent, self] }
}

extension Watching: EndSink {
    func take(_ ended: EndedExchange) {
        self.metrics.count(
            ExchangeMetrics.Facts(
                route: ended.counters, method: ended.method, status: ended.status, duration: ended.duration,
                end: ended.moment)
        ) { ended.name }
        // Otherwise pins have not decided: the trust policy has none, or nothing was verified.
        let isMismatch = !ended.violations.isEmpty && ended.violations.contains(.pinMismatch)
        if isMismatch || ended.matchesPin, let trust = ended.trust {
            self.metrics.countPins(of: trust, isMismatch: isMismatch)
        }
    }
}
