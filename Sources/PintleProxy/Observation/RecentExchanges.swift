// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleSystem

/// An exchange in the form in which it is kept, with or without its record.
package protocol KeepableExchange: AnyObject, Sendable {
    /// The id in problems and logs.
    var name: String { get }
    /// The bytes in memory; an estimate.
    var size: Int { get }
    /// The exchange with its record.
    var observed: ObservedExchange { get }
}

/// An exchange that is kept with its record.
package final class KeptRecord: KeepableExchange {
    package let observed: ObservedExchange

    package init(_ observed: ObservedExchange) { self.observed = observed }

    package var name: String { self.observed.record.id }
    package var size: Int { self.observed.size }
}

/// The latest exchanges, for people who look at them afterwards. The oldest are forgotten first.
package final class RecentExchanges: EndSink {
    /// An exchange with its place in the order in which exchanges ended.
    package struct Kept: Sendable {
        /// From 1, without gaps.
        package let number: UInt64
        fileprivate let content: any KeepableExchange

        /// The exchange with its record, which is made at each call.
        package var exchange: ObservedExchange { self.content.observed }
    }

    /// The state of the memory.
    package struct Usage: Sendable {
        package var exchanges = 0
        /// An estimate.
        package var bytes = 0
        /// The number of exchanges that were kept, and are forgotten.
        package var forgotten: UInt64 = 0
    }

    private struct State: Sendable {
        var kept: CircularBuffer<any KeepableExchange> = []
        var usage = Usage()

        mutating func forgetOldest() -> (any KeepableExchange)? {
            guard let oldest = self.kept.popFirst() else { return nil }
            self.usage.exchanges -= 1
            self.usage.bytes -= oldest.size
            self.usage.forgotten += 1
            return oldest
        }
    }

    /// The most exchanges.
    package let mostExchanges: Int
    /// The most memory in bytes; an estimate.
    package let mostBytes: Int
    private let state = Locked(State())

    /// The most exchanges that ``numbers(_:)`` returns; event loops wait for the same lock.
    package static let mostAtOnce = 512

    package init(exchanges: Int = 50_000, bytes: Int = 80 << 20) {
        (self.mostExchanges, self.mostBytes) = (exchanges, bytes)
    }

    package func take(_ ended: EndedExchange) { self.keep(ended) }

    package func keep(_ exchange: any KeepableExchange) {
        let size = exchange.size
        // Released outside of the lock.
        var gone: [any KeepableExchange] = []
        self.state.withLock { state in
            while state.usage.exchanges >= self.mostExchanges || state.usage.bytes + size > self.mostBytes {
                guard let oldest = state.forgetOldest() else { break }
                gone.append(oldest)
            }
            state.kept.append(exchange)
            state.usage.exchanges += 1
            state.usage.bytes += size
        }
    }

    package var usage: Usage { self.state.withLock { $0.usage } }

    /// The numbers of the kept exchanges.
    package var numbers: Range<UInt64> {
        self.state.withLock { state in
            let first = state.usage.forgotten + 1
            return first..<first + UInt64(state.usage.exchanges)
        }
    }

    /// The exchanges with these numbers that are still kept, the oldest first.
    ///
    /// - Parameter numbers: at most ``mostAtOnce``.
    package func numbers(_ numbers: Range<UInt64>) -> [Kept] {
        precondition(numbers.count <= Self.mostAtOnce, "BUG: event loops wait while many exchanges are read")
        return self.state.withLock { state in
            let first = state.usage.forgotten + 1
            let wanted = numbers.clamped(to: first..<first + UInt64(state.usage.exchanges))
            return wanted.map { Kept(number: $0, content: state.kept[offset: Int($0 - first)]) }
        }
    }

    /// The exchange with an id; nil if it is not kept.
    package func find(id: String) -> Kept? {
        var end = self.numbers.upperBound
        while true {
            let start = max(self.numbers.lowerBound, end - min(end, UInt64(Self.mostAtOnce)))
            guard start < end else { return nil }
            if let found = self.numbers(start..<end).last(where: { $0.content.name == id }) { return found }
            end = start
        }
    }
}

extension CircularBuffer {
    fileprivate subscript(offset offset: Int) -> Element { self[self.index(self.startIndex, offsetBy: offset)] }
}
