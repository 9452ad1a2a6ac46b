// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
package import PintleSystem
import Synchronization

/// Passes exchanges on to followers as they end. Without followers it costs an exchange nothing.
package final class ExchangeFeed: ExchangeSink {
    /// The most exchanges and bytes that wait for one follower.
    private static let (mostExchanges, mostBytes) = (4096, 8 << 20)

    private let followers = Locked<[BoundedMailbox<ObservedExchange>]>([])
    private let count = Atomic<Int>(0)

    package init() {}

    package var wants: SinkWants {
        self.count.load(ordering: .relaxed) > 0 ? [.records, .fields, .processes] : []
    }

    /// Begins to keep exchanges for a follower, until ``end(_:)``. A follower that is slow loses some.
    package func follow() throws(SystemError) -> BoundedMailbox<ObservedExchange> {
        let follower = try BoundedMailbox<ObservedExchange>(elements: Self.mostExchanges, bytes: Self.mostBytes)
        self.followers.withLock { $0.append(follower) }
        self.count.add(1, ordering: .relaxed)
        return follower
    }

    package func end(_ follower: BoundedMailbox<ObservedExchange>) {
        self.followers.withLock { $0.removeAll { $0 === follower } }
        self.count.subtract(1, ordering: .relaxed)
    }

    package func take(_ exchange: ObservedExchange) {
        let size = exchange.size
        for follower in self.followers.withLock({ $0 }) { follower.put(exchange, bytes: size) }
    }
}
