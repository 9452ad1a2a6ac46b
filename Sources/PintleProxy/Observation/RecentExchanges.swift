// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
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

    private struct State: Sendable {
        /// The places of the exchanges in `memory`; nil for one of `records`.
        var places: CircularBuffer<Int?> = []
        let memory: ExchangeMemory
        /// By their numbers.
        var records: [UInt64: KeptRecord] = [:]
        var usage = Usage()

        var numbers: Range<UInt64> {
            let first = self.usage.forgotten + 1
            return first..<first + UInt64(self.usage.exchanges)
        }

        mutating func add(at place: Int?, _ size: Int) {
            self.places.append(place)
            self.usage.exchanges += 1
            self.usage.bytes += size
        }

        /// Takes a place, if need be from the oldest.
        ///
        /// - Returns: nil if there is none even without them.
        mutating func reserve(_ shape: ExchangeMemory.Shape) -> Int? {
            while true {
                if let place = self.memory.reserve(shape) { return place }
                guard self.forgetOldest() else { return nil }
            }
        }

        /// Does nothing if there is none, and returns false.
        mutating func forgetOldest() -> Bool {
            guard let oldest = self.places.popFirst() else { return false }
            if let place = oldest {
                self.usage.bytes -= self.memory.removeFirst(at: place)
            } else if let record = self.records.removeValue(forKey: self.numbers.lowerBound) {
                self.usage.bytes -= record.observed.size
            }
            self.usage.exchanges -= 1
            self.usage.forgotten += 1
            return true
        }

        func exchange(_ number: UInt64) -> Kept {
            if let place = self.places[offset: Int(number - self.numbers.lowerBound)] {
                return Kept(number: number, content: .ended(self.memory.exchange(at: place)))
            }
            guard let record = self.records[number] else { preconditionFailure("BUG: an exchange is nowhere") }
            return Kept(number: number, content: .record(record))
        }

        func isCalled(_ id: String, _ known: ExchangeID?, _ number: UInt64) -> Bool {
            if let place = self.places[offset: Int(number - self.numbers.lowerBound)] {
                return known.map { self.memory.id(at: place) == $0 } ?? false
            }
            return self.records[number]?.observed.record.id == id
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

    deinit { self.state.withLock { while $0.forgetOldest() {} } }

    package func take(_ end: borrowing ExchangeEnd) {
        let head = end.report.request.head
        self.take(head.target, head.fields, end.report.facts.responseFields, end.extras) { EndedFacts(end) }
    }

    /// - Parameter facts: makes the facts in their place, as a copy would retain all their parts; called at most once.
    func take(
        _ target: RequestTarget, _ request: Fields, _ response: Fields, _ extras: EndedExtras?,
        facts: () -> EndedFacts
    ) {
        let shape = ExchangeMemory.Shape(target, request, response)
        let size = ExchangeMemory.size(of: shape) + (extras?.size ?? 0)
        // It would push all others out, and have no room then.
        guard size <= self.mostBytes else { return }
        self.state.withLock { state in
            self.makeRoom(for: size, in: &state)
            // The system has no memory for it.
            guard let place = state.reserve(shape) else { return state.usage.forgotten += 1 }
            state.memory.fill(place, shape, facts(), target, request, response)
            state.add(at: place, size)
        }
    }

    /// Keeps an exchange with its record.
    package func keep(_ record: KeptRecord) {
        let size = record.observed.size
        self.state.withLock { state in
            self.makeRoom(for: size, in: &state)
            state.records[state.numbers.upperBound] = record
            state.add(at: nil, size)
        }
    }

    private func makeRoom(for size: Int, in state: inout State) {
        while state.usage.exchanges >= self.mostExchanges || state.usage.bytes + size > self.mostBytes,
            state.forgetOldest()
        {}
    }

    package var usage: Usage { self.state.withLock { $0.usage } }

    /// The numbers of the kept exchanges.
    package var numbers: Range<UInt64> { self.state.withLock { $0.numbers } }

    /// The exchanges with these numbers that are still kept, the oldest first.
    ///
    /// - Parameter numbers: at most ``mostAtOnce``.
    package func numbers(_ numbers: Range<UInt64>) -> [Kept] {
        precondition(numbers.count <= Self.mostAtOnce, "BUG: event loops wait while many exchanges are read")
        return self.state.withLock { state in numbers.clamped(to: state.numbers).map(state.exchange) }
    }

    /// The exchange with an id; nil if it is not kept.
    package func find(id: String) -> Kept? {
        let known = ExchangeID(id)
        var end = self.numbers.upperBound
        while true {
            let (number, start) = self.state.withLock { state in
                let start = max(state.numbers.lowerBound, end - min(end, UInt64(Self.mostCompared)))
                return ((start..<max(start, end)).last { state.isCalled(id, known, $0) }, start)
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
