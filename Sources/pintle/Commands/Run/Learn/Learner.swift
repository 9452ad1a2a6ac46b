// SPDX-License-Identifier: Apache-2.0

internal import PintleProxy

/// Learns from the exchanges of a run, on another thread, because bodies must be read.
struct Learner: Sendable {
    private let sink = DeferredSink(LearnedTraffic()) { $0.note($1) }

    /// An observer that passes exchanges to this learner.
    var observer: ExchangeObserver { ExchangeObserver { [sink] in sink.take($0) } }

    /// Returns everything that was learnt, after the last exchange. May take a while.
    func finish() -> LearnedTraffic {
        var (traffic, missed) = self.sink.finish()
        traffic.missed = missed
        return traffic
    }
}
