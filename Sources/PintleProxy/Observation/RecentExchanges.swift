// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintleSystem
package import PintleWatch

/// An exchange that is kept with its record.
package final class KeptRecord: Sendable {
    let observed: ObservedExchange

    package init(_ observed: ObservedExchange) { self.observed = observed }
}

/// The latest exchanges, for people who look at them afterwards. The oldest are forgotten first.
///
/// They are also counted from here, some at a time: the code that counts is then in the cache for all of them but the first. Readers of these
/// numbers call ``countAll()`` before.
package final class RecentExchanges: Sendable {
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

    /// An exchange in `memory`, or one of `records`.
    private struct Place {
        /// In bytes, from the beginning of `memory`.
        let start: UInt32
        /// The bytes in `memory`; 0 for one of `records`.
        let length: UInt32
        /// The bytes that are counted.
        let size: UInt32
    }

    private struct State: Sendable {
        var places: CircularBuffer<Place> = []
        let memory: ExchangeMemory
        var common = CommonFactsTable()
        /// The further parts of exchanges in `memory`, with their numbers.
        var extras: CircularBuffer<(number: UInt64, extras: EndedExtras)> = []
        /// By their numbers.
        var records: [UInt64: KeptRecord] = [:]
        var usage = Usage()
        /// The number of the last exchange that was counted.
        var counted: UInt64 = 0
        let metrics: ExchangeMetrics

        var numbers: Range<UInt64> {
            let first = self.usage.forgotten + 1
            return first..<first + UInt64(self.usage.exchanges)
        }

        mutating func add(_ place: Place) {
            self.places.append(place)
            self.usage.exchanges += 1
            self.usage.bytes += Int(place.size)
        }

        /// Goes past a number, if there is no memory for any exchange.
        mutating func skip() { (self.usage.forgotten, self.counted) = (self.usage.forgotten + 1, self.counted + 1) }

        /// Takes a place, if need be from the oldest.
        ///
        /// - Returns: nil if there is none even without them.
        mutating func reserve(_ length: Int) -> Int? {
            while true {
                if let place = self.memory.reserve(length) { return place }
                guard self.forgetOldest() else { return nil }
            }
        }

        /// Counts the exchanges that have come since the last time.
        mutating func countAll() {
            let last = self.numbers.upperBound - 1
            // All are counted.
            guard self.counted < last else { return }
            let first = self.counted + 1
            self.counted = last
            self.metrics.count { tally in
                for number in first...last {
                    let place = self.places[offset: Int(number - self.numbers.lowerBound)]
                    if place.length > 0 { self.memory.count(at: Int(place.start), in: &tally) }
                }
            }
        }

        /// Does nothing if there is none, and returns false.
        mutating func forgetOldest() -> Bool {
            let number = self.usage.forgotten + 1
            if number > self.counted { self.countAll() }
            guard let oldest = self.places.popFirst() else { return false }
            if oldest.length > 0 {
                self.memory.removeFirst(Int(oldest.length))
                if self.extras.first?.number == number { self.extras.removeFirst() }
            } else {
                self.records[number] = nil
            }
            self.usage.bytes -= Int(oldest.size)
            self.usage.exchanges -= 1
            self.usage.forgotten += 1
            return true
        }

        func exchange(_ number: UInt64) -> Kept {
            let place = self.places[offset: Int(number - self.numbers.lowerBound)]
            if place.length > 0 {
                return Kept(
                    number: number,
                    content: .ended(self.memory.exchange(at: Int(place.start), self.extras(of: number))))
            }
            guard let record = self.records[number] else { preconditionFailure("BUG: an exchange is nowhere") }
            return Kept(number: number, content: .record(record))
        }

        /// Searches by halves: numbers grow.
        private func extras(of number: UInt64) -> EndedExtras? {
            var range = 0..<self.extras.count
            while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
                let found = self.extras[offset: middle]
                if found.number == number { return found.extras }
                range = found.number < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return nil
        }

        func isCalled(_ id: String, _ known: ExchangeID?, _ number: UInt64) -> Bool {
            let place = self.places[offset: Int(number - self.numbers.lowerBound)]
            if place.length > 0 { return known.map { self.memory.id(at: Int(place.start)) == $0 } ?? false }
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
    /// The most exchanges that are kept and not yet counted.
    private static let mostUncounted: UInt64 = 64

    /// - Parameter metrics: counts all exchanges that are taken.
    package init(
        exchanges: Int = 50_000, bytes: Int = 80 << 20, metrics: ExchangeMetrics = ExchangeMetrics()
    ) {
        precondition(bytes <= UInt32.max, "BUG: places have 32 bits")
        (self.mostExchanges, self.mostBytes) = (exchanges, bytes)
        self.state = Locked(State(memory: ExchangeMemory(capacity: bytes), metrics: metrics))
    }

    /// Counts all exchanges that have ended.
    package func countAll() { self.state.withLock { $0.countAll() } }

    /// Keeps an exchange that has ended.
    func take(_ report: ExchangeReport, _ end: ExchangeEnd, _ extras: EndedExtras?, in active: ActiveConfiguration) {
        if let heads = report.heads { return self.keep(report, end, extras, heads, in: active) }
        // It was begun before a sink wanted fields.
        let heads = HeadBlock()
        report.request.copy(to: heads, hasFields: false)
        self.keep(report, end, extras, heads, in: active)
    }

    private func keep(
        _ report: ExchangeReport, _ end: ExchangeEnd, _ extras: EndedExtras?, _ heads: HeadBlock,
        in active: ActiveConfiguration
    ) {
        self.take(EndedFacts(report, end), extras, heads, hash: CommonFacts.hash(of: report)) {
            $0.hold(for: report, in: active)
        } common: {
            CommonFacts(report, in: active)
        }
    }

    /// - Parameters:
    ///   - hash: see ``CommonFacts/hash(of:)``.
    ///   - areSame: true for the facts that the exchange has in common with others.
    ///   - common: makes these facts.
    func take(
        _ facts: EndedFacts, _ extras: EndedExtras?, _ heads: HeadBlock, hash: UInt,
        areSame: (CommonFacts) -> Bool, common: () -> CommonFacts
    ) {
        let length = ExchangeMemory.size(of: heads.shape)
        let size = length + (extras?.size ?? 0)
        self.state.withLock { state in
            // It would push all others out, and have no room then.
            let fits = size + CommonFacts.size <= self.mostBytes
            if fits { self.makeRoom(for: size + CommonFacts.size, in: &state) }
            // Else the system has no memory for it.
            guard fits, let start = state.reserve(length) else {
                if fits { state.skip() }
                return state.metrics.count { common().count(facts, method: heads.method, in: &$0) }
            }
            let numbers = state.numbers
            let (common, areNew) = state.common.facts(
                of: numbers.upperBound, oldest: numbers.lowerBound, hash: hash, areSame: areSame, make: common)
            state.memory.fill(start, facts, common, heads)
            if let extras { state.extras.append((numbers.upperBound, extras)) }
            state.add(
                Place(
                    start: UInt32(start), length: UInt32(length),
                    size: UInt32(size + (areNew ? CommonFacts.size : 0))))
            if numbers.upperBound - state.counted >= Self.mostUncounted { state.countAll() }
        }
    }

    /// Keeps an exchange with its record.
    package func keep(_ record: KeptRecord) {
        let size = record.observed.size
        self.state.withLock { state in
            self.makeRoom(for: size, in: &state)
            state.records[state.numbers.upperBound] = record
            state.add(Place(start: 0, length: 0, size: UInt32(clamping: size)))
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
