// SPDX-License-Identifier: Apache-2.0

internal import PintleProxy
internal import PintleSystem

/// A sink whose work takes time: another thread does it, in the order in which exchanges end.
final class DeferredSink<Result: Sendable>: ExchangeSink {
    private struct Queue: Sendable {
        var waiting: [ObservedExchange] = []
        var isServed = false
        var missed = 0
    }

    /// The maximum number of waiting exchanges, which take some kilobytes each besides their bodies.
    private var mostWaiting: Int { 20_000 }

    let wants: SinkWants
    private let queue = Locked(Queue())
    private let result: Locked<Result>
    private let note: @Sendable (inout Result, ObservedExchange) -> Void

    /// - Parameters:
    ///   - result: the result without any exchange.
    ///   - wants: the parts that `note` uses, besides records.
    ///   - note: adds one exchange.
    init(
        _ result: Result, wants: SinkWants = [],
        note: @escaping @Sendable (inout Result, ObservedExchange) -> Void
    ) {
        (self.result, self.note, self.wants) = (Locked(result), note, wants.union(.records))
    }

    func take(_ exchange: ObservedExchange) {
        let begins = self.queue.withLock { queue in
            guard queue.waiting.count < self.mostWaiting else {
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
        self.result.withLock { result in
            while true {
                let exchanges = self.next()
                if exchanges.isEmpty { return }
                for exchange in exchanges { self.note(&result, exchange) }
            }
        }
    }

    /// Returns the result, after the last exchange, and the number of exchanges that are missing in it because they came too
    /// fast. May take a while.
    func finish() -> (result: Result, missed: Int) {
        self.serve()
        return (self.result.withLock { $0 }, self.queue.withLock { $0.missed })
    }
}
