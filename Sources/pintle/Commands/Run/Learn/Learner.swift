// SPDX-License-Identifier: Apache-2.0

internal import PintleProxy
internal import PintleSystem

/// Learns from the exchanges of a run, on another thread, because bodies must be read.
final class Learner: Sendable {
    private struct Queue: Sendable {
        var waiting: [ObservedExchange] = []
        var isServed = false
        var missed = 0
    }

    /// The maximum number of waiting exchanges, which take some kilobytes each besides their bodies.
    private static let mostWaiting = 20_000

    private let queue = Locked(Queue())
    private let traffic = Locked(LearnedTraffic())

    /// An observer that passes exchanges to this learner.
    var observer: ExchangeObserver { ExchangeObserver { self.take($0) } }

    private func take(_ exchange: ObservedExchange) {
        let begins = self.queue.withLock { queue in
            guard queue.waiting.count < Self.mostWaiting else {
                queue.missed += 1
                return false
            }
            queue.waiting.append(exchange)
            defer { queue.isServed = true }
            return !queue.isServed
        }
        guard begins else { return }
        do throws(SystemError) {
            try ThreadPool.shared.run { self.serve() }
        } catch {
            // No thread can be created now. The next exchange tries again, and `finish` processes those that are left.
            self.queue.withLock { $0.isServed = false }
        }
    }

    private func next() -> [ObservedExchange] {
        self.queue.withLock { queue in
            defer { queue.waiting = [] }
            if queue.waiting.isEmpty { queue.isServed = false }
            return queue.waiting
        }
    }

    private func serve() {
        self.traffic.withLock { traffic in
            while true {
                let exchanges = self.next()
                if exchanges.isEmpty { return }
                for exchange in exchanges { traffic.note(exchange) }
            }
        }
    }

    /// Returns everything that was learnt, after the last exchange. May take a while.
    func finish() -> LearnedTraffic {
        self.serve()
        let missed = self.queue.withLock { $0.missed }
        return self.traffic.withLock { traffic in
            traffic.missed = missed
            return traffic
        }
    }
}
