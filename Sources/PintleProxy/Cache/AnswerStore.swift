// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleCache
internal import PintleMessage
package import PintlePolicy

/// The answers that are kept for the routes which use the cache, and the requests under way for them. One for all loops.
package final class AnswerStore: Sendable {
    /// What has become of requests and answers so far.
    package struct Counts: Sendable, Equatable {
        /// Requests that were answered with what is kept.
        package var hits: UInt64 = 0
        /// Requests that went to an origin.
        package var misses: UInt64 = 0
        /// Requests that were answered with the answer to another one.
        package var merged: UInt64 = 0
        /// Answers that were removed by commands, and because what they answer has changed.
        package var purged: UInt64 = 0
    }

    let rules = CacheRules()
    private let memory: NIOLockedValueBox<AnswerMemory>
    private let flights = NIOLockedValueBox<[CacheKey: Flight]>([:])
    /// Bytes that are set apart for bodies under way.
    private let reserved = NIOLockedValueBox(0)
    private let counted = NIOLockedValueBox(Counts())
    /// The longest body that is kept, in bytes: no single one takes the place of all others.
    private let longestBody: Int
    private let mostReserved: Int

    package init(_ configuration: CacheConfiguration) {
        self.memory = NIOLockedValueBox(
            AnswerMemory(capacity: configuration.memory, afterPurge: configuration.memoryAfterPurge))
        self.longestBody = configuration.memory / 8
        self.mostReserved = configuration.memory
    }

    package var counts: Counts { self.counted.withLockedValue { $0 } }

    /// The number of answers in memory, and the bytes that they take.
    package var usage: (answers: Int, bytes: Int) { self.memory.withLockedValue { ($0.count, $0.usage) } }

    func count(_ change: (inout Counts) -> Void) { self.counted.withLockedValue { change(&$0) } }

    // MARK: What is kept

    func find(_ key: CacheKey) -> [KeptAnswer] { self.memory.withLockedValue { $0.answers(for: key) } }

    /// Keeps an answer, in the place of one for the same requests.
    func keep(_ answer: KeptAnswer, at key: CacheKey) {
        self.memory.withLockedValue { $0.keep(answer, at: key, most: self.rules.variantLimit) }
    }

    /// Puts another answer in the place of one, unless that was removed meanwhile.
    func replace(_ old: KeptAnswer, by new: KeptAnswer, at key: CacheKey) {
        self.memory.withLockedValue { memory in
            guard memory.remove(old, at: key) else { return }
            memory.keep(new, at: key, most: self.rules.variantLimit)
        }
    }

    func remove(_ answer: KeptAnswer, at key: CacheKey) { self.memory.withLockedValue { _ = $0.remove(answer, at: key) } }

    // MARK: Removing

    /// Removes the answers of URLs, since a request has changed what is there (RFC 9111 §4.4).
    func invalidate(_ urls: [String]) {
        for url in urls { self.purge(url: url) }
    }

    /// Removes the answers of a URL.
    ///
    /// - Returns: how many there were.
    @discardableResult package func purge(url: String) -> Int { self.purge { $0 == url } tags: { _ in false } }

    /// Removes the answers of all URLs that begin so.
    package func purge(prefix: String) -> Int { self.purge { $0.hasPrefix(prefix) } tags: { _ in false } }

    /// Removes the answers that have a surrogate key.
    package func purge(tag: String) -> Int { self.purge { _ in false } tags: { $0.contains(tag) } }

    /// Removes all answers.
    package func purgeAll() -> Int { self.purge { _ in true } tags: { _ in true } }

    private func purge(_ isMeant: (_ url: String) -> Bool, tags hasTag: ([String]) -> Bool) -> Int {
        // An answer that is on its way may be from before, too; which tags it has nobody knows yet.
        let flying = self.flights.withLockedValue { Array($0.values) }
        for flight in flying where isMeant(flight.key.url) || hasTag(flight.tags) { flight.revoke() }
        let count = self.memory.withLockedValue { memory in
            memory.removeAll { key, answer in isMeant(key.url) || hasTag(answer.response.tags) }
        }
        self.count { $0.purged += UInt64(count) }
        return count
    }

    // MARK: What is under way

    /// The flight of a key that others may board, or a new one.
    func flight(for key: CacheKey, joining: Bool) -> (flight: Flight, isNew: Bool) {
        self.flights.withLockedValue { flights in
            if joining, let flight = flights[key], !flight.isRevoked { return (flight, false) }
            let flight = Flight(key)
            flights[key] = flight
            return (flight, true)
        }
    }

    func end(_ flight: Flight) {
        self.flights.withLockedValue { flights in
            if flights[flight.key] === flight { flights[flight.key] = nil }
        }
    }

    /// Sets memory apart for a body under way.
    ///
    /// - Parameter length: in bytes; nil where nobody knows.
    /// - Returns: the bytes that are set apart, at least one; zero where the body is too long, or there is no room.
    func reserve(_ length: UInt64?) -> Int {
        guard (length ?? 0) <= UInt64(self.longestBody) else { return 0 }
        let wanted = max(length.map(Int.init) ?? self.longestBody, 1)
        return self.reserved.withLockedValue { reserved in
            guard reserved + wanted <= self.mostReserved else { return 0 }
            reserved += wanted
            return wanted
        }
    }

    func release(_ count: Int) {
        if count > 0 { self.reserved.withLockedValue { $0 -= count } }
    }
}
