// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleWatch

/// The parts that gather exchanges for the admin endpoint.
struct Watching {
    let recent = RecentExchanges()
    let metrics: ExchangeMetrics

    init(_ policy: Policy) { self.metrics = ExchangeMetrics(trusts: policy.namesOfPinningTrusts) }

    var keepers: [any EndSink] { [self.recent, self] }
}

extension Watching: EndSink {
    func take(_ ended: EndedExchange) {
        var facts = ExchangeMetrics.Facts(end: ended.moment)
        (facts.route, facts.method, facts.status) = (ended.route, ended.method, ended.status.map(Int.init))
        (facts.duration, facts.trust) = (ended.duration, ended.trust)
        (facts.matchesPin, facts.mismatchesPin) = (ended.matchesPin, ended.violations.contains(.pinMismatch))
        self.metrics.count(facts) { ended.name }
    }
}
