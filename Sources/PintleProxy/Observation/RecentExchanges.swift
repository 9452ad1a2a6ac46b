// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleSystem

/// An exchange that is kept with its record.
package final class KeptRecord: Sendable {
    let observed: ObservedExchange

    package init(_ observed: ObservedExchange) { self.observed = observed }
}

/// The latest exchanges, for people who look at them afterwards. The oldest are forgotten first.
package final class RecentExchanges: EndSink {
    /// An exchange with its place in the order in which exchanges ended.
    package struct Kept: Sendable {
        fileprivate enum Content: Sendable {
            case ended(EndedExchange)
            case record(KeptRecord)
        }

        /// From 1, without gaps.
        package let number: UInt64
        fileprivate let content: Content

        /// The exchange with its record, which is made at each call.
        package var exchange: ObservedExchange {
            switch self.content {
            case .ended(let ended): ended.observed
            case .record(let record): record.observed
            }
        }
    }

    /// The state of the memory.
    package struct Usage: Sendable {
        package var exchanges = 0
        /// Without the bodies.
        package var bytes = 0
        /// The number of exchanges that were kept, and are forgotten.
        package var forgotten: UInt64 = 0
    }

    private enum Place: Sendable {
        case memory(Int)
        case record(KeptRecord)
    }

    /// The last references to the parts of an exchange that is forgotten.
    private enum Rest: Sendable {
        case facts(EndedFacts)
        case record(KeptRecord)
    }

    private struct State: Sendable {
        var kept: CircularBuffer<Place> = []
        var usage = Usage()
        let memory: ExchangeMemory

        mutating func forgetOldest() -> Rest? {
            guard let oldest = self.kept.popFirst() else { return nil }
            self.usage.exchanges -= 1
            self.usage.forgotten += 1
            switch oldest {
            case .memory(let place):
                let (facts, size) = self.memory.removeFirst(at: place)
                self.usage.bytes -= size + (facts.extras?.size ?? 0)
                return .facts(facts)
            case .record(let record):
                self.usage.bytes -= record.observed.size
                return .record(record)
            }
        }

        mutating func add(_ place: Place, _ size: Int) {
            self.kept.append(place)
            self.usage.exchanges += 1
            self.usage.bytes += size
        }
    }

    /// The most exchanges.
    package let mostExchanges: Int
    /// The most memory in bytes.
    package let mostBytes: Int
    private let state: Locked<State>

    /// The most exchanges that ``numbers(_:)`` returns; event loops wait for the same lock while these are copied.
    package static let mostAtOnce = 128
    /// The most exchanges whose ids are compared at a time.
    private static let mostCompared = 4096

    package init(exchanges: Int = 50_000, bytes: Int = 80 << 20) {
        (self.mostExchanges, self.mostBytes) = (exchanges, bytes)
        self.state = Locked(State(memory: ExchangeMemory(capacity: bytes)))
    }

    deinit { self.state.withLock { while $0.forgetOldest() != nil {} } }

    package func take(_ ended: EndedExchange) {
        let arrival = ExchangeMemory.Arrival(ended)
        let size = arrival.size + (ended.facts.extras?.size ?? 0)
        // It would push all others out, and have no room then.
        guard size <= self.mostBytes else { return }
        // Released outside of the lock.
        var gone: [Rest] = []
        self.state.withLock { state in
            self.makeRoom(for: size, in: &state, &gone)
            while true {
                if let place = state.memory.put(arrival) { return state.add(.memory(place), size) }
                guard let oldest = state.forgetOldest() else {
                    // The system has no memory for it.
                    state.usage.forgotten += 1
                    return
                }
                gone.append(oldest)
            }
        }
    }

    /// Keeps an exchange with its record.
    package func keep(_ record: KeptRecord) {
        let size = record.observed.size
        var gone: [Rest] = []
        self.state.withLock { state in
            self.makeRoom(for: size, in: &state, &gone)
            state.add(.record(record), size)
        }
    }

    private func makeRoom(for size: Int, in state: inout State, _ gone: inout [Rest]) {
        while state.usage.exchanges >= self.mostExchanges || state.usage.bytes + size > self.mostBytes,
            let oldest = state.forgetOldest()
        {
            gone.append(oldest)
        }
    }

    package var usage: Usage { self.state.withLock { $0.usage } }

    /// The numbers of the kept exchanges.
    package var numbers: Range<UInt64> { self.state.withLock { Self.numbers(in: $0) } }

    private static func numbers(in state: State) -> Range<UInt64> {
        let first = state.usage.forgotten + 1
        return first..<first + UInt64(state.usage.exchanges)
    }

    /// The exchanges with these numbers that are still kept, the oldest first.
    ///
    /// - Parameter numbers: at most ``mostAtOnce``.
    package func numbers(_ numbers: Range<UInt64>) -> [Kept] {
        precondition(numbers.count <= Self.mostAtOnce, "BUG: event loops wait while many exchanges are read")
        return self.state.withLock { state in
            let all = Self.numbers(in: state)
            return numbers.clamped(to: all).map { number in
                switch state.kept[offset: Int(number - all.lowerBound)] {
                case .memory(let place): Kept(number: number, content: .ended(state.memory.exchange(at: place)))
                case .record(let record): Kept(number: number, content: .record(record))
                }
            }
        }
    }

    /// The exchange with an id; nil if it is not kept.
    package func find(id: String) -> Kept? {
        let known = ExchangeID(id)
        var end = self.numbers.upperBound
        while true {
            let (number, start) = self.state.withLock { state in
                let all = Self.numbers(in: state)
                let start = max(all.lowerBound, end - min(end, UInt64(Self.mostCompared)))
                let found = (start..<max(start, end)).last { number in
                    switch state.kept[offset: Int(number - all.lowerBound)] {
                    case .memory(let place): known.map { state.memory.id(at: place) == $0 } ?? false
                    case .record(let record): record.observed.record.id == id
                    }
                }
                return (found, start)
            }
            if let number { return self.numbers(number..<number + 1).first }
            guard start < end else { return nil }
            end = start
        }
    }
}

extension CircularBuffer {
    fileprivate subscript(offset offset: Int) -> Element { self[self.index(self.startIndex, offsetBy: offset)] }
}
